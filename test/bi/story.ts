import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { keepEarnings } from '../../src/money/kept-earnings.ts';
import type { ReturnRules } from '../../src/money/update-returns.ts';
import { updateReturns } from '../../src/money/update-returns.ts';
import { keepReconciliation } from '../../src/reports/money/reconcile-deals.ts';
import { refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { JOB, seedRuns } from '../reports/seed.ts';
import { rulesOf, termsOf } from '../support/terms.ts';

/** The day of the orders, in the format of the views. */
export type StoryDays = { readonly ordered: string };

/**
 * Seeds the job of `test/reports/seed.ts` with its orders two days ago at noon; an account with one brand, one
 * dealflow and three deals, of which D1 was read twice; three customers, two of them influencers; and an
 * order that was refunded and then cancelled after it was accepted.
 */
export async function tellStory(db: Database): Promise<StoryDays> {
  const { runId } = await seedRuns(db);
  await sql`update intake.orders set placed_at = ${NOON} - interval '2 days'`.execute(db);
  await sql`update intake.orders set refunded = 5 where order_id in ('9001', '1007')`.execute(db);
  await sql`
    insert into intake.revenue_rules (job, source, revenue)
    select distinct job, source, 'total_less_refunds' from intake.attributions`.execute(db);
  await sql`update ops.runs set started_at = now() - interval '3 hours', finished_at = now() - interval '2 hours' where status = 'ok'`.execute(
    db,
  );
  await sql`update ops.runs set started_at = now() - interval '1 hour' where run_id = ${runId}::bigint`.execute(
    db,
  );
  // Mara bought with her own code, and Ann bought twice. Each customer has a version from a year ago that is
  // no longer current.
  await sql`update intake.orders set customer_key = md5('mara.paints')::uuid where order_id = '1001'`.execute(
    db,
  );
  await sql`update intake.orders set customer_key = md5('ann')::uuid where order_id in ('1002', '9001')`.execute(
    db,
  );
  await sql`
    insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, placed_at, line_no, record_no,
      row_count, customer_key)
    select source, 'of a year ago', source_file_id, false, 'h', 'old', 'EUR', 1, placed_at - interval '365 days', 1, 1, 1, md5('bob')::uuid
    from intake.orders where order_id = '1001'`.execute(db);
  await adjust(db, runId);
  await closeMonth(db);
  await mirror(db, runId);
  await identify(db, runId);
  await click(db, runId);
  await submit(db, runId);
  await importCreators(db, runId);
  await claim(db);
  await sql`
    insert into ops.credit_claims (claim_key, creator, creator_folded, order_id, amount, currency, deadline_on, state, added_by, answer, explanation,
      reply, found_source, found_order_id, credited_amount, credited_currency, answered_at, answered_by)
    values ('a', '@Mara.Paints', 'mara.paints', '1001', 45, 'EUR', null, 'answered', 'jane.doe@acme.test', 'credited', 'Credited.', 'Credited to you.',
        'shop-orders', '1001', 45, 'EUR', now(), 'jane'),
      ('c', 'D1', 'd1', '#1001', 45, 'EUR', null, 'answered', 'jane', 'credited', 'Credited.', 'Credited to you.', 'shop-orders', '1001', 45, 'EUR', now(), 'jane'),
      ('b', 'jonas', 'jonas', '1002', 7, 'EUR', '2026-05-01', 'open', 'jane', null, null, null, null, null, null, null, null, null)`.execute(
    db,
  );
  await sql`
    insert into reporting.accruals (at_end_of, standing, month, brand_id, currency, orders, amount)
    values ('2026-04-01', 'closed', '2026-03-01', '4819', 'EUR', 0, 7.5), ('2026-04-01', 'closed', '2026-04-01', '4819', 'EUR', 0, 5),
      ('2026-04-01', 'unknown', '2026-04-01', null, 'EUR', 2, null), ('2026-03-01', 'closed', '2026-03-01', '4819', 'EUR', 0, 7.5)`.execute(
    db,
  );
  await sql`
    with proposal as (
      insert into ops.payment_proposals (month, message_id, proposed_by, reason) values ('2026-01-01', 'IS-M', 'jane', 'month end') returning proposal_id
    )
    insert into ops.payments (proposal_id, creator, currency, amount, reference, state, exported_as, exported_at, exported_by, account_mark, paid_amount, paid_on)
    select proposal_id, creator, 'EUR', amount, reference, state, 'csv', '2026-02-02T10:00:00Z', 'jane', 'DE893000', paid, day::date
    from proposal, (values ('mara.paints', 8, 'IS-A', 'paid', 8, '2026-02-03'), ('jonas', 20, 'IS-B', 'partly_paid', 5, '2026-02-04'))
      as p (creator, amount, reference, state, paid, day)`.execute(db);
  await keepReconciliation(db, { accountCurrency: 'EUR', runId });
  await refreshReporting(db, { job: JOB });
  await keepEarnings(db, { rules: RULES });
  await updateReturns(db, { rules: RULES });
  await useCode(db);
  const { rows } =
    await sql<StoryDays>`select ((${NOON} - interval '2 days') at time zone 'UTC')::date::text as ordered`.execute(
      db,
    );
  return rows[0] ?? { ordered: '' };
}

/** D1 earns 10 percent, and the margin is 40 of every 100 of revenue. */
const RULES: ReturnRules = {
  ...rulesOf([termsOf({ ratePercent: '10' })], { returnWindowDays: 30 }),
  marginPercent: '40',
  exchange: null,
};

/** Noon of the current day in UTC, so that no test depends on the hour. */
const NOON = sql`((now() at time zone 'UTC')::date + interval '12 hours') at time zone 'UTC'`;

/**
 * Clicks on the day of the orders: 12 were posted for D1, 5 more are waiting, and 30 belong to a page without
 * an owner.
 */
async function click(db: Database, runId: string): Promise<void> {
  const day = sql`((${NOON} - interval '2 days') at time zone 'UTC')::date`;
  await sql`
    insert into intake.clicks (source, subject, day, country, clicks, written, references_folded, source_file_id, line_no, job, outcome, reason,
      matched_by, target, owner_deal_id)
    values ('links', 'code:mara15', ${day}, '', 17, 'MARA15', '{mara15}', 1, 2, 'clicks', 'attributed', null, 'code', 'deal:D1', 'D1'),
      ('links', 'link:acme.test/spring?', ${day}, '', 30, 'acme.test/spring', '{spring}', 1, 3, 'clicks', 'unattributed', 'unknown', null, null, null)`.execute(
    db,
  );
  await sql`
    insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, source, brand_id, deal_id, details, run_id)
    select 'click', 'ACC-1', key, state, attempt, '{"deal_id":"D1"}', 'h', 'clicks', 'links', '4819', deal,
      jsonb_build_object('target', 'deal:D1', 'day', ${day}, 'country', '', 'from', start_at, 'clicks', clicks), ${runId}::bigint
    from (values ('c1', 'accepted', 1, 'D1', 0, 12), ('c2', 'ready', 0, null, 12, 5)) as v(key, state, attempt, deal, start_at, clicks)`.execute(
    db,
  );
}

/**
 * Entries of outreach O_1: mara.paints, who has a deal, was added, and another handle is in doubt. A batch
 * with an unknown id was refused.
 */
async function submit(db: Database, runId: string): Promise<void> {
  await sql`
    insert into ledger.entries (effect, account_id, key, state, state_reason, attempt, doubtful_attempt, body, body_hash, job, brand_id, details, run_id)
    select 'outreach', 'ACC-1', key, state, reason, 1, case when state = 'in_doubt' then 1 end, '{}', 'h', 'spring', '4819',
      jsonb_build_object('outreach', 'O_1', 'platform', 'instagram', 'ids', ids::jsonb), ${runId}::bigint
    from (values ('o1', 'accepted', '1 added', '["81"]'), ('o2', 'in_doubt', 'the connection was cut', '["82"]'),
      ('o3', 'rejected', 'HTTP 404: unknown id', '["83","84"]')) as v(key, state, reason, ids)`.execute(db);
  await sql`
    insert into intake.outreach_candidates (job, influencer, outreach_id, platform, user_id, username, followers, outcome, entry_id, run_id)
    select 'spring', 'instagram:' || user_id, 'O_1', 'instagram', user_id, username, followers, 'in_batch', e.entry_id, ${runId}::bigint
    from (values ('81', 'Mara.Paints', 5000, 'o1'), ('82', 'lea.lifts', 900, 'o2'), ('83', 'ola.oils', 800, 'o3')) as v(user_id, username, followers, key)
    join ledger.entries e using (key)`.execute(db);
}

/**
 * new.nora got deal D9, mara.paints has D1 with another code, and duo has several deals, so the right one is
 * unknown.
 */
async function importCreators(db: Database, runId: string): Promise<void> {
  await sql`
    insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, source, brand_id, deal_id, details, run_id)
    values ('create_deal', 'ACC-1', '["new.nora","tiktok","4819","D_1"]', 'accepted', 1, '{"influencer_handle":"new.nora"}', 'h', 'deals', 'list',
      '4819', 'D9', '{"handle":"new.nora","platform":"tiktok","dealflow":"D_1"}', ${runId}::bigint)`.execute(
    db,
  );
  await sql`
    insert into intake.creators (source, handle_folded, platform, brand_id, dealflow_id, influencer_handle, source_file_id, line_no, job, outcome,
      reason, deal_id, deal_key, differing_terms)
    values ('list', 'new.nora', 'tiktok', '', '', 'new.nora', 1, 2, 'deals', 'create', null, 'D9', '["new.nora","tiktok","4819","D_1"]', '{}'),
      ('list', 'mara.paints', 'instagram', '', '', 'mara.paints', 1, 3, 'deals', 'known', null, 'D1', '["mara.paints","instagram","4819","D_1"]', '{code}'),
      ('list', 'duo', 'instagram', '', '', 'duo', 1, 4, 'deals', 'held', 'several_deals', null, '["duo","instagram","4819","D_1"]', '{}')`.execute(
    db,
  );
}

/** The code of nora was used with links for weeks, and yesterday without them. */
async function useCode(db: Database): Promise<void> {
  await sql`
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    values (current_date - 20, 'nora5', 16, 2), (current_date - 1, 'nora5', 12, 11)`.execute(db);
}

/** Order 1011 is held because it carries a code of mara.paints and a code of jonas, in this order. */
async function claim(db: Database): Promise<void> {
  await sql`
    insert into intake.order_claims (job, source, order_id, place, kind, written, target, influencer_handle, deal_id)
    values (${JOB}, 'shop-orders', '1011', 1, 'code', 'MARA15', 'deal:D1', null, 'D1'),
      (${JOB}, 'shop-orders', '1011', 2, 'code', 'JONAS10', 'handle:jonas', 'jonas', null)`.execute(db);
}

/** January was closed with an order and a refund of an order in an earlier statement. */
async function closeMonth(db: Database): Promise<void> {
  await sql`
    insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, currency, earned_amount, closed_before, amount)
    values (1, 1, 'order', 'order:1', '2026-01-05', 'D1', 'EUR', 10, 0, 10), (1, 2, 'correction', 'order:2', '2025-12-05', 'D1', 'EUR', 3, 5, -2)`.execute(
    db,
  );
  await sql`
    insert into ops.statements (month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
    values ('2026-01-01', 'UTC', 30, 2, 'ann', 'paid out', '', 'h')`.execute(db);
}

async function adjust(db: Database, runId: string): Promise<void> {
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
    select entry_id, kind, 20, new_amount, 'EUR', 'h', ${runId}::bigint
    from ledger.entries, (values (1, 'refunded', 15.00), (2, 'cancelled', null)) as note(place, kind, new_amount)
    where order_id = '9002' order by place`.execute(db);
}

async function mirror(db: Database, runId: string): Promise<void> {
  const statements = [
    sql`insert into mirror.publications (run_id, counts) values (${runId}::bigint, '{}')`,
    sql`insert into mirror.brand_versions (brand_id, name, raw, row_hash, valid_from, first_seen_at, seen_at, run_id)
      values ('4819', 'Acme', '{}', 'h', now() - interval '60 days', now() - interval '60 days', now(), ${runId}::bigint)`,
    sql`insert into mirror.dealflow_versions (dealflow_id, brand_id, name, raw, row_hash, valid_from, first_seen_at, seen_at, run_id)
      values ('D_1', '4819', 'Spring', '{}', 'h', now() - interval '60 days', now() - interval '60 days', now(), ${runId}::bigint)`,
    sql`insert into mirror.known_deals (deal_id, first_way, ways, read_at)
      values ('D1', 'codes', '{codes}', now()), ('D2', 'autocomplete', '{autocomplete}', now()), ('D3', 'autocomplete', '{autocomplete}', now())`,
    // D1 changed ten days ago. D3 was only just discovered.
    sql`insert into mirror.deal_versions (deal_id, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
        total_referrals, total_sales, total_payouts, raw, row_hash, valid_from, valid_to, is_latest, first_seen_at, run_id)
      select deal_id, handle, platform, '4819', 'D_1', is_active, step, clicks, referrals, sales, payouts, '{"email": "[redacted]"}', step::text,
        now() - since * interval '1 day', now() - till * interval '1 day', till is null, now() - interval '60 days', ${runId}::bigint
      from (values
        ('D1', 'mara.paints', 'instagram', true, 1, 10, 2, 100.00, 0, 60, 10),
        ('D1', 'mara.paints', 'instagram', true, 2, 40, 5, 250.50, 5.5, 10, null),
        ('D2', 'Mara.Paints', 'instagram', false, 1, 0, 0, 0, 2, 60, null),
        ('D3', 'idle.ivy', 'tiktok', true, 1, 7, 0, 0, 0, 0, null)
      ) as v(deal_id, handle, platform, is_active, step, clicks, referrals, sales, payouts, since, till)`,
    sql`insert into mirror.coverage (run_id, way, known, also_known, fresh, stale, unread, failing, deleted)
      values (${runId}::bigint, 'all', 3, 0, 2, 1, 0, 0, 0), (${runId}::bigint, 'codes', 1, 0, 1, 0, 0, 0, 0),
        (${runId}::bigint, 'autocomplete', 2, 1, 1, 1, 0, 0, 0)`,
  ];
  for (const statement of statements) await statement.execute(db);
}

async function identify(db: Database, runId: string): Promise<void> {
  await sql`
    insert into intake.identify_batches (batch_id, job, brand_id, state, customers, http_status, run_id, staged_at)
    values (1, 'customers', '4819', 'accepted', 3, 200, ${runId}::bigint, now())`.execute(db);
  await sql`
    insert into intake.customers (customer_hash, brand_id, source, batch_id, orders_count, spent, currency)
    select md5(name)::uuid, '4819', 'customers', 1, 3, 120.50, 'EUR'
    from (values ('mara.paints'), ('new.nora'), ('nobody')) as c(name)`.execute(db);
  await sql`
    insert into intake.lookups (customer_hash, brand_id, outcome, platform, username, followers, is_verified, profile_url, run_id)
    values (md5('mara.paints')::uuid, '4819', 'influencer', 'instagram', 'mara.paints', 5000, false, 'https://social.test/mara.paints', ${runId}::bigint),
      (md5('new.nora')::uuid, '4819', 'influencer', 'tiktok', 'new.nora', 12000, true, 'https://social.test/new.nora', ${runId}::bigint),
      (md5('nobody')::uuid, '4819', 'no_match', null, null, null, null, null, ${runId}::bigint)`.execute(db);
}
