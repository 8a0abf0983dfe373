import { type RawBuilder, sql } from 'kysely';
import type { DecimalText, Money } from '../core/money.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import { changedOrders, type Kept, onlyHandle } from './kept-earnings.ts';
import {
  columns,
  feesOf,
  findClosed,
  inOrder,
  inSets,
  isUncounted,
  isUnknown,
  lastDay,
  linesOf,
  listHeld,
  listUnknownFees,
  minimumsOf,
  readCarried,
  readClosedExchange,
  uncountedOrders,
  WHY,
} from './read-statement.ts';
import {
  type Statement,
  type StatementLine,
  type StatementRules,
  UNKNOWN_STANDINGS,
  type UncountedOrders,
} from './statement.ts';

/** What is owed to one creator of a deal in one currency. Fees of codes have no deal. */
export type DealSum = {
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  /** Whether it only corrects what was closed to this creator, while another one has the deal. */
  readonly isFormer: boolean;
  readonly currency: string;
  readonly orders: number;
  readonly netAmount: DecimalText | null;
  readonly commission: DecimalText | null;
  readonly corrections: DecimalText | null;
  readonly fees: DecimalText | null;
  /** Amount to pay. */
  readonly amount: DecimalText;
};

/** What is owed to all deals in one currency. */
export type CurrencySum = { readonly currency: string; readonly lines: number; readonly amount: DecimalText };

/** All orders in no line, by reason and currency. */
export type UncountedSum = Pick<UncountedOrders, 'why' | 'currency' | 'orders' | 'dueOrders' | 'netAmount'>;

export type StatementSums = Omit<Statement, 'lines'> & {
  /** The first of them, by reason and deal: as many of each reason as deals were asked for. */
  readonly uncounted: readonly UncountedOrders[];
  readonly uncountedSums: readonly UncountedSum[];
  readonly currencies: readonly CurrencySum[];
  /** One page of the deals in each currency, in the order of their ids, each before its former creators. */
  readonly deals: readonly DealSum[];
  /**
   * The amounts by the day on which they count, which is what their conversion needs. Empty unless asked for.
   */
  readonly days: readonly Pick<StatementLine, 'amount' | 'currency' | 'dueOn'>[];
};

/** The deals to sum: those after one, of one currency, or one. */
type Page = {
  readonly limit: number;
  readonly after: string | null;
  readonly currency: string | null;
  readonly dealId: string | null;
};

type Month = { readonly month: string; readonly rules: StatementRules };

/**
 * Sums a statement by deal, because it may have a line for each of a million orders. An open month is added up from
 * kept sums if they can be used, and otherwise from all orders.
 *
 * @param options.limit maximum number of deals in each currency, and of uncounted deals for each reason.
 * @param options.after id of the last deal of the previous page.
 */
export async function sumStatement(
  db: Database,
  options: Month & {
    readonly limit: number;
    readonly after?: string | null;
    readonly currency?: string | null;
    readonly dealId?: string | null;
    readonly withDays?: boolean;
  },
): Promise<StatementSums> {
  const { month, rules, limit, after = null, currency = null, dealId = null, withDays = false } = options;
  const closed = await findClosed(db, month);
  const page = { limit, after, currency, dealId };
  const owners =
    closed === null
      ? sql`reporting.deal_owners`
      : sql`(select * from ops.statement_headings where statement_id = ${closed.statementId}::bigint)`;
  const sum = (trx: Database, sums: RawBuilder<unknown>) => readSums(trx, sums, { limit, withDays, owners });
  const row =
    closed === null
      ? await inSets(db, { month, rules }, (trx, kept) => {
          const isKept = kept !== null && dealId === null && minimumsOf(rules, month).length === 0;
          if (isKept) return sum(trx, sumsOfKept({ rules, month, kept }, page));
          return sum(trx, sumsOfLines(openLines({ month, rules, dealId }, kept), { ...page, month }));
        })
      : await sum(db, sumsOfLines(closedLines(closed), { ...page, month: null }));
  const hasMinimum = closed === null && minimumsOf(rules, month).length > 0;
  const carried = hasMinimum
    ? await inSets(db, { month, rules }, (trx, kept) =>
        readCarried(trx, linesOf(rules, { month, dealId }, kept)),
      )
    : (closed?.carried ?? []).filter((one) => (dealId ?? one.dealId) === one.dealId);
  const deals = row?.deals ?? [];
  const currencies = [...new Map(deals.map((deal) => [deal.currency, deal])).values()].map((deal) => ({
    currency: deal.currency,
    lines: deal.all_lines,
    amount: deal.all_amount,
  }));
  const { timeZone, returnWindowDays } = closed ?? rules;
  return {
    month,
    closed,
    timeZone,
    returnWindowDays,
    currencies,
    deals,
    carried,
    days: row?.days ?? [],
    exchange: closed === null || !withDays ? null : await readClosedExchange(db, closed.statementId),
    held: closed === null ? await listHeld(db) : [],
    unknownFees: closed === null ? await listUnknownFees(db, { month, rules, dealId }) : [],
    uncounted: row?.uncounted ?? [],
    uncountedSums: row?.uncountedSums ?? [],
  };
}

