import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { countReady, countSending, readyEntries, readyRanges } from '../../src/ledger/ready-entries.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, startWorker } from './entries.ts';

const RUNS = { job: 'attribute-orders', backfillId: null };

/**
 * Entries of the normal runs of a job: two that can be claimed now, one that backs off, one that is being sent, and one that is
 * settled; between them, one of another job, and one of a backfill.
 */
async function openBacklog() {
  const { db } = await setup();
  const worker = await startWorker(db);
  const entry = (orderId: string) => insertEntry(db, { runId: worker.runId, orderId });
  const change = (entryId: string, set: ReturnType<typeof sql>) =>
    sql`update ledger.entries set ${set} where entry_id = ${entryId}::bigint`.execute(db);
  const { rows } = await sql<{ id: string }>`
    insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
    values (${RUNS.job}, 'running', '2024-01-01', '2024-12-31', 'UTC', '', '{}', ${worker.runId}::bigint, 'ada', now())
    returning backfill_id as id`.execute(db);
  const backfill = { ...RUNS, backfillId: rows[0]?.id ?? '' };
  const first = await entry('first');
  await change(await entry('other'), sql`job = 'other'`);
  const resting = await entry('resting');
  const planned = await entry('planned');
  await change(planned, sql`backfill_id = ${backfill.backfillId}::bigint`);
  await mustClaim(worker, await entry('sending'));
  await change(
    await entry('settled'),
    sql`state = 'held', state_reason = 'no_longer_attributed', not_before = null`,
  );
  const second = await entry('second');
  await change(second, sql`not_before = clock_timestamp() - interval '1 second'`);
  await change(
    resting,
    sql`not_before = clock_timestamp() + interval '1 hour', state_reason = 'connection refused'`,
  );
  await change(second, sql`state_reason = 'another reason'`);
  return { db, backfill, first, second, resting, planned };
}

async function listed(db: Database, options: Parameters<typeof readyEntries>[1]): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const page of readyEntries(db, options)) ids.push(...page);
  return ids;
}

it('the entries that can be claimed now are those of the job or of its backfill that do not back off, the oldest first', async () => {
  const { db, backfill, first, second, planned } = await openBacklog();
  expect(await listed(db, { ...RUNS, limit: null })).toEqual([first, second]);
  expect(await listed(db, { ...RUNS, limit: 1 })).toEqual([first]);
  expect(await listed(db, { ...RUNS, limit: 0 })).toEqual([]);
  expect(await listed(db, { ...backfill, limit: null })).toEqual([planned]);
  const after = (from: string, to: string) => listed(db, { ...RUNS, limit: null, range: { from, to } });
  expect(await after(first, first)).toEqual([first]);
  expect(await after(second, second)).toEqual([second]);
  expect(await after(String(Number(first) + 1), String(Number(second) - 1))).toEqual([]);
});

it('they are listed page by page, each once, up to a limit in all', async () => {
  const { db, first, second } = await openBacklog();
  await sql`
    insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, run_id)
    select 'referral', account_id, 'many ' || n, 'ready', '{}', '', job, run_id
    from ledger.entries, generate_series(1, 4100) n where entry_id = ${first}::bigint`.execute(db);
  const pages = async (limit: number | null) => {
    const lengths: number[] = [];
    const ids = new Set<string>();
    for await (const page of readyEntries(db, { ...RUNS, limit })) {
      lengths.push(page.length);
      for (const id of page) ids.add(id);
    }
    expect(ids.size).toBe(lengths.reduce((sum, length) => sum + length, 0));
    expect([...ids].slice(0, 2)).toEqual([first, second]);
    return lengths;
  };
  expect([await pages(null), await pages(2_500), await pages(4_000)]).toEqual([
    ...[
      [2_000, 2_000, 102],
      [2_000, 500],
      [2_000, 2_000],
    ],
  ]);
});

it('they are divided into ranges of at most so many, and up to a limit in all', async () => {
  const { db, first, second } = await openBacklog();
  const ranges = (size: number, limit: number | null = null) => readyRanges(db, { ...RUNS, size, limit });
  expect(await ranges(1)).toEqual([
    { from: first, to: first, entries: 1 },
    { from: second, to: second, entries: 1 },
  ]);
  expect(await ranges(2)).toEqual([{ from: first, to: second, entries: 2 }]);
  expect(await ranges(2, 1)).toEqual([{ from: first, to: first, entries: 1 }]);
});

it('they are counted beside those that are being sent and the time until the next one that backs off', async () => {
  const { db, backfill, resting } = await openBacklog();
  expect([await countSending(db, RUNS), await countSending(db, backfill)]).toEqual([1, 0]);
  const { ready, resting: backingOff, why, nextInMs } = await countReady(db, RUNS);
  expect([ready, backingOff, why]).toEqual([2, 1, 'connection refused']);
  expect(nextInMs).toBeGreaterThan(3_500_000);
  expect(nextInMs).toBeLessThanOrEqual(3_600_000);
  expect(await countReady(db, backfill)).toEqual({ ready: 1, resting: 0, why: null, nextInMs: null });
  await sql`update ledger.entries set not_before = null where entry_id = ${resting}::bigint`.execute(db);
  expect(await countReady(db, RUNS)).toMatchObject({ ready: 3, resting: 0, nextInMs: null });
});
