import { sql } from 'kysely';
import { BELOW_ZERO } from '../core/held/held-order.ts';
import type { KnownSum } from '../core/money.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import { lastDay } from '../money/read-statement.ts';
import type { StatementRules } from '../money/statement.ts';
import { type ColumnKey, type Having, hasAll, type Page } from './wanted-rows.ts';

export type ListedOrder = {
  readonly job: string;
  readonly source: string;
  readonly orderId: string;
  readonly orderName: string | null;
  readonly orderedAt: Date;
  /** When it was ordered, to the microsecond, for the key of the next page. */
  readonly at: string;
  readonly disposition: string;
  readonly reason: string | null;
  readonly matchedBy: string | null;
  readonly matchedValue: string | null;
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly currency: string;
  readonly amount: string | null;
};

export type OrderFilter = Having<'job' | 'source' | 'disposition' | 'reason' | 'deal'> & {
  /** Spellings of the handle of a creator (`spellingsOf`). */
  readonly creator?: readonly string[] | null;
  /** Part of the code or link that was matched or could not be matched. */
  readonly matched?: string | null;
  /** One of the codes or links that a facet counts, whole, in any case. */
  readonly matchedWhole?: string | null;
  /** Orders that carry this code, folded. */
  readonly code?: string | null;
  /** Whether they carry a link of a creator. */
  readonly hasLink?: boolean | null;
  /** Days in UTC, both included. */
  readonly from?: string | null;
  readonly to?: string | null;
};

/**
 * Dispositions of open orders, for which an index finds the few orders among many. Held orders have an index of
 * their own, because those that two owners claim are not open: they wait for another decision.
 */
const OPEN = ['ready', 'in_doubt', 'rejected'];

/** Lists the orders of all jobs as of the last refresh of the reports, newest first. */
export function listOrders(
  db: Database,
  { limit, after = null, ...filter }: OrderFilter & Page<ColumnKey<'at' | 'job' | 'source' | 'orderId'>>,
) {
  const isAfter =
    after !== null &&
    sql`d.day_utc <= ${after.at.slice(0, 10)}::date and (d.ordered_at, d.job, d.source, d.order_id)
      < (${after.at}::timestamptz, ${after.job}, ${after.source}, ${after.orderId})`;
  return rowsOf<ListedOrder>(db)`
    select d.job, d.source, d.order_id as "orderId", o.order_name as "orderName", d.ordered_at as "orderedAt",
      to_char(d.ordered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, d.disposition,
      d.disposition_reason as reason, d.matched_by as "matchedBy",
      d.matched_value as "matchedValue", d.influencer_handle as "influencerHandle", d.deal_id as "dealId",
      d.currency, d.amount
    from (
      select * from reporting.order_dispositions d
      where ${hasAll({}, matches(filter), isAfter)}
      order by d.day_utc desc, d.ordered_at desc, d.job desc, d.source desc, d.order_id desc limit ${limit}
    ) d
    left join intake.orders o on o.order_version_id = d.order_version_id
    order by d.ordered_at desc, d.job desc, d.source desc, d.order_id desc`;
}

/** An order that is in no statement because it is not credited yet. */
export type WaitingOrder = Pick<
  ListedOrder,
  'orderId' | 'disposition' | 'reason' | 'influencerHandle' | 'dealId' | 'currency' | 'amount'
> & { readonly orderedOn: string };

/**
 * Lists the first orders that the statement of a month would contain if they were credited, and adds up all of them by
 * currency: those in doubt, held or ready, as of the last refresh of the reports, without those that were settled since.
 *
 * @param options.month `2026-10`.
 */
export async function listWaitingOrders(
  db: Database,
  { month, rules, limit }: { month: string; rules: StatementRules; limit: number },
) {
  const waiting = sql`
    waiting as (
      select d.order_id, d.ordered_at, d.disposition, d.disposition_reason, d.influencer_handle, d.deal_id,
        d.currency, (d.ordered_at at time zone ${rules.timeZone})::date as ordered_on, d.amount
      from reporting.order_dispositions d left join ledger.entries e on e.entry_id = d.entry_id
      where (d.disposition = 'held' or d.is_open and d.disposition in ('ready', 'in_doubt'))
        and (d.ordered_at at time zone ${rules.timeZone})::date + ${rules.returnWindowDays}::integer
          <= ${lastDay(month)}
        and coalesce(e.state not in ('accepted', 'written_off'), true)
    )`;
  const orders = await rowsOf<WaitingOrder>(db)`
    with ${waiting}
    select order_id as "orderId", to_char(ordered_on, 'YYYY-MM-DD') as "orderedOn", disposition,
      disposition_reason as reason, influencer_handle as "influencerHandle", deal_id as "dealId", currency,
      amount::text as amount
    from waiting order by disposition <> 'in_doubt', ordered_at, order_id limit ${limit}`;
  const sums = await rowsOf<KnownSum & { currency: string; orders: number }>(db)`
    with ${waiting}
    select currency, count(*)::float8 as orders, sum(amount)::text as amount,
      (count(*) filter (where amount is null))::float8 as "withoutAmount"
    from waiting group by currency order by currency`;
  return { orders, sums };
}