type Sums = {
  readonly deals: readonly (DealSum & { all_lines: number; all_amount: string })[] | null;
  readonly uncounted: readonly UncountedOrders[] | null;
  readonly uncountedSums: readonly UncountedSum[] | null;
  readonly days: StatementSums['days'] | null;
};

/** Reads the common table expressions `totals`, `deals`, `days`, `uncounted` and `uncounted_sums`. */
async function readSums(
  db: Database,
  sums: RawBuilder<unknown>,
  {
    limit,
    withDays,
    owners,
  }: {
    readonly limit: number;
    readonly withDays: boolean;
    /** Relation that names the creator of a deal, who is not one whose lines it only corrects. */
    readonly owners: RawBuilder<unknown>;
  },
): Promise<Sums | undefined> {
  const rows = await rowsOf<Sums>(db)`
    ${sums}
    select (
      select jsonb_agg(p order by p.currency, p."dealId" nulls first, p."isFormer", p."influencerHandle")
      from (
        select d.deal_id as "dealId", former is not null as "isFormer",
          case when former is null then owner else min(d.handle) end as "influencerHandle",
          d.currency, sum(d.orders)::integer as orders, ${text('sum(d.net)')} as "netAmount",
          ${text('sum(d.commission)')} as commission, ${text('sum(d.corrections)')} as corrections,
          ${text('sum(d.fees)')} as fees, ${text('sum(d.amount)')} as amount,
          t.lines::integer as all_lines, ${text('t.amount')} as all_amount
        from totals t
        join (
          select *, max(handle) filter (where closed_to is null) over (partition by currency, deal_id) as own
          from deals where place <= ${limit}) d using (currency)
        left join ${owners} w using (deal_id)
        cross join lateral (select coalesce(w.influencer_handle, d.own) as owner) o
        cross join lateral (
          select case when d.closed_to is distinct from ledger.fold_handle(owner)
            then d.closed_to end as former) f
        group by d.currency, d.deal_id, owner, former, t.lines, t.amount) p) as deals,
      (select jsonb_agg(d order by d.currency, d."dueOn") from (
        select currency, to_char(due_on, 'YYYY-MM-DD') as "dueOn", ${text('amount')} as amount
        from days
        where ${withDays}) d) as days,
      (select jsonb_agg(u order by u.why, u."dealId" nulls last, u.currency) from (
        select why, deal_id as "dealId", coalesce(w.influencer_handle, handle) as "influencerHandle", currency,
          orders::integer as orders, due::integer as "dueOrders", ${text('net')} as "netAmount",
          ${text('earned')} as "earnedAmount"
        from uncounted left join ${owners} w using (deal_id) where place <= ${limit}) u) as uncounted,
      (select jsonb_agg(u order by u.why, u.currency) from (
        select why, currency, orders::integer as orders, due::integer as "dueOrders", ${text('net')} as "netAmount"
        from uncounted_sums) u) as "uncountedSums"`;
  return rows[0];
}

/**
 * SQL: the same common table expressions as `sumsOfKept`, from the lines of a statement. Adds up only the deals of
 * the page. For a closed statement, an index finds their lines.
 *
 * @param options.month the month, if it is open.
 */
