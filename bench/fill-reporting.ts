import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../src/db/connect.ts';

/** The job of the orders. Deals are named DEAL1, DEAL2, …, codes CODE1, …. */
export const JOB = 'attribute-orders';

export type FillOptions = { readonly orders: number; readonly deals: number };

/** Number of days over which the orders are spread, up to today. */
const DAYS = 400;

/**
 * Fills a migrated database with the data of more than a year. Uses SQL in the database, so that it takes a
 * minute instead of an hour. Of ten orders, four are credited, four are organic, one has a code without an
 * owner, and one is excluded. Of a thousand attributed orders, a few are waiting, refused or in doubt.
 */
export async function fillReporting(db: Database, { orders, deals }: FillOptions): Promise<void> {
  await sql`set jit = off`.execute(db);
  await fillRuns(db);
  await fillMirror(db, deals);
  await fillOrders(db, orders);
  await fillLedger(db, deals);
  await fillDecisions(db, deals);
  await fillCustomers(db, Math.ceil(deals / 2));
  await sql`vacuum analyze`.execute(db);
}

/** Adds one run for each hour of these days. */
async function fillRuns(db: Database): Promise<void> {
  await sql`
    insert into ops.runs (job, kind, status, started_at, finished_at, host, pid, exit_code, counts, amounts)
    select ${JOB}, 'attribute-orders', case n % 50 when 0 then 'failed' else 'ok' end, at, at + interval '3 minutes', 'host', 1, 0,
      '{"files": 1, "rows": 120, "rejected_rows": 0, "orders": 120, "excluded": {"refunded": 12}, "unattributed": 12, "organic": 48,
        "entries": {"accepted": 40, "already": 8, "rejected": 0, "in_doubt": 0, "held": 0, "ready": 0}}', '[{"currency": "EUR", "accepted": "1200.0000"}]'
    from (select n, now() - n * interval '1 hour' as at from generate_series(${DAYS}::int * 24, 1, -1) n) runs`.execute(
    db,
  );
}

async function fillMirror(db: Database, deals: number): Promise<void> {
  const sources = [
    sql`insert into mirror.brand_versions (brand_id, name, raw, row_hash, valid_from, first_seen_at, seen_at, run_id)
      select n::text, 'Brand ' || n, '{}', n::text, now() - interval '400 days', now() - interval '400 days', now(), 1 from generate_series(1, 5) n`,
    sql`insert into mirror.dealflow_versions (dealflow_id, brand_id, name, raw, row_hash, valid_from, first_seen_at, seen_at, run_id)
      select 'D_' || n, (n % 5 + 1)::text, 'Flow ' || n, '{}', n::text, now() - interval '400 days', now() - interval '400 days', now(), 1
      from generate_series(1, 40) n`,
    sql`insert into mirror.known_deals (deal_id, first_way, ways, read_at)
      select 'DEAL' || n, 'autocomplete', '{autocomplete}', now() from generate_series(1, ${deals}::int) n`,
    // Ten versions of every tenth deal, one version of each other deal.
    sql`insert into mirror.deal_versions (deal_id, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
        total_referrals, total_sales, raw, row_hash, valid_from, valid_to, is_latest, first_seen_at, run_id)
      select 'DEAL' || n, 'handle' || n % (${deals}::int * 9 / 10), 'instagram', (n % 5 + 1)::text, 'D_' || n % 40 + 1, n % 3 > 0, v, n % 1000,
        v * 3, v * 100, '{"deal_info": {"note": "as long as a record of the service usually is, with some fields that have no column of their own"}}',
        n || '.' || v, now() - interval '20 days' * (11 - v), case when v < versions then now() - interval '20 days' * (10 - v) end,
        v = versions, now() - interval '200 days', 1
      from generate_series(1, ${deals}::int) n
      cross join lateral (select case when n % 10 = 0 then 10 else 1 end as versions) v1
      cross join lateral generate_series(1, versions) v`,
    sql`insert into mirror.publications (run_id, counts) select run_id, '{}' from ops.runs where run_id % 24 = 0`,
    sql`insert into mirror.coverage (run_id, way, known, also_known, fresh, stale, unread, failing, deleted)
      select run_id, way, 10, 0, 10, 0, 0, 0, 0 from mirror.publications
      cross join unnest(array['all', 'codes', 'event', 'referral', 'autocomplete', 'handle']) way`,
  ];
  for (const statement of sources) await statement.execute(db);
}

async function fillOrders(db: Database, orders: number): Promise<void> {
  // One export per day, all with the same number of orders.
  const perDay = Math.ceil(orders / DAYS);
  await sql`
    insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, rows_read, order_rows, orders_new, run_id,
      sealed_at, first_seen_at)
    select 'shop-' || n % 2, 's3://exports/' || n || '.csv', 'v', 1000, 'shopify-orders', 'h', 'sealed', ${perDay}::int, ${perDay}::int,
      ${perDay}::int, 1, now() - n * interval '1 day', now() - n * interval '1 day'
    from generate_series(${DAYS}::int - 1, 0, -1) n`.execute(db);
  await sql`
    insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, order_name, status, currency, total,
      subtotal, refunded, codes, codes_folded, placed_at, paid_at, exclusion, line_no, record_no, row_count)
    select f.source, (5600000000000 + n)::text, f.source_file_id, true, md5(n::text), '#' || n, '#' || n, 'paid',
      (array['EUR', 'EUR', 'EUR', 'USD', 'GBP'])[n % 5 + 1], 20 + n % 180, 18 + n % 180, case when n % 40 = 0 then 10 end,
      case when n % 10 < 5 then array['CODE' || n % 3000] else '{}' end, case when n % 10 < 5 then array['CODE' || n % 3000] else '{}' end,
      at, at + interval '1 minute', case when n % 10 = 9 then 'cancelled' end, n % 100000 + 2, n % 100000 + 1, 1
    from generate_series(1, ${orders}::int) n
    cross join lateral (select (n - 1) / ${perDay}::int + 1 as day) d
    join intake.source_files f on f.source_file_id = d.day
    cross join lateral (select now() - (${DAYS}::int - d.day) * interval '1 day' - (n % 1440) * interval '1 minute' as at) t`.execute(
    db,
  );
}

