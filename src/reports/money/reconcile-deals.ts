import { type RawBuilder, sql } from 'kysely';
import type { Doubt } from '../../core/ledger.ts';
import {
  type DealPayout,
  type DisputedOrder,
  type DoubtHint,
  type HintedDeal,
  hintAtDoubts,
  type ReconciledDeal,
} from '../../core/money/reconciliation.ts';
import type { DecimalText } from '../../core/money.ts';
import { countsOf, type Database, execute, rowsOf } from '../../db/statement.ts';
import { isAboutOrder } from '../../ledger/evidence/apply-evidence.ts';
import { type ColumnKey, hasAll, type Page } from '../wanted-rows.ts';

/** SQL for what a comparison `r` says of a deal, besides its creator. */
const RECONCILED = sql`
  r.deal_id as "dealId", r.first_read_at as "firstReadAt", r.read_at as "readAt", r.theirs::float8 as theirs,
  r.ours::float8 as ours, r.before::float8 as before, r.others::float8 as others, r.doubts::float8 as doubts,
  r.written_off::float8 as "writtenOff", r.late::float8 as late, r.credited_twice::float8 as "creditedTwice",
  r.afterwards::float8 as afterwards, r.unexplained::float8 as unexplained,
  r.account_currency as "accountCurrency", r.other_currency::float8 as "otherCurrency",
  r.theirs_amount::text as "theirsAmount", r.ours_amount::numeric(24,4)::text as "oursAmount",
  r.unexplained_amount::numeric(24,4)::text as "unexplainedAmount", r.paid_amount::text as "paidAmount",
  r.unproven::float8 as unproven, r.unproven_amount::numeric(24,4)::text as "unprovenAmount",
  r.doubts_amount::numeric(24,4)::text as "doubtsAmount", r.doubt_ids::text[] as "doubtIds"`;

/**
 * Compares the orders that this project posted with those that the service counts, deal by deal.
 *
 * The service reports totals of a deal (orders and sales), not single orders, and they include older orders.
 * So the growth between the first and the last reading of the mirror is compared. An order is certainly part
 * of it if it was claimed after the first reading and its acceptance was recorded by the last one. It may be
 * part of it if only one of the two is certain: in doubt, written off, or in flight while the deal was read.
 * Growth between "all certain orders" and "all possible orders" is explained.
 *
 * Totals do not show which orders they count, and the service's specification does not define them. So they
 * settle no doubt by themselves; they are shown to the person who does.
 */
export function reconcileDeals(
  db: Database,
  options: { readonly accountCurrency: string | null; readonly dealId?: string | null },
) {
  return rowsOf<ReconciledDeal>(db)`
    ${comparison(options)}
    select ${RECONCILED}, r.influencer_handle as "influencerHandle"
    from compared r order by abs(unexplained) desc nulls last, deal_id`;
}

/** Stores the comparison of all deals for notices and `bi.reconciliation`, after the mirror published totals. */
export async function keepReconciliation(
  db: Database,
  options: { readonly accountCurrency: string | null; readonly runId: string },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await execute(trx)`lock table reporting.reconciliation in share row exclusive mode`;
    await trx.deleteFrom('reporting.reconciliation').execute();
    await execute(trx)`
      ${comparison(options)}
      insert into reporting.reconciliation (${KEPT}, run_id) select ${KEPT}, ${options.runId}::bigint
      from compared`;
  });
}

const KEPT = sql.raw(`
  deal_id, first_read_at, read_at, theirs, ours, before, others, doubts, written_off, late, credited_twice, afterwards, unexplained,
  account_currency, theirs_amount, ours_amount, other_currency, unexplained_amount, paid_amount, unproven, unproven_amount,
  doubts_amount, doubt_ids`);

/**
 * Lists the stored comparison: the largest unexplained differences first, deals with an unknown total last;
 * with `isOpen`, only deals with a difference that is unexplained or not known.
 */