function sumsOfLines(
  lines: Lines,
  { month, limit, after, currency, dealId }: Page & { month: string | null },
): RawBuilder<unknown> {
  const isWanted = sql`(${currency}::text is null or l.currency = ${currency}) and (${dealId}::text is null or l.deal_id = ${dealId})`;
  const sums = sql`
    ${onlyHandle(sql`l.influencer_handle`)} as handle, count(*) filter (where l.kind = 'order') as orders,
    sum(l.net_amount) filter (where l.kind = 'order') as net,
    sum(l.amount) filter (where l.kind = 'order') as commission,
    sum(l.amount) filter (where l.kind = 'correction') as corrections,
    sum(l.amount) filter (where l.kind = 'fixed_fee') as fees,
    sum(l.amount) as amount`;
  const none = sql`
    select null as why, null as deal_id, null as handle, null as currency, null::bigint as orders,
      null::bigint as due, null::numeric as net, null::numeric as earned, null::bigint as place
    where false`;
  return sql`
    ${lines.begin} totals as (
      select l.currency, count(*) as lines, sum(l.amount) as amount
      from ${lines.from} l
      where ${isWanted}
      group by 1
    ),
    deals as (
      select t.currency, d.*
      from totals t
      cross join lateral (
        (select null::text as deal_id, null::text as closed_to, ${sums}, 1 as place from ${lines.from} l
          where l.currency = t.currency and l.deal_id is null and ${after === null} and ${isWanted}
          having count(*) > 0)
        union all
        (select * from (
          select l.deal_id, ${closedToOf('l')} as closed_to, ${sums},
            dense_rank() over (order by l.deal_id) as place
          from ${lines.from} l
          where l.currency = t.currency and l.deal_id > ${after ?? ''} and ${isWanted}
          group by l.deal_id, 2) s
        where s.place <= ${limit})
      ) d
    ),
    days as (select l.currency, l.due_on, sum(l.amount) as amount from ${lines.from} l where ${isWanted}
      group by 1, 2),
    uncounted as materialized (
      ${
        month === null
          ? none
          : sql`
      select why, "dealId" as deal_id, "influencerHandle" as handle, currency, orders, "dueOrders" as due,
        "netAmount"::numeric as net, "earnedAmount"::numeric as earned,
        row_number() over (partition by why order by "dealId" nulls last, currency) as place
      from (${uncountedOrders(month)}) u`
      }
    ),
    uncounted_sums as (select why, currency, sum(orders) as orders, sum(due) as due, sum(net) as net
      from uncounted
      group by 1, 2)`;
}

/** Key with which the next page of a deal's lines begins. */
export type LineKey = Pick<StatementLine, 'currency' | 'dueOn' | 'kind' | 'subject'>;

/** Lists one page of the lines of a deal. */
export async function listDealLines(
  db: Database,
  options: Month & { readonly dealId: string; readonly limit: number; readonly after?: LineKey | null },
): Promise<readonly StatementLine[]> {
  const { month, rules, dealId, limit, after = null } = options;
  const closed = await findClosed(db, month);
  const isBehind =
    after === null
      ? sql`true`
      : sql`(currency, due_on, kind, subject) > (${after.currency}::text, ${after.dueOn}::date, ${after.kind}::text, ${after.subject}::text)`;
  const query = (trx: Database, { begin, from }: Lines) => rowsOf<StatementLine>(trx)`
    ${begin} of_deal as (select * from ${from} l where deal_id = ${dealId} and ${isBehind})
    select ${columns} from of_deal l ${inOrder} limit ${limit}`;
  return closed === null
    ? inSets(db, { month, rules }, (trx, kept) => query(trx, openLines({ month, rules, dealId }, kept)))
    : query(db, closedLines(closed));
}

/** SQL: to whom the line was closed that line `of` corrects, if it is known. Each is an amount of its own. */
function closedToOf(of: string): RawBuilder<string | null> {
  const line = sql.ref(of);
  return sql`
    case when ${line}.kind = 'correction' and ${line}.influencer_handle <> ''
      then ledger.fold_handle(${line}.influencer_handle) end`;
}

const text = (amount: string) => sql`(${sql.raw(amount)})::numeric(24,4)::text`;

/** SQL for the lines of a month: the beginning of the statement, and the relation that has the lines. */
type Lines = { readonly begin: RawBuilder<unknown>; readonly from: RawBuilder<unknown> };

