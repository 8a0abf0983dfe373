import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { assignCode, readAssignedCodes, withdrawCode } from '../../src/codes/assign-code.ts';
import { type CodeCells, type CodeRow, parseCodes } from '../../src/codes/parse-codes.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { useDatabase } from '../intake/story.ts';

const database = useDatabase('a Postgres server');

/** A job of its own, whose codes people assign. */
function openJob() {
  const job = `job-${randomUUID()}`;
  return {
    job,
    assign: (cells: CodeCells) =>
      inTransaction(database(), (trx) => assignCode(trx, { job, cells, assignedBy: 'tester' })),
    withdraw: (code: string) => inTransaction(database(), (trx) => withdrawCode(trx, { job, code })),
    assigned: async (listed: readonly CodeRow[] = []) => {
      const rows = await readAssignedCodes(database(), { job, listed });
      return rows.map(({ code, target, from, to }) =>
        [code, target, from?.text, to?.text].filter((part) => part !== undefined).join(' '),
      );
    },
  };
}

test('an assigned code belongs to its owner until it is given to another one or withdrawn', async () => {
  const { assign, withdraw, assigned } = openJob();
  const theirs = openJob();
  expect(
    await assign({ code: ' Mia 10 ', deal_id: 'D1', valid_from: ' 2026-04-01 ', valid_to: ' ' }),
  ).toEqual({ kind: 'assigned', code: 'Mia 10' });
  await theirs.assign({ code: 'mia10', deal_id: 'D9' });
  await assign({ code: 'ANA', influencer_handle: '@Ana', brand_id: '17', valid_to: '2026-05-01' });
  expect(await assigned()).toEqual([
    'ANA handle:ana 2026-05-02 00:00:00',
    'Mia 10 deal:D1 2026-04-01 00:00:00',
  ]);
  await assign({ code: 'MIA10', collab_id: 'C2' });
  expect(await assigned()).toEqual(['ANA handle:ana 2026-05-02 00:00:00', 'MIA10 collab:C2']);
  expect([await withdraw('m ia10'), await withdraw('mia10')]).toEqual([true, false]);
  expect([await assigned(), await theirs.assigned()]).toEqual([
    ['ANA handle:ana 2026-05-02 00:00:00'],
    ['mia10 deal:D9'],
  ]);
});

test('codes.csv takes precedence over what is assigned', async () => {
  const { job, assign, assigned } = openJob();
  await assign({ code: 'MIA10', deal_id: 'D1' });
  await assign({ code: 'ANA', deal_id: 'D2' });
  expect(await assigned(parseCodes('code,deal_id\nmia 10,D3').rows)).toEqual(['ANA deal:D2']);
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, target)
    values (${job}, 7, 'ANA', 'ana', 'deal:D3'), (${job}, 5, 'ANA', 'ana', 'deal:D4'), (${job}, -1, 'EVA', 'eva', 'deal:D5')`.execute(
    database(),
  );
  expect(await assign({ code: 'Ana', deal_id: 'D6' })).toEqual({ kind: 'listed', line: 5 });
  expect(await assign({ code: 'EVA', deal_id: 'D6' })).toEqual({ kind: 'assigned', code: 'EVA' });
  expect(await assigned()).toEqual(['ANA deal:D2', 'EVA deal:D6', 'MIA10 deal:D1']);
});

test('a code that no file could contain is not assigned, and says why', async () => {
  const { assign, assigned } = openJob();
  expect(await assign({ code: 'MIA10' })).toEqual({
    kind: 'unusable',
    why: 'MIA10 has no owner. Fill in influencer_handle, deal_id or collab_id.',
  });
  expect(await assigned()).toEqual([]);
});
