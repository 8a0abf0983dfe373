import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { addUp, type OrdersReport, reportOrders } from '../../../jobs/attribute-orders/report.ts';
import type { Database } from '../../../src/db/connect.ts';
import { listDoubts } from '../../../src/reports/doubts/list-doubts.ts';
import { countRejected, listRejected } from '../../../src/reports/files/list-rejected.ts';
import { explainOrder, findOrders } from '../../../src/reports/lives/explain-order.ts';
import { listRuns } from '../../../src/reports/runs/list-runs.ts';
import { readAdjustments } from '../../../src/reports/runs/run-report.ts';
import { readStatus } from '../../../src/reports/status/status.ts';
import { refreshReporting } from '../../../src/rollups/refresh-reporting.ts';
import { FILE, JOB, SOURCE, seedRuns } from '../../reports/seed.ts';
import { setup, setupEmbedded } from '../../support/setup.ts';

const sources = [SOURCE];

/** Summarises the run as it does at its end. */
async function summarise(
  db: Database,
  runId: string,
  of: { job: string; sources: readonly string[] } = { job: JOB, sources },
): Promise<OrdersReport> {
  await refreshReporting(db, of);
  return reportOrders(db, { runId, ...of, codeProblems: [], areOwnersChecked: true, areReportsStale: false });
}

describe('the summary of a run', () => {
  test('counts every order once, so that the sums add up', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    const { counts, amounts, sumsAddUp } = await summarise(db, runId);
    expect(counts).toEqual({
      files: 1,
      rows: 13,
      orders: 14,
      excluded: { test: 1 },
      unattributed: 2,
      organic: 1,
      rejected_rows: 1,
      // Order 9002 was accepted before it was cancelled: the state in the ledger takes precedence.
      entries: { accepted: 2, rejected: 1, in_doubt: 2, held: 2, ready: 1, already: 2 },
      ready_by_backfill: 0,
      other_currency: 0,
    });
    expect(sumsAddUp).toBe(true);
    expect(addUp(counts)).toBe(true);
    expect(addUp({ ...counts, organic: 2 })).toBe(false);
    expect(amounts).toEqual([
      { currency: 'EUR', accepted: '1234.5000' },
      { currency: 'USD', accepted: '0.1000' },
    ]);
  });

  test('has sums that do not add up if an order is unaccounted for', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    await sql`delete from intake.attributions where order_id = '1009'`.execute(db);
    const { counts, details, sumsAddUp } = await summarise(db, runId);
    expect(counts.orders).toBe(14);
    expect(sumsAddUp).toBe(false);
    expect(details.dispositions).toContainEqual({
      disposition: 'unaccounted',
      reason: null,
      currency: 'EUR',
      orders: 1,
      // By the rule of the job, which has not decided about it.
      amount: null,
      withoutAmount: 1,
    });
  });

  test('counts an order that is being sent as ready while its process is alive', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    await sql`insert into ops.leases (name, owner, expires_at, host, pid)
      select 'worker:x', owner, now() + interval '1 minute', 'h', 1 from ledger.entries where state = 'sending'`.execute(
      db,
    );
    const { counts } = await summarise(db, runId);
    expect(counts.entries).toMatchObject({ ready: 2, in_doubt: 1 });
    expect(await listDoubts(db)).toHaveLength(1);
  });

  test('folds codes without an owner and ranks them by revenue in their currency', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    const { details } = await summarise(db, runId);
    expect(details.unownedCodes).toEqual([
      { code: 'SUMMER 5', currency: 'EUR', orders: 2, amount: '150.0000', withoutAmount: 0 },
      { code: 'XMAS', currency: 'EUR', orders: 1, amount: '70.0000', withoutAmount: 0 },
    ]);
    expect(details.unownedCodesTotal).toBe(2);
  });

  test('names the influencer to whom an order was sent, while only the answer has named the deal', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    await sql`update ledger.entries set deal_id = 'D1' where order_id = '1001'`.execute(db);
    const { details } = await summarise(db, runId);
    expect(details.credits.find(({ dealId }) => dealId === 'D1')).toMatchObject({
      influencer: 'mara.paints',
      amount: '1234.5000',
    });
  });

  test('lists rejected rows, held files and doubts with their places and reasons', async () => {
    const { db } = await setup();
    const { runId, doubtId, lostId } = await seedRuns(db);
    const { details } = await summarise(db, runId);
    expect(details.rejectedRows).toMatchObject([
      { uri: FILE, line: 14, record: 13, column: 'Total', value: '12,3x', code: 'bad_money' },
    ]);
    expect(details.heldFiles).toMatchObject([{ uri: 'file:///exports/other.csv', code: 'header_mismatch' }]);
    expect(details.doubts.map(({ entryId }) => entryId).sort()).toEqual([doubtId, lostId].sort());
  });

  test('counts nothing of jobs with other sources', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    const { counts } = await summarise(db, runId, { job: 'other', sources: ['other-shop'] });
    expect(counts).toMatchObject({ orders: 0, entries: { accepted: 0, in_doubt: 0 } });
  });
});

test('a doubt has its order, its start and its evidence', async () => {
  const { db } = await setup();
  const { doubtId } = await seedRuns(db);
  const [doubt] = await listDoubts(db, { entryId: doubtId });
  expect(doubt).toMatchObject({
    orderId: '1005',
    orderPlatform: 'shopify',
    amount: '33.0000',
    currency: 'EUR',
    influencerHandle: 'mara.paints',
    dealId: null,
    reason: 'the connection was cut before the answer',
    attempts: 1,
    since: '2026-04-02T01:05:00.000Z',
    evidence: [{ kind: 'webhook_order', dealId: 'D1', amount: '33.0000', currency: 'EUR' }],
  });
});