/** The stored lines of a closed statement. */
function closedLines({ statementId }: { statementId: string }): Lines {
  return {
    begin: sql`with`,
    from: sql`(select * from ops.statement_lines where statement_id = ${statementId}::bigint)`,
  };
}

/** The lines that closing a month would write now. */
function openLines(
  { month, rules, dealId }: Month & { readonly dealId: string | null },
  kept: Kept | null,
): Lines {
  return {
    begin: sql`${linesOf(rules, { month, dealId }, kept)}, new_lines as materialized (
      select *, earned_amount - closed_before as amount from lines where earned_amount <> closed_before),`,
    from: sql`new_lines`,
  };
}

/** A closed statement in a list. */
type ListedStatement = {
  /** `2026-10`. */
  readonly month: string;
  readonly lines: number;
  /** What it pays, in each currency. */
  readonly amounts: readonly Money[];
  readonly by: string;
  readonly at: Date;
  readonly reason: string;
  readonly hash: string;
};

/**
 * Lists closed statements, the latest month first.
 *
 * @param options.after month of the last row of the previous page.
 */
export async function listStatements(
  db: Database,
  { limit, after = null }: { limit: number; after?: string | null },
): Promise<readonly ListedStatement[]> {
  return rowsOf<ListedStatement>(db)`
    select to_char(month, 'YYYY-MM') as month, lines::integer as lines, closed_by as by, closed_at as at,
      reason, hash, array(
      select jsonb_build_object('currency', d.currency, 'amount', sum(d.paid_amount)::text)
      from reporting.statement_deals d
      where d.statement_id = s.statement_id group by d.currency order by d.currency) as amounts
    from ops.statements s
    where ${after}::text is null or month < (${after}::text || '-01')::date
    order by month desc limit ${limit}`;
}

/** What no closed statement contains yet, of one month and currency. Fixed fees are not in it. */
export type OpenMonth = {
  /** Month of the first statement that can contain it. */
  readonly month: string;
  readonly orders: number;
  /** Commission of the orders, and corrections of closed statements. */
  readonly amount: DecimalText;
  readonly currency: string;
  /**
   * Number of orders of which it is unknown what they earn: the amount is the least. Those that count in a month without an
   * entry here are in the next one that has one.
   */
  readonly unknownOrders: number;
};

/**
 * Lists the months that have something to pay and are not closed, as of the last refresh of the reports; newest first.
 * What came too late for a closed month is in the month after the last closed one.
 */
export async function listOpenMonths(
  db: Database,
  { limit }: { limit: number },
): Promise<readonly OpenMonth[]> {
  return rowsOf<OpenMonth>(db)`
    with closed as materialized (select (max(month) + interval '1 month')::date as next from ops.statements),
    unknown as materialized (
      select e.currency, greatest(e.due_month, c.next) as month, sum(e.orders) as orders
      from reporting.deal_earnings e, closed c where ${isUnknown} group by 1, 2
    ),
    open as (
      select greatest(e.due_month, c.next) as month, sum(e.orders) filter (where e.standing = 'new') as orders,
        sum(e.earned_amount - e.closed_amount) as amount, e.currency
      from reporting.deal_earnings e, closed c
      where e.standing in ('new', 'correction')
      group by 1, e.currency
    ),
    follow as (
      select o.*, lag(month) over (partition by currency order by month) as previous from open o
    )
    select to_char(month, 'YYYY-MM') as month, coalesce(orders, 0)::integer as orders, amount::text as amount,
      currency, (
        select coalesce(sum(u.orders), 0)::integer from unknown u
        where u.currency = o.currency and u.month <= o.month and (o.previous is null or u.month > o.previous)
      ) as "unknownOrders"
    from follow o order by o.month desc, currency limit ${limit}`;
}

/** Condition about rows of `order_earnings` or its sums: they are lines. `due` compares days, or months with months. */
const isLine = (due: RawBuilder<unknown>) => sql`(standing = 'correction' or standing = 'new' and ${due})`;

/**
 * SQL: the statement of an open month, added up from `reporting.deal_earnings` and `reporting.earning_days`: common
 * table expressions `totals`, `deals`, `days`, `uncounted` and `uncounted_sums`, as `sumStatement` returns them.
 *
 * What changed since the sums were made is in `moved`: with the sign -1 as it is in the sums, with 1 as it is now.
 * Deals are found in the order of an index, and only those of the page are read. Some of those that the sums
 * contain may be gone since, so as many more are read as there are changed deals.
 *
 * @param options.after id of the last deal of the previous page; null: the first page.
 */