/** SQL for the codes or links by which an order `d` can be narrowed: the one that matched, or each that nobody owns. */
const facetCodes = sql`case when d.matched_by = 'code' or d.disposition = 'unattributed' then string_to_array(upper(d.matched_value), ', ') end`;

/** What orders can be narrowed by, with what each value is called in an address. */
export const ORDER_FACETS = ['source', 'job', 'creator', 'code', 'month'] as const;
export type OrderFacet = (typeof ORDER_FACETS)[number];

/**
 * Counts the newest matching orders, up to `limit` + 1, and those of each value by which they can be narrowed: most
 * orders first, months with the newest first. Handles are in lower case.
 */
export async function countFacets(
  db: Database,
  {
    limit,
    values,
    ...filter
  }: OrderFilter & {
    readonly limit: number /** Most values of a facet; of sources and jobs, which are few, all. */;
    readonly values: number;
  },
) {
  const rows = await rowsOf<{ facet: OrderFacet | null; value: string | null; orders: number }>(db)`
    with found as materialized (
      select source, job, lower(influencer_handle) as creator, ${facetCodes} as codes,
        to_char(day_utc, 'YYYY-MM') as month
      from reporting.order_dispositions d where ${matches(filter)} order by d.day_utc desc limit ${limit + 1}
    ),
    counted as (
      select f.facet, f.value, count(*)::float8 as orders,
        row_number() over (partition by f.facet
          order by case f.facet when 'month' then f.value end desc nulls last, count(*) desc,
            f.value) as place
      from found
        cross join lateral (values ('source', source), ('job', job), ('creator', creator), ('month', month)
        union all select distinct 'code', one from unnest(codes) one) f (facet, value)
      where f.value is not null group by f.facet, f.value
    )
    select facet, value, orders from (
      select null as facet, null as value, count(*)::float8 as orders, 0 as place from found
      union all select facet, value, orders, place from counted) one
    where place <= ${values} or facet in ('source', 'job') order by place`;
  return {
    count: rows.find(({ facet }) => facet === null)?.orders ?? 0,
    facets: rows.flatMap(({ facet, value, orders }) =>
      facet === null || value === null ? [] : { facet, value, orders },
    ),
  };
}

/**
 * Counts the orders of each outcome, as of the last refresh of the reports. Null if the filter has a deal, creator, code or
 * link, by which they are not counted.
 */
export async function countOutcomes(db: Database, { job, source, reason, from, to, ...others }: OrderFilter) {
  const { deal, creator, matched, matchedWhole, code, hasLink } = others;
  if ([deal, creator, matched, matchedWhole, code, hasLink].some((one) => one != null)) return null;
  const values = { job, source, disposition_reason: reason };
  const isFrom = from != null && sql`day_utc >= ${from}::date`;
  const isUntil = to != null && sql`day_utc <= ${to}::date`;
  return rowsOf<{ disposition: string; orders: number }>(db)`
    select disposition, sum(orders)::float8 as orders from reporting.funnel_days
    where ${hasAll(values, isFrom, isUntil)} group by 1`;
}

function matches({
  disposition,
  creator,
  matched,
  matchedWhole,
  code = null,
  hasLink = null,
  ...of
}: OrderFilter) {
  return hasAll(
    {
      'd.job': of.job,
      'd.source': of.source,
      'd.disposition': disposition,
      'd.disposition_reason': of.reason,
      'd.deal_id': of.deal,
    },
    disposition === 'held' && sql`d.disposition = 'held'`,
    disposition != null && OPEN.includes(disposition) && sql`d.is_open`,
    creator != null && sql`d.influencer_handle = any(${[...creator]}::text[])`,
    matched != null && sql`position(upper(${matched}::text) in upper(d.matched_value)) > 0`,
    matchedWhole != null && sql`upper(${matchedWhole}::text) = any(${facetCodes})`,
    (code !== null || hasLink !== null) &&
      sql`exists (
        select from intake.orders c where c.order_version_id = d.order_version_id
          and (${code}::text is null or c.codes_folded @> array[${code}::text])
          and (${hasLink}::boolean is null or (cardinality(c.links) > 0) = ${hasLink}))`,
    of.from != null && sql`d.day_utc >= ${of.from}::date`,
    of.to != null && sql`d.day_utc <= ${of.to}::date`,
  );
}

/** The page of the console that lists the orders of a job below zero. */
export function belowZeroPage(job: string): string {
  return `/orders?${new URLSearchParams({ job, outcome: 'excluded', reason: BELOW_ZERO })}`;
}

/** Sums up the orders below zero by job and currency: refunds with an id of their own, which lower no order. */
export function sumBelowZero(db: Database) {
  return rowsOf<KnownSum & { job: string; currency: string }>(db)`
    select job, currency, sum(amount)::text as amount, sum(without_amount)::float8 as "withoutAmount"
    from reporting.funnel_days
    where disposition = 'excluded' and disposition_reason = ${BELOW_ZERO} group by job, currency`;
}
