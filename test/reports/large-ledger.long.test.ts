import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { expect, it } from 'vitest';
import { fillReporting, JOB } from '../../bench/fill-reporting.ts';
import { listBackfills } from '../../jobs/attribute-orders/backfill/backfills.ts';
import { readBackfillProgress } from '../../jobs/attribute-orders/backfill/report.ts';
import { loadConfig } from '../../jobs/index.ts';
import type { RunAmount } from '../../src/core/report.ts';
import type { Database } from '../../src/db/connect.ts';
import { renderBlocks } from '../../src/render/render-blocks.ts';
import { listDoubts, sumDoubts } from '../../src/reports/doubts/list-doubts.ts';
import { listDisputedOrders } from '../../src/reports/money/reconcile-deals.ts';
import { readChangeVersion } from '../../src/reports/status/read-overview.ts';
import { describeStatus, readStatus } from '../../src/reports/status/status.ts';
import { type Backlog, readOpenBacklog } from '../../src/rollups/backlog.ts';
import { refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { plainTerminal } from '../support/plain-terminal.ts';
import { rowsRead } from '../support/rows-read.ts';
import { setup } from '../support/setup.ts';

/** Of 20,000 orders, 8,000 were posted, and 24 of those are refused, in doubt, or waiting. */
const POSTED = 8_000;
const NOT_ACCEPTED = 24;

it('reports on a large ledger read only open and requested entries, not all accepted ones', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 20_000, deals: 100 });
  await sql`insert into ops.account (account_id) values ('A')`.execute(db);
  await planAll(db);
  await writeOneOff(db);
  await refreshReporting(db, { job: JOB });
  await sql`vacuum analyze`.execute(db);

  const [backfill] = await listBackfills(db, {});
  if (backfill === undefined) throw new Error('the backfill is missing');
  const progress = await rowsRead(db, (trx) => readBackfillProgress(trx, backfill));
  const amounts = await sumAccepted(db);
  expect(progress.result).toMatchObject({ planned: POSTED, toPost: 8, rejected: 8, inDoubt: 8, held: 1 });
  expect(progress.result).toMatchObject({ accepted: POSTED - NOT_ACCEPTED - 1, amounts });
  expect(progress.of('ledger.entries')).toBeLessThanOrEqual(2 * (NOT_ACCEPTED + 1));
  expect(progress.of('ops.backfill_orders')).toBeLessThanOrEqual(NOT_ACCEPTED + 1);

  const status = await rowsRead(db, readStatus);
  expect(status.result.backlog.map(toSum)).toEqual(await sumAll(db));
  expect(status.of('ledger.entries')).toBeLessThanOrEqual(3 * (NOT_ACCEPTED + 1));

  await tellOfEarlierOrder(db);
  const orders = await countAccepted(db, 'DEAL10');
  expect(orders).toBeGreaterThan(10);
  const disputed = await rowsRead(db, (trx) =>
    listDisputedOrders(trx, { dealId: 'DEAL10', fewerIn: ['DEAL10'] }),
  );
  expect(disputed.result.filter(({ kind }) => kind === 'no_event')).toHaveLength(orders);
  expect(disputed.of('ledger.entries')).toBeLessThanOrEqual(2 * orders);
  // An event that names no collaboration may be about each one of the deal.
  const told = await rowsRead(db, (trx) =>
    sql`insert into ops.webhook_events (kind, deal_id, body, body_sha256) values ('update_commission', 'DEAL10', '{}', 'h')`.execute(
      trx,
    ),
  );
  expect(told.of('ledger.entries')).toBeLessThanOrEqual(orders);
});

it('status counts each accepted entry once, whenever it was written or accepted', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 2_000, deals: 10 });
  const isRight = async () => expect((await readStatus(db)).backlog.map(toSum)).toEqual(await sumAll(db));
  await isRight();
  // An entry that is written, but not committed, while entries with a higher id are counted.
  await db.transaction().execute(async (trx) => {
    await addEntry(trx, 'late');
    await addEntry(db, 'early');
    await refreshReporting(db, { job: JOB });
  });
  await isRight();
  await refreshReporting(db, { job: JOB });
  await isRight();
  await accept(db, sql`state in ('in_doubt', 'rejected')`);
  await isRight();
  await refreshReporting(db, { job: JOB });
  await isRight();
  await addEntry(db, 'last');
  await accept(db, sql`state = 'ready'`);
  await isRight();
});

