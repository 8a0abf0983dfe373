import { type RawBuilder, sql } from 'kysely';
import {
  type CustomersWon,
  NAMED_DEALS,
  type ReturnGroup,
  type ReturnSum,
  type SelfPurchase,
} from '../../core/money/returns.ts';
import { minorDigits } from '../../core/money.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { type ColumnKey, hasAll, type Page } from '../wanted-rows.ts';

/** A creator: spellings of their handle (`spellingsOf`), and deals that name them (`listNamedDeals`). */
export type NamedCreator = { readonly spellings: readonly string[]; readonly deals: readonly string[] };

/** Filter; `from` and `to` are months as `2026-10`, both included, null for no limit. */
export type ReturnFilter = {
  readonly from: string | null;
  readonly to: string | null;
  readonly dealId?: string | null;
  readonly brandId?: string | null;
  /** Part of the handle. */
  readonly handle?: string | null;
  readonly creator?: NamedCreator | null;
  readonly currency?: string | null;
};

/** SQL for what the rows of a group have in common, as it is stored, and for the name of the group. */
const GROUPS: Readonly<Record<ReturnGroup, readonly [of: RawBuilder<unknown>, name: RawBuilder<unknown>]>> = {
  deal: [sql`deal_id`, sql`max(influencer_handle collate "C")`],
  creator: [sql`lower(coalesce(influencer_handle, ''))`, sql`max(influencer_handle collate "C")`],
  brand: [sql`brand_id`, sql`max(brand_name collate "C")`],
  campaign: [sql`dealflow_id`, sql`max(dealflow_name collate "C")`],
  month: [sql`month_utc`, sql`null::text`],
};

/**
 * SQL for the key of a group. It is built of what its rows have in common: once per group instead of once per row, of which
 * there may be 200,000. An unknown deal, for example of a code's fee, has an empty key.
 */
function keyFor(by: ReturnGroup): RawBuilder<unknown> {
  const [of] = GROUPS[by];
  return by === 'month' ? sql`to_char(${of}, 'YYYY-MM') collate "C"` : sql`coalesce(${of}, '') collate "C"`;
}

type Amounts = Readonly<
  Record<
    'currency' | 'net' | 'cost' | 'netAtLeast' | 'costAtLeast' | 'profit' | 'isUnconverted',
    RawBuilder<unknown>
  >
> & {
  /** SQL for a sum as it is shown. */
  readonly shown: (sum: RawBuilder<unknown>) => RawBuilder<unknown>;
};

const STATED: Amounts = {
  currency: sql`currency`,
  net: sql`net_amount`,
  cost: sql`cost_amount`,
  netAtLeast: sql`net_at_least_amount`,
  costAtLeast: sql`cost_at_least_amount`,
  profit: sql`profit_amount`,
  isUnconverted: sql`false`,
  shown: (sum) => sum,
};

/** Amounts in the reporting currency. Rows that were summed before it was configured are unknown until the next run. */
function convertedTo(currency: string): Amounts {
  const only = (amount: RawBuilder<unknown>) =>
    sql`case when reporting_currency = ${currency}::text then ${amount} end`;
  return {
    currency: sql`${currency}::text`,
    net: only(sql`net_reporting_amount`),
    cost: only(sql`cost_reporting_amount`),
    netAtLeast: only(sql`net_reporting_at_least_amount`),
    costAtLeast: only(sql`cost_reporting_at_least_amount`),
    profit: only(sql`profit_reporting_amount`),
    isUnconverted: sql`
      (reporting_currency is distinct from ${currency}::text or net_reporting_at_least_amount is null
      or cost_reporting_at_least_amount is null)`,
    // As in statements, what is converted is rounded once, as a total.
    shown: (sum) => sql`round(${sum}, ${minorDigits(currency)}::integer)`,
  };
}