export function listReconciled(
  db: Database,
  {
    limit,
    after = null,
    dealId = null,
    handle = null,
    isOpen = false,
  }: Page<ColumnKey<'unexplained' | 'dealId'>> & {
    readonly dealId?: string | null;
    /** Part of the handle. */
    readonly handle?: string | null;
    readonly isOpen?: boolean;
  },
) {
  const isAfter =
    after !== null &&
    sql`(-coalesce(abs(r.unexplained), -1), r.deal_id) > (-${after.unexplained}::numeric, ${after.dealId})`;
  return rowsOf<ReconciledDeal>(db)`
    select ${RECONCILED}, reporting.without_addresses(d.influencer_handle) as "influencerHandle"
    from (
      select r.* from reporting.reconciliation r
      where ${hasAll({ 'r.deal_id': dealId }, isAfter)}
        and (${handle}::text is null or r.deal_id in (
          select d.deal_id
          from mirror.deal_versions d
          where d.is_latest and position(lower(${handle}::text) in lower(d.influencer_handle)) > 0))
        and (not ${isOpen} or r.unexplained is distinct from 0 or r.unexplained_amount <> 0
          or (r.unexplained_amount is null and r.account_currency is not null))
      order by -coalesce(abs(r.unexplained), -1), r.deal_id limit ${limit}::bigint) r
    left join mirror.deal_versions d on d.deal_id = r.deal_id and d.is_latest
    order by -coalesce(abs(r.unexplained), -1), r.deal_id`;
}

/**
 * Counts the deals of the stored comparison, those of which it is not known whether the amounts agree, and those that were
 * compared while the currency of the account was not known.
 */
export function surveyReconciled(db: Database) {
  return countsOf<'deals' | 'unknownAmounts' | 'withoutCurrency'>(db)`
    select count(*) as deals, count(*) filter (where unexplained_amount is null) as "unknownAmounts",
      count(*) filter (where account_currency is null) as "withoutCurrency"
    from reporting.reconciliation`;
}

/**
 * Reads what the totals of their deals suggest about doubts, from the comparison that was stored when the mirror last
 * published. If one of the doubts of a deal has been settled since, the comparison says nothing about the others.
 *
 * @returns hints by entry. Most doubts have none.
 */
export async function readDoubtHints(
  db: Database,
  doubts: readonly Pick<Doubt, 'dealId'>[],
): Promise<ReadonlyMap<string, DoubtHint>> {
  const deals = [...new Set(doubts.flatMap(({ dealId }) => (dealId === null ? [] : [dealId])))];
  if (deals.length === 0) return new Map();
  const rows = await rowsOf<HintedDeal>(db)`
    select ${RECONCILED}
    from reporting.reconciliation r
    where r.deal_id in (select reporting.deal_id_of(named) from unnest(${deals}::text[]) named)
      and r.doubt_ids is not null
      and not exists (
        select from unnest(r.doubt_ids) d(entry_id) left join ledger.entries e using (entry_id)
        where e.state is distinct from 'in_doubt')`;
  return new Map(
    rows
      .map(hintAtDoubts)
      .filter((hint) => hint !== null)
      .flatMap((hint) => hint.doubtIds.map((entryId) => [entryId, hint] as const)),
  );
}

/** Deals of one job whose unexplained difference exceeds the limits, in one currency of the account. */
export type UnexplainedSum = {
  readonly job: string;
  readonly deals: number;
  /** Sum of what is unexplained; null if that is known of none, or the currency is not. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  /** Number of these deals of which the amount is not known. */
  readonly withoutAmount: number;
  /** When the first of them was read. */
  readonly since: Date | null;
};

/** Adds up the differences that were stored when the mirror last published, of the deals that `isUnexplained` names. */
export function sumUnexplained(
  db: Database,
  { ordersAbove, amountAbove }: { ordersAbove: number; amountAbove: DecimalText },
) {
  return rowsOf<UnexplainedSum>(db)`
    select u.job, count(*)::integer as deals, sum(r.unexplained_amount)::text as amount,
      r.account_currency as currency,
      (count(*) filter (where r.unexplained_amount is null))::integer as "withoutAmount", min(r.read_at) as since
    from reporting.reconciliation r join ops.runs u using (run_id)
    where abs(r.unexplained) > ${ordersAbove}::numeric or abs(r.unexplained_amount) > ${amountAbove}::numeric
    group by u.job, r.account_currency order by u.job, r.account_currency`;
}