it('status counts claims of a process that is gone as doubts, and those of a live one as being sent', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 2_000, deals: 10 });
  await accept(db, sql`state in ('in_doubt', 'rejected', 'ready')`);
  for (const owner of ['alive', 'also alive', 'gone']) {
    const { rows } = await sql<{ owner: string }>`select md5(${owner})::uuid as owner`.execute(db);
    await sql`
      update ledger.entries set state = 'sending', owner = ${rows[0]?.owner}, attempt = 1, deal_id = null
      where entry_id in (select entry_id from ledger.entries where state = 'accepted' order by entry_id limit 3)`.execute(
      db,
    );
    if (owner !== 'gone')
      await sql`
        insert into ops.leases (name, owner, host, pid, acquired_at, expires_at)
        values (${owner}, ${rows[0]?.owner}, 'host', 1, now(), now() + interval '1 hour')`.execute(db);
  }
  const { backlog } = await readStatus(db);
  const count = (wanted: string) =>
    backlog.filter(({ state }) => state === wanted).reduce((sum, { entries }) => sum + entries, 0);
  expect({ sending: count('sending'), inDoubt: count('in_doubt') }).toEqual({ sending: 6, inDoubt: 3 });
});

it('lists and counts of open entries read a page and a limit, however many entries are in doubt or wait', async () => {
  const { db, folder } = await setup();
  await fillReporting(db, { orders: 20_000, deals: 100 });
  await sql`insert into ops.account (account_id) values ('A')`.execute(db);
  await planAll(db);
  await sql`
    update ledger.entries set state = 'ready', deal_id = null, backfill_id = (select backfill_id from ops.backfills)
    where state = 'accepted' and entry_id > ${POSTED / 2}`.execute(db);
  await sql`vacuum analyze`.execute(db);
  const [backfill] = await listBackfills(db, {});
  if (backfill === undefined) throw new Error('the backfill is missing');
  const progress = await rowsRead(db, (trx) => readBackfillProgress(trx, backfill));
  expect(progress.result.toPost).toBeGreaterThan(2_900);
  // Those that are refused or in doubt are looked up in the plan; those to be posted are not fetched.
  expect(progress.of('ledger.entries')).toBeLessThanOrEqual(NOT_ACCEPTED);
  expect(progress.result.amounts).not.toEqual([]);
  const counted = await rowsRead(db, (trx) => readBackfillProgress(trx, backfill, { sumUpTo: 2_900 }));
  expect(counted.result).toEqual({ ...progress.result, amounts: null });
  expect(counted.of('ledger.entries')).toBeLessThanOrEqual(NOT_ACCEPTED);
  const { toPost } = progress.result;
  expect(await readBackfillProgress(db, backfill, { sumUpTo: toPost })).toEqual(progress.result);

  await sql`
    update ledger.entries set state = 'in_doubt', deal_id = null, doubtful_attempt = 1, state_reason = 'timeout',
      doubted_at = state_changed_at - entry_id % 7 * interval '1 hour'
    where state = 'accepted'`.execute(db);
  await sql`vacuum analyze`.execute(db);

  const page = 50;
  const all = await listDoubts(db);
  expect(all.length).toBeGreaterThan(1_900);
  const { rows: dated } = await sql<{ entry_id: string }>`
    select entry_id from bi.doubts order by doubted_at::timestamptz(3), entry_id`.execute(db);
  expect(all.map(({ entryId }) => entryId)).toEqual(dated.map((row) => row.entry_id));
  const [, , last] = all;
  const second = await rowsRead(db, (trx) => listDoubts(trx, { limit: page, after: last ?? null }));
  expect(second.result.map(({ entryId }) => entryId)).toEqual(
    all.slice(3, 3 + page).map(({ entryId }) => entryId),
  );
  expect(second.of('ledger.entries')).toBeLessThanOrEqual(2 * page);

  const limit = 100;
  const sums = await rowsRead(db, (trx) => sumDoubts(trx, {}, { limit }));
  expect(sums.result.reduce((sum, { doubts }) => sum + doubts, 0)).toBe(limit);
  expect(sums.of('ledger.entries')).toBeLessThanOrEqual(limit);

  const needs = await rowsRead(db, (trx) => readOpenBacklog(trx, { limit }));
  const open = needs.result.map(({ state, isPart }) => `${state} ${isPart ? 'and more' : 'in all'}`);
  expect(new Set(open)).toEqual(new Set(['in_doubt and more', 'ready and more', 'ready in all']));
  expect(needs.of('ledger.entries')).toBe(0);
  const backlog = await readOpenBacklog(db, { limit: POSTED });
  const { backlog: exact } = await readStatus(db);
  expect(backlog.some(({ isPart }) => isPart)).toBe(false);
  expect(backlog).toMatchObject(exact.filter(({ state }) => state === 'in_doubt' || state === 'ready'));

  const limited = await rowsRead(db, (trx) => readStatus(trx, { limit }));
  const parts = limited.result.backlog.filter(({ isPart }) => isPart);
  expect(parts.reduce((sum, { entries }) => sum + entries, 0)).toBe(2 * limit);
  // Settled entries are counted however many there are.
  expect(limited.result.backlog.filter(({ state }) => state === 'rejected')).toMatchObject(
    exact.filter(({ state }) => state === 'rejected'),
  );
  const path = join(folder, 'pipeline.yaml');
  writeFileSync(path, 'sources: {}\njobs: {}\n');
  const input = { status: limited.result, config: loadConfig(path, {}), did: () => '' };
  const shown = renderBlocks(describeStatus(input), plainTerminal(120));
  expect(shown).toMatch(/in doubt +\d+\+ +more than [\d.,]+ EUR/);
  expect(shown).toContain('+ there are more. Count all: npx influencer-sync status --exact');
  expect(shown).toMatch(/^In doubt \(100\+\)$/m);
});

