import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  HELD_REASONS,
  heldReason,
  OTHER_WORDS,
  sayStateReason,
  sayWord,
  unknownWord,
  wordOf,
} from '../../src/core/held/held-order.ts';

const MEANING = readFileSync(new URL('../../docs/meaning.md', import.meta.url), 'utf8');

it('docs/meaning.md names every reason for which an order is held', () => {
  expect(Object.keys(HELD_REASONS).filter((reason) => !MEANING.includes(`\`${reason}\``))).toEqual([]);
});

it('each reason is said in whole sentences', () => {
  for (const { what, fix } of Object.values(HELD_REASONS)) {
    expect(what).toMatch(/^[A-Z].*[^.]$/);
    expect(fix).toMatch(/^[A-Z].*\.$/);
  }
});

it('a reason that a layout or another version gave is explained too', () => {
  expect(heldReason('unknown_test').what).toContain('excludes the order: test');
  expect(heldReason('of_tomorrow')).toMatchObject({
    what: 'Held: of_tomorrow',
    confirms: 'nothing excludes them',
  });
});

it('the column and its word stay apart, whatever either contains', () => {
  const word = wordOf(unknownWord('test', 'mode (1=live)', 'a=b:c')) ?? '';
  expect(sayWord(word)).toBe('The column "mode (1=live)" says "a=b:c"');
  expect(heldReason('unknown_test', word).fix).toContain('add "a=b:c" to `unless`');
  expect(wordOf(unknownWord('test', 'mode', 'to_ann@example.com'))).toBe('mode=t***@***');
  expect(heldReason('unknown_test', OTHER_WORDS).fix).toContain('leave it out of the rule');
});

it('every reason for which the gate holds an order has words', () => {
  const gate = readFileSync('jobs/attribute-orders/decide/gate.ts', 'utf8');
  const reasons = [...gate.matchAll(/held: constant\('(\w+)'\)/g)].map(([, reason = '']) => reason);
  expect(reasons).toContain('unknown_status');
  // An order with a time of cancellation is excluded, never held.
  expect(reasons.filter((reason) => !Object.hasOwn(HELD_REASONS, reason))).toEqual(['cancelled']);
});

it('every reason for which the ledger holds an entry has words', () => {
  const sources = globSync('src/ledger/{,evidence/}*.ts').map((file) => readFileSync(file, 'utf8'));
  // What holds an entry, up to the end of its clause: a reason, or a case with several.
  const written = sources.flatMap((source) => [
    ...source.matchAll(
      /(?:set state = 'held'|state: 'held'|state_reason = case)[^;`]*?(?:\bend\b|\n\s*from|\}|$)/g,
    ),
  ]);
  const reasons = new Set(
    written.flatMap(([clause]) => [...clause.matchAll(/'([a-z]+_[a-z_]+)'/g)].map(([, reason]) => reason)),
  );
  expect([...reasons].sort()).toEqual([
    'backfill_cancelled',
    'changed_since_the_plan',
    'credited_elsewhere',
    'evidence_of_another_poster',
    'no_longer_attributed',
  ]);
  for (const reason of reasons) expect(sayStateReason(reason ?? '')).toMatch(/^\w+ \w+ /);
});

it('a reason in the words of the service stays as it is, whatever the words are', () => {
  for (const reason of ['Deal not found', 'constructor', '__proto__', null])
    expect(sayStateReason(reason)).toBe(reason);
  expect(heldReason('constructor').what).toBe('Held: constructor');
});