/** The sum, or null if one of the values is null. */
function sumOf(amount: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when count(*) = count(${amount}) then sum(${amount}) end`;
}

/** What a page of sums is asked for. */
type ReturnPage = ReturnFilter &
  Page<ColumnKey<'currency' | 'rank' | 'key'>> & {
    readonly by: ReturnGroup;
    /** Currency into which all amounts are converted (statements.reporting_currency); null to keep each in its own. */
    readonly inCurrency?: string | null;
  };

/** A sum of a page, and the deals whose rows it adds up; empty stands for rows of no deal. */
export type ReturnParts = {
  readonly key: string;
  readonly currency: string;
  readonly deals: readonly string[];
};

/** SQL: the order of the sums of a page, and which of them come after its key. */
function orderOf({ by, after = null }: ReturnPage) {
  const isMonth = by === 'month';
  const inOrder = isMonth ? sql`currency, key desc` : sql`currency, coalesce(net_at_least, 0) desc, key`;
  if (after === null) return { inOrder, isAfter: sql`true` };
  return {
    inOrder,
    isAfter: isMonth
      ? sql`(currency > ${after.currency} or currency = ${after.currency} and key < ${after.key})`
      : sql`(currency, -coalesce(net_at_least, 0), key) > (${after.currency}, -${after.rank}::numeric, ${after.key})`,
  };
}

/**
 * Finds the sums of a page by their net revenue alone: of 28,000 creators, only those of the page then need the other
 * figures.
 */
export function listReturnParts(db: Database, page: ReturnPage) {
  const { by, limit, inCurrency = null, ...filter } = page;
  const of = inCurrency === null ? STATED : convertedTo(inCurrency);
  const { inOrder, isAfter } = orderOf(page);
  return rowsOf<ReturnParts>(db)`
    with sums as (
      select ${keyFor(by)} as key, ${of.currency} collate "C" as currency, ${sumOf(of.netAtLeast)} as net_at_least,
        array_agg(coalesce(deal_id, '')) as deals
      from ${rowsFor(filter)} r
      where ${matches(filter)}
      group by ${GROUPS[by][0]}, ${of.currency}
    )
    select key, currency, deals from sums where ${isAfter} order by ${inOrder} limit ${limit}::bigint`;
}

/**
 * Sums what deals brought in and cost, by group and currency, as of the last refresh. For each currency,
 * groups with the most net revenue come first; months begin with the newest. A sum is null if one of its
 * parts is unknown; beside it is what it comes to at least.
 *
 * @param page.parts the sums of the page, if they are known already.
 */
export async function listReturns(
  db: Database,
  page: ReturnPage & { readonly parts?: readonly ReturnParts[] },
): Promise<readonly ReturnSum[]> {
  const { by, limit, inCurrency = null, ...filter } = page;
  const isOfMany = (by === 'creator' || by === 'deal') && filter.creator == null;
  const parts = isOfMany ? (page.parts ?? (await listReturnParts(db, page))) : null;
  const { inOrder, isAfter } = orderOf(page);
  const rank = by === 'month' ? sql`0::numeric` : sql`coalesce(net_at_least, 0)`;
  const of = inCurrency === null ? STATED : convertedTo(inCurrency);
  return rowsOf<ReturnSum>(db)`
    with sums as (
      select ${keyFor(by)} as key, ${GROUPS[by][1]} as name, ${of.currency} collate "C" as currency,
        sum(orders) as orders, ${sumOf(of.net)} as net_amount, ${sumOf(of.cost)} as cost_amount,
        ${sumOf(of.profit)} as profit_amount,
        ${sumOf(of.netAtLeast)} as net_at_least, ${sumOf(of.costAtLeast)} as cost_at_least,
        sum(unvalued_orders) as unvalued_orders, sum(uncosted_orders) as uncosted_orders,
        array_agg(deal_id) filter (where uncosted_orders > 0 and deal_id is not null) as uncosted_deals,
        sum(new_customers) as new_customers, sum(returning_orders) as returning_orders,
        sum(unknown_orders) as unknown_orders,
        sum(unrated_orders) as unrated_orders, sum(unlined_orders) as unlined_orders,
        bool_or(margin_percent is null) as lacks_margin, bool_or(${of.isUnconverted}) as is_unconverted
      from ${rowsFor(filter)} r
      where ${matches(filter)} and ${isOfDeals(parts)}
      group by ${GROUPS[by][0]}, ${of.currency}
    )
    select key, name, currency, orders::float8 as orders,
      ${of.shown(sql`net_amount`)}::text as "netAmount", ${of.shown(sql`cost_amount`)}::text as "costAmount",
      ${of.shown(sql`profit_amount`)}::text as "profitAmount",
      ${of.shown(sql`net_at_least`)}::text as "netAtLeast",
      ${of.shown(sql`cost_at_least`)}::text as "costAtLeast",
      unvalued_orders::float8 as "unvaluedOrders", uncosted_orders::float8 as "uncostedOrders",
      array(select distinct unnest(uncosted_deals) order by 1 limit ${NAMED_DEALS + 1}) as "uncostedDeals",
      round(profit_amount * 100 / nullif(cost_amount, 0), 2)::text as "roiPercent",
      round(net_amount / nullif(cost_amount, 0), 2)::text as "netPerCost",
      new_customers::float8 as "newCustomers",
      returning_orders::float8 as "returningOrders", unknown_orders::float8 as "unknownOrders",
      case
        when unknown_orders = 0
          then round(cost_amount / nullif(new_customers, 0), 4) end::text as "costPerNewCustomer",
      array_remove(array[case when unrated_orders > 0 then 'rate' end,
          case when unlined_orders > 0 then 'products' end,
        case when unvalued_orders > 0 then 'refunds' end, case when lacks_margin then 'margin' end,
        case when unknown_orders > 0 then 'customers' end, case when is_unconverted then 'exchange' end],
        null) as unknown,
        ${rank}::text as rank
    from (select * from sums where ${parts === null ? isAfter : isOneOf(parts)} order by ${inOrder} limit ${limit}::bigint) sums
    order by ${inOrder}`;
}

/** SQL: rows of the deals of these sums, which an index finds; null for all. */
export function isOfDeals(parts: readonly ReturnParts[] | null): RawBuilder<unknown> {
  if (parts === null) return sql`true`;
  const deals = new Set(parts.flatMap((part) => part.deals));
  const isNamed = sql`deal_id = any(${[...deals]}::text[])`;
  return deals.has('') ? sql`(${isNamed} or deal_id is null)` : isNamed;
}

/** SQL: one of these sums. Rows of their deals can belong to others, too. */
function isOneOf(parts: readonly ReturnParts[]): RawBuilder<unknown> {
  return sql`(key, currency) in (
    select * from unnest(${parts.map(({ key }) => key)}::text[], ${parts.map(({ currency }) => currency)}::text[]))`;
}

/**
 * Lists the customers that deals won, by month, and what they have ordered since; newest month first.
 *
 * @param options.areMostFirst the rows with the most new customers first. `after` then has no meaning.
 */
export function listCustomersWon(
  db: Database,
  {
    limit,
    after = null,
    areMostFirst = false,
    ...filter
  }: ReturnFilter & Page<ColumnKey<'month' | 'dealId' | 'brandId' | 'currency'>> & { areMostFirst?: boolean },
) {
  const isAfter =
    after !== null &&
    sql`(month_utc < ${`${after.month}-01`}::date or month_utc = ${`${after.month}-01`}::date
          and (deal_id, coalesce(brand_id, ''), currency)
            > (${after.dealId}, ${after.brandId}, ${after.currency}))`;
  return rowsOf<CustomersWon>(db)`
    select to_char(month_utc, 'YYYY-MM') as month, deal_id as "dealId",
      influencer_handle as "influencerHandle", coalesce(brand_id, '') as "brandId",
      currency, new_customers::float8 as "newCustomers", repeat_customers::float8 as "repeatCustomers",
      net_30_amount::text as "net30", net_90_amount::text as "net90", net_365_amount::text as "net365",
      unknown_orders::float8 as "unknownOrders"
    from bi.customer_cohorts where ${hasAll({}, matches(filter), isAfter)}
    order by ${areMostFirst ? sql`new_customers desc,` : sql``} month_utc desc, deal_id,
      coalesce(brand_id, ''), currency
    limit ${limit}::bigint`;
}

/** Lists credited orders whose customer was identified as the credited influencer, newest first. */
export function listSelfPurchases(
  db: Database,
  { limit, days }: { readonly limit: number /** Age of the oldest listed order. */; readonly days: number },
) {
  return rowsOf<SelfPurchase>(db)`
    select source, order_id as "orderId", day_utc::text as day, deal_id as "dealId",
      influencer_handle as "influencerHandle", currency, amount::text as amount
    from bi.self_purchases where day_utc >= current_date - ${days}::integer
    order by day_utc desc, source, order_id limit ${limit}::bigint`;
}

/**
 * The newest month with orders, as `2026-10`; null if no sums exist yet.
 * @param until the newest of the months up to this one, if there are any.
 */
export async function findNewestMonth(db: Database, until: string | null = null): Promise<string | null> {
  const row = await rowOf<{ month: string | null }>(db)`
    select to_char(coalesce(max(month_utc) filter (where month_utc <= (${until}::text || '-01')::date),
        max(month_utc)),
      'YYYY-MM') as month
    from reporting.return_months`;
  return row?.month ?? null;
}

/** SQL: the view, or its rows of the deals that name a creator. `offset 0` makes it look up each deal. */
function rowsFor({ creator = null }: ReturnFilter): RawBuilder<unknown> {
  if (creator === null) return sql`bi.returns_monthly`;
  const ofNoDeal = sql`union all select * from bi.returns_monthly where deal_id is null`;
  return sql`(
    select m.* from unnest(${[...creator.deals]}::text[]) n (deal_id)
    cross join lateral (select * from bi.returns_monthly m where m.deal_id = n.deal_id offset 0) m
    ${creator.deals.includes('') ? ofNoDeal : sql``})`;
}

function matches({ from, to, dealId, brandId, currency, handle, creator }: ReturnFilter) {
  return hasAll(
    { deal_id: dealId, brand_id: brandId, currency },
    from !== null && sql`month_utc >= (${from}::text || '-01')::date`,
    to !== null && sql`month_utc <= (${to}::text || '-01')::date`,
    handle != null && sql`position(lower(${handle}::text) in lower(influencer_handle)) > 0`,
    creator != null && sql`influencer_handle = any(${[...creator.spellings]}::text[])`,
  );
}