test('rejected rows can be filtered', async () => {
  const { db } = await setup();
  const { runId } = await seedRuns(db);
  expect(await countRejected(db)).toBe(1);
  for (const filter of [{ runId }, { sources }, { file: '2026-04' }, { code: 'bad_money' }])
    expect(await listRejected(db, filter)).toHaveLength(1);
  for (const filter of [
    { runId: '1' },
    { sources: ['x'] },
    { file: '2026-03' },
    { code: 'x' },
    { limit: 0 },
  ]) {
    expect(await listRejected(db, filter)).toHaveLength(0);
  }
});

test('a run whose process is gone is reported as lost, not as running', async () => {
  const { db } = await setup();
  const { runId } = await seedRuns(db);
  expect((await listRuns(db)).map(({ status }) => status)).toEqual(['lost', 'ok']);
  await sql`insert into ops.leases (name, owner, expires_at, acquired_at, host, pid)
    values (${`job:${JOB}`}, gen_random_uuid(), now() + interval '1 minute', '2026-04-02T00:59:59Z', 'h', 1)`.execute(
    db,
  );
  expect(await listRuns(db, { perJob: true })).toMatchObject([{ runId, status: 'running' }]);
});

test('the status shows the ledger by job and state, and the processes at work', async () => {
  const { db } = await setup();
  await seedRuns(db);
  const status = await readStatus(db);
  expect(status.account).toBe('ACC-1');
  expect(status.backlog).toContainEqual(
    expect.objectContaining({ state: 'in_doubt', currency: 'EUR', entries: 2, amount: '55.0000' }),
  );
  expect(status.backlog.some(({ state }) => state === 'sending')).toBe(false);
  expect(status.heldFiles).toHaveLength(1);
  expect(status.leases).toEqual([]);
});

describe('the history of an order', () => {
  test('is found by ID and by name, from the line of the file to the answer', async () => {
    const { db } = await setup();
    await seedRuns(db);
    for (const order of ['1001', '#1001', 'gid://shopify/Order/1001']) {
      const [life] = await explainOrder(db, { order });
      expect(life?.versions).toMatchObject([
        { uri: FILE, line: '2', total: '1234.5000', isCurrent: true, codes: ['MARA15'] },
      ]);
      expect(life?.attributions).toMatchObject([
        { outcome: 'attributed', matchedBy: 'code', matchedValue: 'MARA15' },
      ]);
      expect(life?.entries).toMatchObject([
        { state: 'accepted', events: [{ kind: 'claimed' }, { kind: 'answered', detail: 'Order added.' }] },
      ]);
    }
  });

  test('shows the amounts of an adjustment with the decimals of their currency, and further ones that are not zero', async () => {
    const { db } = await setup();
    const { runId } = await seedRuns(db);
    const { entry_id: entryId } = await db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('order_id', '=', '1001')
      .executeTakeFirstOrThrow();
    const textOf = async (before: number, after: number | null, currency: string, hash = 'b') => {
      await sql`
        insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash, run_id)
        values (${entryId}::bigint, 'changed', ${before}, ${after}, ${currency}, 'a', ${hash}, ${runId}::bigint)`.execute(
        db,
      );
      const [life] = await explainOrder(db, { order: '1001' });
      return life?.entries[0]?.events.at(-1)?.text;
    };
    expect(await textOf(10, 12.345, 'EUR')).toBe(`changed in run ${runId}: 10.00 to 12.345 EUR`);
    expect(await textOf(1200, null, 'JPY')).toBe(`changed in run ${runId}: 1,200 JPY`);
    expect(await textOf(1200, 1100, 'JPY')).toBe(`changed in run ${runId}: 1,200 to 1,100 JPY`);
    expect(await textOf(10, 10, 'EUR', 'a')).toBe(`again as posted in run ${runId}: 10.00 EUR`);
    expect((await readAdjustments(db, runId)).map(({ kind, entries }) => `${kind} ${entries}`)).toEqual([
      'again as posted 1',
      'changed 1',
      'changed 1',
    ]);
  });

  test('is empty for an unknown order', async () => {
    const { db } = await setup();
    await seedRuns(db);
    expect(await explainOrder(db, { order: 'nope' })).toEqual([]);
    expect(await explainOrder(db, { order: '1001', source: 'other' })).toEqual([]);
    // Ids that join it with another column are found instead.
    await sql`update intake.orders set order_id = 'Utrecht:7301' where order_id = '1001'`.execute(db);
    const found = await findOrders(db, { order: '7301' });
    expect(found.map(({ orderId }) => orderId)).toEqual(['Utrecht:7301']);
    expect(await findOrders(db, { order: '730' })).toEqual([]);
    expect(await findOrders(db, { order: '7301', isWhole: true })).toEqual([]);
  });
});

test('every report works with the embedded database, too', async () => {
  const db = await setupEmbedded();
  const { runId } = await seedRuns(db);
  const { counts, sumsAddUp } = await summarise(db, runId);
  expect(sumsAddUp).toBe(true);
  expect(counts.orders).toBe(14);
  expect(await explainOrder(db, { order: '1005' })).toHaveLength(1);
  expect((await readStatus(db)).doubts).toHaveLength(2);
  expect(await listRejected(db, { sources })).toHaveLength(1);
});
