import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { fillReporting, JOB } from '../../bench/fill-reporting.ts';
import { readBackfillProgress } from '../../jobs/attribute-orders/backfill/report.ts';
import { listBackfills } from '../../src/attribute/backfill/backfills.ts';
import type { Database } from '../../src/db/connect.ts';
import type { RunAmount } from '../../src/model/report.ts';
import { listDisputedOrders } from '../../src/report/money/list-disputed-orders.ts';
import { refreshReporting } from '../../src/report/refresh-reporting.ts';
import { rowsRead } from '../support/rows-read.ts';
import { setup } from '../support/setup.ts';

/** Of 20,000 orders, 8,000 were posted, and 24 of those are refused, in doubt, or waiting. */
const POSTED = 8_000;
const NOT_ACCEPTED = 24;

it('reports on a large ledger read only open and requested entries, not all accepted ones', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 20_000, deals: 100 });
  await sql`insert into ops.account (account_id) values ('A')`.execute(db);
  await refreshReporting(db, { job: JOB });
  await planAll(db);
  await writeOneOff(db);
  await sql`vacuum analyze`.execute(db);

  const [backfill] = await listBackfills(db, {});
  if (backfill === undefined) throw new Error('the backfill is missing');
  const progress = await rowsRead(db, (trx) => readBackfillProgress(trx, backfill));
  const amounts = await sumAccepted(db);
  expect(progress.result).toMatchObject({ planned: POSTED, toPost: 8, rejected: 8, inDoubt: 8, held: 1 });
  expect(progress.result).toMatchObject({ accepted: POSTED - NOT_ACCEPTED - 1, amounts });
  expect(progress.of('ledger.entries')).toBeLessThanOrEqual(2 * (NOT_ACCEPTED + 1));
  expect(progress.of('ops.backfill_orders')).toBeLessThanOrEqual(NOT_ACCEPTED + 1);

  await tellOfEarlierOrder(db);
  const orders = await countAccepted(db, 'DEAL10');
  expect(orders).toBeGreaterThan(10);
  const disputed = await rowsRead(db, (trx) =>
    listDisputedOrders(trx, { dealId: 'DEAL10', fewerIn: ['DEAL10'] }),
  );
  expect(disputed.result.filter(({ kind }) => kind === 'no_event')).toHaveLength(orders);
  expect(disputed.of('ledger.entries')).toBeLessThanOrEqual(2 * orders);
});

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