/** Returns the currency of the account: the configured one, or that of the last event about an order. */
function accountCurrencyOf(configured: string | null): RawBuilder<unknown> {
  return sql`coalesce(${configured}::text, (
    select upper(w.body -> 'order_information' ->> 'account_currency') from ops.webhook_events w
    where w.kind = 'new_influencer_order'
      and w.body -> 'order_information' ->> 'account_currency' ~ '^[A-Za-z]{3}$'
    order by w.event_id desc limit 1))`;
}

/** Maximum time between an event and the counting of its order, in either direction. */
const LATE = sql`interval '1 hour'`;

/** Doubts of a deal that are named. Totals say little about more. */
const NAMED_DOUBTS = 20;

/** Pattern of a JSON value that is an amount. */
const isAmount = sql`'^-?\\d{1,14}(\\.\\d{1,100})?$'`;

/** Condition: entry `e` may have been processed. */
const wasSent = sql`e.effect = 'referral' and e.attempt > e.not_sent and e.state in ('accepted', 'in_doubt', 'sending', 'written_off')`;

/** Condition: evidence `v` is about an order for which no request of this project may have been processed. */
const isOfOthers = sql`v.kind = 'webhook_order' and not exists (
  select from ledger.entries e where ${isAboutOrder} and ${wasSent})`;

