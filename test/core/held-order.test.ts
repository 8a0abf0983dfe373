import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HELD_REASONS, heldReason } from '../../src/core/held/held-order.ts';

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