it('the claims of the last minute are found without reading those before', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 200, deals: 10 });
  const { rows } = await sql<{ run_id: string }>`
    insert into ops.runs (job, kind, status, host, pid) values (${JOB}, 'attribute-orders', 'running', 'host', 1) returning run_id`.execute(
    db,
  );
  const claim = (count: number, at: RawBuilder<unknown>) =>
    sql`
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claimed_at)
      select 1000000 + n, ${count}::int, gen_random_uuid(), gen_random_uuid(), ${rows[0]?.run_id}::bigint, 'h', ${at} from generate_series(1, ${count}::int) n`.execute(
      db,
    );
  await claim(200_000, sql`now() - interval '1 hour'`);
  await sql`select brin_summarize_new_values('ledger.attempts_recent')`.execute(db);
  await sql`vacuum analyze ledger.attempts`.execute(db);
  const before = await rowsRead(db, readChangeVersion);
  expect(before.of('ledger.attempts')).toBeLessThan(10_000);
  await claim(1, sql`now()`);
  const after = await rowsRead(db, readChangeVersion);
  expect(after.result).not.toBe(before.result);
  expect(after.of('ledger.attempts')).toBeLessThan(10_000);
});

type StateSum = readonly [
  job: string,
  state: string,
  currency: string | null,
  entries: number,
  amount: string | null,
  oldest: string,
];

function toSum({ job, state, currency, entries, amount, oldest }: Backlog): StateSum {
  return [job, state, currency, entries, amount, oldest.toISOString()];
}

/** All entries, read one by one. */
async function sumAll(db: Database): Promise<readonly StateSum[]> {
  const { rows } = await sql<Omit<Backlog, 'entries'> & { entries: string }>`
    select job, state, currency, count(*) as entries, sum(amount) as amount, min(state_changed_at) as oldest from ledger.entries
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows.map((row) => toSum({ ...row, entries: Number(row.entries) }));
}

async function addEntry(db: Database, key: string): Promise<void> {
  await sql`
    insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, amount, currency, deal_id, run_id)
    values ('referral', 'A', ${key}, 'accepted', 1, '{}', 'h', ${JOB}, 10, 'EUR', 'D1', 1)`.execute(db);
}

async function accept(db: Database, matches: RawBuilder<unknown>): Promise<void> {
  await sql`update ledger.entries set state = 'accepted', deal_id = 'D1' where ${matches}`.execute(db);
}

/** Adds a backfill that posted all of them. */
async function planAll(db: Database): Promise<void> {
  await sql`
    with backfill as (
      insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
      select ${JOB}, 'done', '2020-01-01', '2024-12-31', 'UTC', 'h', jsonb_build_object('files', '[]'::jsonb,
        'groups', (select jsonb_agg(jsonb_build_object('month', '2020-01', 'standing', 'to_post', 'currency', currency, 'orders', orders,
          'amount', amount::text)) from (select currency, count(*) as orders, sum(amount) as amount from ledger.entries group by 1) g)),
        1, 'x', now()
      returning backfill_id
    )
    insert into ops.backfill_orders (backfill_id, key, source, order_id, body_hash, amount, currency)
    select b.backfill_id, e.key, e.source, e.order_id, e.body_hash, e.amount, e.currency from backfill b, ledger.entries e`.execute(
    db,
  );
}

async function writeOneOff(db: Database): Promise<void> {
  await sql`
    update ledger.entries set state = 'written_off', deal_id = null
    where entry_id = (select min(entry_id) from ledger.entries where state = 'accepted')`.execute(db);
}

async function sumAccepted(db: Database): Promise<readonly RunAmount[]> {
  const { rows } = await sql<RunAmount>`
    select currency, sum(amount)::text as accepted from ledger.entries where state = 'accepted' group by 1 order by 1`.execute(
    db,
  );
  return rows;
}

/** Events about the deal have been received for as long as it has had orders. */
async function tellOfEarlierOrder(db: Database): Promise<void> {
  await sql`
    insert into ledger.evidence (kind, order_id, order_platform, deal_id, received_at, body_sha256)
    values ('webhook_order', 'elsewhere', 'shopify', 'DEAL10', now() - interval '600 days', 'h')`.execute(db);
}

async function countAccepted(db: Database, dealId: string): Promise<number> {
  const { rows } = await sql<{ orders: number }>`
    select count(*)::integer as orders from ledger.entries where state = 'accepted' and deal_id = ${dealId}`.execute(
    db,
  );
  return rows[0]?.orders ?? 0;
}