/** Common table expressions; `compared` has a row for each deal with orders of this project or of the service. */
function comparison({
  accountCurrency,
  dealId = null,
}: {
  accountCurrency: string | null;
  dealId?: string | null;
}): RawBuilder<unknown> {
  return sql`
    with account as materialized (select ${accountCurrencyOf(accountCurrency)} as currency),
    told as materialized (
      select v.evidence_id, ledger.fold_order_id(v.order_id) as order_id, v.order_platform, v.deal_id,
        v.received_at,
        case when w.body -> 'order_information' ->> 'account_currency_revenue' ~ ${isAmount}
            and upper(w.body -> 'order_information' ->> 'account_currency') = account.currency
          then (w.body -> 'order_information' ->> 'account_currency_revenue')::numeric
          when v.currency = account.currency then v.amount end as amount,
        ${isOfOthers} as is_of_others
      from ledger.evidence v cross join account
      left join ops.webhook_events w on w.body_sha256 = v.body_sha256
      where v.kind = 'webhook_order' and (${dealId}::text is null or v.deal_id = ${dealId})
    ),
    readings as materialized (
      select k.deal_id, l.influencer_handle, f.valid_from as first_read_at, k.read_at,
        f.total_referrals as first_orders, l.total_referrals as orders,
        f.total_sales as first_sales, l.total_sales as sales, l.total_payouts as payouts
      from mirror.known_deals k
      join mirror.deal_versions l on l.deal_id = k.deal_id and l.is_latest
      left join lateral (
        select v.*
        from mirror.deal_versions v
        where v.deal_id = k.deal_id and v.total_referrals is not null
        order by v.valid_from
        limit 1) f
          on true
      where ${dealId}::text is null or k.deal_id = ${dealId}
    ),
    sent as materialized (
      select e.entry_id, e.state, e.state_changed_at as changed_at, t.claimed_at,
        e.attempt - e.not_sent > 1 as is_repeated,
        reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id', a.deal_id)) as deal_id,
        case when e.currency = account.currency then e.amount else (
          select told.amount
          from told
          where told.order_id = ledger.fold_order_id(e.order_id)
            and ledger.is_platform(told.order_platform, e.order_platform)
          limit 1) end as amount
      from ledger.entries e cross join account
      left join lateral (select coalesce(min(t.claimed_at), e.created_at) as claimed_at from ledger.attempts t
        where t.entry_id = e.entry_id) t
        on true
      left join lateral (select a.deal_id from intake.attributions a where a.entry_id = e.entry_id limit 1) a
        on e.deal_id is null
      where ${wasSent}
    ),
    placed as materialized (
      select s.*,
        s.state = 'accepted' and s.changed_at <= r.read_at as is_ours,
        s.state = 'accepted' and s.changed_at <= r.first_read_at as is_before,
        s.state = 'accepted' and s.changed_at <= r.read_at and s.claimed_at > r.first_read_at as is_sure,
        s.claimed_at <= r.read_at and not (s.state = 'accepted' and s.changed_at <= r.first_read_at)
          and not (s.state = 'accepted' and s.changed_at <= r.read_at
            and s.claimed_at > r.first_read_at) as is_maybe,
        s.state = 'accepted' and s.claimed_at > r.read_at as is_after,
        -- Growth says nothing about a doubt that the first total may include, about an order whose answer is still to come,
        -- or if an order that was sent again may be counted twice.
        s.state = 'sending' or s.is_repeated
          and not (s.state = 'accepted' and s.changed_at <= r.first_read_at)
          or s.state = 'in_doubt' and s.claimed_at <= r.first_read_at as is_unclear
      from sent s left join readings r using (deal_id)
      where s.deal_id is not null and (${dealId}::text is null or s.deal_id = ${dealId})
    ),
    our_sums as (
      select deal_id, count(*) filter (where is_ours or is_ours is null and state = 'accepted') as ours,
        count(*) filter (where is_before) as before,
        count(*) filter (where is_sure) as sure, count(*) filter (where is_maybe) as maybe,
        count(*) filter (where is_maybe and state in ('in_doubt', 'sending')) as doubts,
        case
          when count(*) filter (where is_maybe and state = 'in_doubt') between 1 and ${NAMED_DOUBTS}::bigint
          and count(*) filter (where is_unclear) = 0
            then array_agg(entry_id
              order by entry_id) filter (where is_maybe and state = 'in_doubt') end as doubt_ids,
        case when count(*) filter (where is_maybe and state = 'in_doubt' and amount is null) = 0
          then sum(amount) filter (where is_maybe and state = 'in_doubt') end as doubts_amount,
        count(*) filter (where is_maybe and state = 'written_off') as written_off,
        count(*) filter (where is_maybe and state = 'accepted') as late,
        count(*) filter (where is_after) as afterwards,
        count(*) filter (where amount is null and (is_sure or is_maybe)) as other_currency,
        -- Null if the amount of one is unknown: a sum of the others would look like all of them.
        case
          when count(*) filter (where amount is null
            and (is_ours or is_ours is null and state = 'accepted')) = 0
          then coalesce(sum(amount) filter (where is_ours or is_ours is null and state = 'accepted'),
            0) end as ours_amount,
        coalesce(sum(amount) filter (where is_sure), 0) as sure_amount,
        coalesce(sum(amount) filter (where is_maybe), 0) as maybe_amount
      from placed group by deal_id
    ),
    other_orders as (
      select distinct on (t.deal_id, t.order_id, ledger.fold_platform(t.order_platform)) t.deal_id, t.amount,
        t.received_at > r.first_read_at + ${LATE} and t.received_at <= r.read_at as is_sure,
        t.received_at > r.first_read_at and t.received_at <= r.first_read_at + ${LATE}
          or t.received_at > r.read_at and t.received_at <= r.read_at + ${LATE} as is_maybe
      from told t join readings r using (deal_id)
      where t.is_of_others
      order by t.deal_id, t.order_id, ledger.fold_platform(t.order_platform), t.evidence_id
    ),
    other_sums as (
      select deal_id, count(*) filter (where is_sure) as sure, count(*) filter (where is_maybe) as maybe,
        count(*) filter (where amount is null and (is_sure or is_maybe)) as other_currency,
        coalesce(sum(amount) filter (where is_sure), 0) as sure_amount,
        coalesce(sum(amount) filter (where is_maybe), 0) as maybe_amount
      from other_orders group by deal_id
    ),
    twice as (
      select reporting.deal_id_of(deal_id) as deal_id, sum(credits - 1) as credits,
        sum(amount * (credits - 1)) as amount
      from ledger.double_credits group by 1
    ),
    grown as (
      select coalesce(r.deal_id, s.deal_id) as deal_id, r.influencer_handle, r.first_read_at, r.read_at,
        account.currency as account_currency, r.orders as theirs, coalesce(s.ours, 0) as ours,
        r.first_orders - coalesce(s.before, 0) as first_difference,
        coalesce(o.sure, 0) as others, coalesce(s.doubts, 0) as doubts,
        coalesce(s.written_off, 0) as written_off,
        coalesce(s.late, 0) + coalesce(o.maybe, 0) as late, coalesce(t.credits, 0) as credited_twice,
        coalesce(s.afterwards, 0) as afterwards,
        r.orders - r.first_orders - coalesce(s.sure, 0) - coalesce(o.sure, 0) as residual,
        coalesce(s.maybe, 0) + coalesce(o.maybe, 0) + coalesce(t.credits, 0) as most,
        r.sales as theirs_amount, r.payouts as paid_amount,
        case
          when account.currency is not null
            and coalesce(s.other_currency, 0) = 0
              then case when s.deal_id is null then 0 else s.ours_amount end end as ours_amount,
        coalesce(s.other_currency, 0) + coalesce(o.other_currency, 0) as other_currency,
        case
          when account.currency is not null
            and coalesce(s.other_currency, 0) + coalesce(o.other_currency, 0) = 0
          then r.sales - r.first_sales - coalesce(s.sure_amount, 0)
            - coalesce(o.sure_amount, 0) end as residual_amount,
        coalesce(s.maybe_amount, 0) + coalesce(o.maybe_amount, 0) + coalesce(t.amount, 0) as most_amount,
        s.doubt_ids, case when account.currency is not null then s.doubts_amount end as doubts_amount
      from readings r full join our_sums s using (deal_id) cross join account
      left join other_sums o on o.deal_id = r.deal_id
      left join twice t on t.deal_id = coalesce(r.deal_id, s.deal_id)
    ),
    compared as (
      -- Both functions pass over a null, which here means that nobody knows.
      select *, case when first_difference is not null then greatest(first_difference, 0) end as before,
        case when residual is not null then least(first_difference, 0)
          + case when residual > most then residual - most when residual < 0 then residual
            else 0 end end as unexplained,
        case when residual_amount > most_amount then residual_amount - most_amount
          when residual_amount < 0 then residual_amount
          when residual_amount is not null then 0 end as unexplained_amount,
        residual as unproven, residual_amount as unproven_amount
      from grown where theirs is not null or ours > 0 or doubts > 0 or written_off > 0
    )`;
}

