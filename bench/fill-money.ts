import { sql } from 'kysely';
import type { Database } from '../src/db/connect.ts';
import { keepEarnings } from '../src/money/kept-earnings.ts';
import { updateReturns } from '../src/money/update-returns.ts';
import { keepReconciliation } from '../src/reports/money/reconcile-deals.ts';
import { JOB } from './fill-reporting.ts';

/** Month of a closed statement with a line for each credited order. */
export const CLOSED_MONTH = '2025-01';

/** The rules by which returns are computed. */
const RULES = {
  terms: [],
  returnWindowDays: 30,
  timeZone: 'UTC',
  customersSince: {},
  marginPercent: '40',
  exchange: null,
} as const;

/**
 * Fills what the views and pages about money show, in addition to the data of `fillReporting` and after a
 * refresh: a closed statement, customers of one order in ten, 20,000 orders in conflict for each million, and the sums
 * that runs maintain.
 */
export async function fillMoney(db: Database): Promise<void> {
  await fillStatement(db);
  await fillCustomerKeys(db);
  await fillClaims(db);
  await sql`vacuum analyze`.execute(db);
  await keepEarnings(db, { rules: RULES });
  await updateReturns(db, { rules: RULES });
  await keepReconciliation(db, { accountCurrency: 'EUR', runId: '1' });
}

async function fillStatement(db: Database): Promise<void> {
  await sql`
    insert into ops.statement_lines (statement_id, line_no, kind, subject, entry_id, source, order_platform, order_id, ordered_on, due_on, deal_id,
      currency, sent_amount, net_amount, rate_percent, rate_from, earned_amount, closed_before, amount)
    select 1, row_number() over (order by deal_id, entry_id), 'order', 'order:' || entry_id, entry_id, source, order_platform, order_id,
      ${`${CLOSED_MONTH}-01`}::date, ${`${CLOSED_MONTH}-20`}::date, deal_id, currency, amount, amount, 10, 'deal', amount / 10, 0, amount / 10
    from ledger.entries where state = 'accepted' and amount > 0`.execute(db);
  await sql`
    insert into ops.statements (statement_id, month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
    overriding system value
    select 1, ${`${CLOSED_MONTH}-01`}::date, 'UTC', 30, count(*), 'bench', 'paid', '', 'h' from ops.statement_lines`.execute(
    db,
  );
}

/** Each customer orders about three times. Every 75th of them is one of the influencers that were looked up. */
async function fillCustomerKeys(db: Database): Promise<void> {
  await sql`
    update intake.orders set customer_key = md5((order_version_id % 30011)::text)::uuid where order_version_id % 10 = 1`.execute(
    db,
  );
}

/** Adds a link and a code of different deals to one attributed order in twenty. */
async function fillClaims(db: Database): Promise<void> {
  await sql`
    insert into intake.order_claims (job, source, order_id, place, kind, written, target, deal_id)
    select t.job, t.source, t.order_id, place, case place when 1 then 'link' else 'code' end, 'CLAIM' || place, 'deal:DEAL' || deal, 'DEAL' || deal
    from intake.attributions t
    cross join generate_series(1, 2) place
    cross join lateral (select (t.order_version_id * place * 7919) % 50000 + 1 as deal) d
    where t.job = ${JOB} and t.outcome = 'attributed' and t.order_version_id % 50 = 1
    on conflict do nothing`.execute(db);
}