/**
 * SQL: the deal and outcome of each order, and the entry of attributed orders. Entries are numbered in the
 * order of the orders.
 */
function decided(deals: number): RawBuilder<unknown> {
  return sql`
    select o.order_version_id as n, o.source, o.order_id, o.codes, o.total, o.currency, o.placed_at,
      (hashint8(o.order_version_id)::bigint % ${deals}::int + ${deals}::int) % ${deals}::int + 1 as deal,
      case when o.order_version_id % 10 < 4 then o.order_version_id / 10 * 4 + o.order_version_id % 10 end as entry_id,
      case when o.order_version_id % 10 < 4 then 'attributed' when o.order_version_id % 10 = 4 then 'unattributed'
        when o.order_version_id % 10 = 9 then 'excluded' else 'organic' end as outcome
    from intake.orders o`;
}

async function fillDecisions(db: Database, deals: number): Promise<void> {
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, reason, matched_by, matched_value, target, brand_id,
      influencer_handle, deal_id, amount, currency, entry_id, is_pending, rules_hash)
    select ${JOB}, source, order_id, n, outcome, case outcome when 'unattributed' then 'unknown_code' when 'excluded' then 'cancelled' end,
      case when outcome = 'attributed' then 'code' end, codes[1], case when outcome = 'attributed' then 'deal:DEAL' || deal end,
      case when outcome = 'attributed' then (deal % 5 + 1)::text end, case when outcome = 'attributed' then 'handle' || deal end,
      case when outcome = 'attributed' then 'DEAL' || deal end, total, currency, entry_id, false, 'r'
    from (${decided(deals)}) o order by n`.execute(db);
  await sql`
    insert into intake.attributed_files (job, source_file_id, rules_hash)
    select ${JOB}, source_file_id, 'r' from intake.source_files`.execute(db);
}

/**
 * Adds an entry for each attributed order. Each was posted within the hour and answered, except those that
 * wait.
 */
async function fillLedger(db: Database, deals: number): Promise<void> {
  await sql`
    insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, doubtful_attempt, body, body_hash, job, source,
      order_platform, order_id, brand_id, amount, currency, state_reason, deal_id, run_id, created_at, state_changed_at)
    overriding system value
    select entry_id, 'referral', 'A', '["shopify","' || order_id || '"]', state, case state when 'ready' then 0 else 1 end,
      case state when 'in_doubt' then 1 end, '{"deal_id":"DEAL' || deal || '","order_id":"' || order_id || '"}', md5(order_id), ${JOB}, source,
      'shopify', order_id, (deal % 5 + 1)::text, total, currency, case when state in ('rejected', 'in_doubt') then 'HTTP 500' end,
      case state when 'accepted' then 'DEAL' || deal end, 1, least(placed_at + interval '1 hour', now()), least(placed_at + interval '1 hour', now())
    from (
      select o.*, case (n / 10) % 1000 when 0 then 'in_doubt' when 1 then 'rejected' when 2 then 'ready' else 'accepted' end as state
      from (${decided(deals)}) o where outcome = 'attributed'
    ) o order by entry_id`.execute(db);
  await sql`
    select setval(pg_get_serial_sequence('ledger.entries', 'entry_id'), max(entry_id)) from ledger.entries`.execute(
    db,
  );
  await sql`
    insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claimed_at)
    select entry_id, 1, gen_random_uuid(), md5(run_id::text)::uuid, 1, body_hash, state_changed_at
    from ledger.entries where attempt > 0 order by entry_id`.execute(db);
  await sql`
    insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied, answered_at)
    select entry_id, 1, state, case state when 'accepted' then 200 when 'rejected' then 400 else 500 end, state_reason, deal_id, 'direct', true,
      state_changed_at
    from ledger.entries where attempt > 0 order by entry_id`.execute(db);
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id, noted_at)
    select entry_id, 'refunded', amount, amount / 2, currency, 'h', 1, now() - entry_id % ${DAYS}::int * interval '1 day'
    from ledger.entries where state = 'accepted' and entry_id % 20 = 0`.execute(db);
}

async function fillCustomers(db: Database, customers: number): Promise<void> {
  await sql`
    insert into intake.identify_batches (batch_id, job, brand_id, state, customers, http_status, run_id, staged_at)
    select n, 'customers', '1', 'accepted', 500, 200, 1, now() from generate_series(0, ${customers}::int / 500) n`.execute(
    db,
  );
  await sql`
    insert into intake.customers (customer_hash, brand_id, source, batch_id, orders_count, spent, currency)
    select md5(n::text)::uuid, '1', 'customers', n / 500, n % 10, n % 1000, 'EUR' from generate_series(1, ${customers}::int) n`.execute(
    db,
  );
  await sql`
    insert into intake.lookups (customer_hash, brand_id, outcome, platform, username, followers, run_id)
    select md5(n::text)::uuid, '1', case when n % 4 = 0 then 'no_match' else 'influencer' end,
      case when n % 4 > 0 then 'instagram' end, case when n % 4 > 0 then 'handle' || n * 3 end, case when n % 4 > 0 then n * 10 end, 1
    from generate_series(1, ${customers}::int) n`.execute(db);
}