/** Most disputed orders of each kind. */
const LISTED = 200;

/**
 * Lists orders about which events and ledger disagree, and posted orders without an event in deals where the
 * service counts fewer. The deals of posted orders are as of the last refresh of the reports,
 * because the ledger has no index of deals.
 */
export function listDisputedOrders(
  db: Database,
  { dealId = null, fewerIn }: { dealId?: string | null; fewerIn: readonly string[] },
) {
  return rowsOf<DisputedOrder>(db)`
    with told as materialized (
      select distinct
        on (ledger.fold_order_id(v.order_id), ledger.fold_platform(v.order_platform), v.deal_id) v.*,
        ${isOfOthers} as is_of_others
      from ledger.evidence v
      where v.kind = 'webhook_order' and (${dealId}::text is null or v.deal_id = ${dealId})
      order by ledger.fold_order_id(v.order_id), ledger.fold_platform(v.order_platform), v.deal_id,
        v.evidence_id desc
    ),
    matched as (
      select t.*, e.amount as ours_amount, e.currency as ours_currency,
        reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id')) as our_deal
      from told t
        join ledger.entries e on ledger.fold_order_id(e.order_id) = ledger.fold_order_id(t.order_id)
          and e.state = 'accepted' and ${wasSent}
        and ledger.is_platform(t.order_platform, e.order_platform)
    ),
    disputed as (
      select 'not_ours' as kind, deal_id, order_platform, order_id, currency, null::numeric as ours_amount,
        amount as theirs_amount, received_at as at
      from told where is_of_others
      union all
      select 'other_amount', deal_id, order_platform, order_id, currency, ours_amount, amount, received_at
      from matched where currency = ours_currency and amount <> ours_amount
      union all
      select 'other_deal', deal_id, order_platform, order_id, currency, ours_amount, amount, received_at
      from matched where deal_id <> our_deal
      union all
      select 'no_event', d.deal_id, e.order_platform, e.order_id, e.currency, e.amount, null,
        e.state_changed_at
      from unnest(${[...fewerIn]}::text[]) as d (deal_id)
      cross join lateral (
        select distinct s.entry_id
        from reporting.order_dispositions s
        where s.deal_id = d.deal_id and s.disposition = 'accepted' offset 0) s
      cross join lateral (select e.* from ledger.entries e where e.entry_id = s.entry_id limit 1) e
      where e.state = 'accepted' and ${wasSent}
        and e.state_changed_at > (select min(received_at) from ledger.evidence where kind = 'webhook_order')
        and not exists (select from ledger.evidence v
          where ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id))
    ),
    numbered as (
      select *, row_number() over (partition by kind order by at desc, order_id) as place from disputed
      where ${dealId}::text is null or deal_id = ${dealId}
    )
    select kind, deal_id as "dealId", order_platform as "orderPlatform", order_id as "orderId", currency,
      ours_amount::text as "oursAmount", theirs_amount::text as "theirsAmount", at
    from numbered where place <= ${LISTED} order by kind, place`;
}