function sumsOfKept(
  { rules, month, kept }: { rules: StatementRules; month: string; kept: Kept },
  { limit, after, currency }: Page,
): RawBuilder<unknown> {
  const first = sql`${`${month}-01`}::date`;
  const isWanted = sql`(${currency}::text is null or currency = ${currency})`;
  const isDueDay = sql`due_on <= ${lastDay(month)}`;
  const isDueMonth = sql`due_month <= ${first}`;
  const isLineOfMonth = isLine(isDueMonth);
  const pendingSince = sql`date_trunc('month', ${first} - ${rules.returnWindowDays}::integer)::date`;
  const stored = sql`deal_id, currency, standing, influencer_handle, due_month, orders, net_amount, earned_amount, closed_amount`;
  const limitOfStored = sql`limit ${limit}::bigint + (select count(distinct deal_id) from moved where sign = -1)`;
  return sql`
    with ${kept.hasChanges ? sql`${changedOrders(rules)},` : sql``}
    ${movedOrders(kept)},
    ${feesOf(rules, { month })},
    open_fees as materialized (
      select kind, coalesce(deal_id, '') as deal_id, coalesce(influencer_handle, '') as influencer_handle,
        currency, due_on, earned_amount - closed_before as amount
      from fee_lines where earned_amount <> closed_before and ${isWanted}
    ),
    all_days as materialized (
      select currency, standing, ordered_on, due_on, sum(orders) as orders, sum(net_amount) as net_amount,
        sum(earned_amount - closed_amount) as amount
      from (
        select currency, standing, ordered_on, due_on, orders, net_amount, earned_amount, closed_amount
        from reporting.earning_days
        union all select currency, standing, ordered_on, due_on, orders, net_amount, earned_amount,
        closed_amount
        from moved) d
      group by 1, 2, 3, 4 having sum(orders) > 0
    ),
    line_days as (
      select currency, due_on, orders as lines, amount from all_days where ${isLine(isDueDay)} and ${isWanted}
      union all select currency, due_on, 1, amount from open_fees
    ),
    totals as materialized (select currency, sum(lines) as lines, sum(amount) as amount from line_days
      group by 1),
    days as (select currency, due_on, sum(amount) as amount from line_days group by 1, 2),
    chosen as materialized (
      select distinct t.currency, d.deal_id
      from totals t
      cross join lateral (
        (select s.deal_id from reporting.deal_earnings s
          where s.currency = t.currency and s.standing in ('new', 'correction') and ${isLineOfMonth}
            and s.deal_id > ${after ?? ''}
          group by s.deal_id order by s.deal_id ${limitOfStored})
        union all select m.deal_id from moved m
        where m.sign = 1 and m.currency = t.currency and m.deal_id > ${after ?? ''}
        union all select f.deal_id from open_fees f
        where f.currency = t.currency and f.deal_id > ${after ?? ''}
        union all select '' where ${after === null}
      ) d
    ),
    deals as (
      select currency, nullif(deal_id, '') as deal_id,
        case when deal_id <> '' then ${closedToOf('n')} end as closed_to,
        ${onlyHandle(sql`influencer_handle`)} as handle,
        coalesce(sum(orders) filter (where kind = 'order'), 0) as orders,
        sum(net) filter (where kind = 'order') as net,
        sum(amount) filter (where kind = 'order') as commission,
        sum(amount) filter (where kind = 'correction') as corrections,
        sum(amount) filter (where kind = 'fixed_fee') as fees, sum(amount) as amount,
        dense_rank() over (partition by currency, deal_id = '' order by deal_id) as place
      from (
        select currency, deal_id, influencer_handle, kind, sum(orders) as orders, sum(net) as net,
          sum(amount) as amount
        from (
          select currency, deal_id, influencer_handle,
            case standing when 'new' then 'order' else 'correction' end as kind, orders,
            net_amount as net, earned_amount - closed_amount as amount
          from (
            select s.* from chosen c
            cross join lateral (
              select ${stored} from reporting.deal_earnings s
              where s.deal_id = c.deal_id and s.currency = c.currency and s.standing in ('new', 'correction')
                and ${isLineOfMonth} offset 0) s
            union all
            select ${stored} from moved join chosen using (currency, deal_id) where ${isLineOfMonth}) s
          union all
          select f.currency, f.deal_id, f.influencer_handle, f.kind, 1, 0, f.amount
          from chosen c join open_fees f using (currency, deal_id)
        ) p
        group by 1, 2, 3, 4 having sum(orders) > 0
      ) n
      group by n.currency, n.deal_id, 3
    ),
    uncounted_sums as (
      select ${WHY} as why, currency, sum(orders) as orders,
        coalesce(sum(orders) filter (where ${isDueDay}), 0) as due,
        case when ${WHY} <> 'unknown_net' then sum(net_amount) end as net
      from all_days where ${isUncounted(isDueDay, sql`ordered_on <= ${lastDay(month)}`)} group by 1, 2
    ),
    unknown as materialized (
      select distinct w.why, d.deal_id
      from unnest(${[...UNKNOWN_STANDINGS]}::text[]) as w(why)
      cross join lateral (
        (select s.deal_id from reporting.deal_earnings s
          where s.standing = w.why and ${isUnknown} and s.ordered_month <= ${first} and s.deal_id > ''
          group by s.deal_id order by s.deal_id ${limitOfStored})
        union all select m.deal_id from moved m where m.sign = 1 and m.standing = w.why
        union all select ''
      ) d
    ),
    uncounted as (
      select why, nullif(deal_id, '') as deal_id, ${onlyHandle(sql`influencer_handle`)} as handle, currency,
        sum(orders) as orders, sum(due) as due,
        case when why <> 'unknown_net' then sum(net) end as net,
        case when why = 'pending' then sum(earned) end as earned,
        row_number() over (partition by why order by deal_id = '', deal_id, currency) as place
      from (
        select why, deal_id, currency, influencer_handle, sum(orders) as orders,
          coalesce(sum(orders) filter (where ${isDueMonth}), 0) as due, sum(net_amount) as net,
          sum(earned_amount) as earned
        from (
          select u.why, s.* from unknown u
          cross join lateral (
            select ${stored} from reporting.deal_earnings s
            where s.deal_id = u.deal_id and s.standing = u.why and s.ordered_month <= ${first} offset 0) s
          union all
          select 'pending', ${stored} from reporting.deal_earnings
          where standing = 'new'
            and ordered_month between ${pendingSince} and ${first} and due_month > ${first}
          union all
          select ${WHY}, ${stored}
          from moved m
          where ${isUncounted(isDueMonth, sql`ordered_month <= ${first}`)}
            and (standing = 'new'
              or exists (select from unknown u where u.why = m.standing and u.deal_id = m.deal_id))
        ) p
        group by 1, 2, 3, 4 having sum(orders) > 0
      ) n
      group by n.why, n.deal_id, n.currency
    )`;
}

