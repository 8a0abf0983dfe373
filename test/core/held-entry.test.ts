import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sayStateReason } from '../../src/core/held/held-entry.ts';

it('every reason for which the ledger holds an entry has words', () => {
  const lines = globSync('src/ledger/*.ts').flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  const written = lines.filter((line) => /set state = 'held'|^\s*state_reason = case/.test(line));
  const reasons = new Set(
    written.flatMap((line) => [...line.matchAll(/'([a-z]+_[a-z_]+)'/g)].map(([, reason]) => reason ?? '')),
  );
  expect([...reasons].sort()).toEqual([
    'backfill_cancelled',
    'changed_since_the_plan',
    'credited_elsewhere',
    'evidence_of_another_poster',
    'no_longer_attributed',
  ]);
  for (const reason of reasons) expect(sayStateReason(reason)).toMatch(/^\w+ \w+ /);
});

it('a reason in the words of the service stays as it is', () => {
  expect([sayStateReason('Deal not found'), sayStateReason(null)]).toEqual(['Deal not found', null]);
});