/**
 * Compares what closed statements say that deals earned with what the service says was paid out, in each currency.
 *
 * The specification of the service has no operation for payouts and no event of a payment. What is left: the total of
 * payouts of a deal, if `get_deal_details` contains one, and events of payout requests. A total names neither payouts
 * nor months, is in the currency of the account, and includes payouts from before the mirror first read it.
 *
 * @param options.limit lists only so many, the largest differences first. Without it, all are listed by deal.
 */
export function listPayouts(
  db: Database,
  {
    accountCurrency,
    dealId = null,
    limit = null,
  }: { accountCurrency: string | null; dealId?: string | null; limit?: number | null },
) {
  return rowsOf<DealPayout>(db)`
    with account as materialized (select ${accountCurrencyOf(accountCurrency)} as currency),
    earned as (
      select deal_id, currency, sum(paid_amount) as amount from reporting.statement_deals
      where deal_id <> '' and (${dealId}::text is null or deal_id = ${dealId}) group by 1, 2
    ),
    requested as (
      select deal_id, upper(body ->> 'payout_currency') as currency,
        sum((body ->> 'payout_amount')::numeric) as amount
      from ops.webhook_events
      where kind = 'new_payout_request' and deal_id is not null
        and (${dealId}::text is null or deal_id = ${dealId})
        and body ->> 'payout_currency' ~ '^[A-Za-z]{3}$' and body ->> 'payout_amount' ~ ${isAmount}
      group by 1, 2
    ),
    paid as (
      select l.deal_id, coalesce(account.currency, '') as currency, l.total_payouts as amount,
        f.total_payouts as before
      from mirror.deal_versions l cross join account
      left join lateral (
        select v.total_payouts
        from mirror.deal_versions v
        where v.deal_id = l.deal_id and v.total_payouts is not null
        order by v.valid_from limit 1) f on true
      where l.is_latest and l.total_payouts is not null and (${dealId}::text is null or l.deal_id = ${dealId})
    ),
    keys as (
      select deal_id, currency from earned union select deal_id, currency from requested
      union select deal_id, currency from paid where amount <> 0
    ),
    compared as (
      select deal_id, currency, coalesce(e.amount, 0)::numeric(24,4) as earned,
        r.amount::numeric(24,4) as requested,
        p.amount::numeric(24,4) as paid, p.before::numeric(24,4) as paid_before,
        -- The total has the payouts in other currencies too, so it is compared if the deal earned in no other.
        case when currency <> '' and count(e.amount) over (partition by deal_id) = num_nonnulls(e.amount)
          then (coalesce(e.amount, 0) - p.amount)::numeric(24,4) end as difference
      from keys k
      left join earned e using (deal_id, currency)
      left join requested r using (deal_id, currency)
      left join paid p using (deal_id, currency)
    )
    select c.deal_id as "dealId", reporting.without_addresses(d.influencer_handle) as "influencerHandle",
      nullif(c.currency, '') as currency,
      c.earned::text as "earnedAmount", c.requested::text as "requestedAmount", c.paid::text as "paidAmount",
      c.paid_before::text as "paidBeforeAmount", c.difference::text as "differenceAmount"
    from (
      select * from compared
      order by case when ${limit !== null} then -abs(difference) end nulls last, deal_id, currency
      limit ${limit}::bigint) c
    left join mirror.deal_versions d on d.deal_id = c.deal_id and d.is_latest
    order by case when ${limit !== null} then -abs(c.difference) end nulls last, c.deal_id, c.currency`;
}