/** SQL: `moved`, the changed orders in the columns of the sums. */
function movedOrders({ hasChanges }: Kept): RawBuilder<unknown> {
  const columns = (of: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    ${sign}::integer as sign, ${of}.currency, coalesce(${of}.deal_id, '') as deal_id, ${of}.standing,
    ${of}.ordered_on, ${of}.due_on, date_trunc('month', ${of}.ordered_on)::date as ordered_month,
    date_trunc('month', ${of}.due_on)::date as due_month,
    coalesce(${of}.influencer_handle, '') as influencer_handle, ${sign} as orders,
    ${sign} * coalesce(${of}.net_amount, 0) as net_amount,
    ${sign} * coalesce(${of}.earned_amount, 0) as earned_amount,
    ${sign} * coalesce(${of}.closed_amount, 0) as closed_amount`;
  if (!hasChanges)
    return sql`moved as materialized (select ${columns(sql`k`, sql`1`)} from reporting.order_earnings k where false)`;
  return sql`
    moved as materialized (
      select ${columns(sql`k`, sql`-1`)} from changed c
      cross join lateral (select k.* from reporting.order_earnings k where k.entry_id = c.entry_id limit 1) k
      where k.standing <> 'settled'
      union all
      select ${columns(sql`l`, sql`1`)} from live l where l.standing <> 'settled'
    )`;
}
