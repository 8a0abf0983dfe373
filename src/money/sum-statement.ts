import { type RawBuilder, sql } from 'kysely';
import type { DecimalText } from '../core/order.ts';
import type { Database } from '../db/connect.ts';
import type { Kept } from './kept-earnings.ts';
import {
  columns,
  findClosed,
  inOrder,
  inSets,
  linesOf,
  listHeld,
  listUnknownFees,
  readClosedExchange,
  uncountedOrders,
} from './read-statement.ts';
import type { Statement, StatementLine, StatementRules, UncountedOrders } from './statement.ts';
import { sumsOfKept } from './sum-kept.ts';

/** What is owed to one deal in one currency. Fees of codes have no deal. */
export type DealSum = {
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
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
export type CurrencySum = {
  readonly currency: string;
  readonly lines: number;
  readonly amount: DecimalText;
};

/** All orders in no line, by reason and currency. */
export type UncountedSum = Pick<UncountedOrders, 'why' | 'currency' | 'orders' | 'netAmount'>;

export type StatementSums = Omit<Statement, 'lines'> & {
  /** The first of them, by reason and deal: as many of each reason as deals were asked for. */
  readonly uncounted: readonly UncountedOrders[];
  readonly uncountedSums: readonly UncountedSum[];
  readonly currencies: readonly CurrencySum[];
  /** One page of the deals in each currency, in the order of their ids. */
  readonly deals: readonly DealSum[];
  /**
   * The amounts by the day on which they count, which is what their conversion needs. Empty unless asked for.
   */
  readonly days: readonly Pick<StatementLine, 'amount' | 'currency' | 'dueOn'>[];
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
  const sum = (trx: Database, sums: RawBuilder<unknown>) => readSums(trx, sums, { limit, withDays });
  const row =
    closed === null
      ? await inSets(db, { month, rules }, (trx, kept) => {
          if (kept !== null && dealId === null) return sum(trx, sumsOfKept({ rules, month, kept }, page));
          return sum(trx, sumsOfLines(openLines({ month, rules, dealId }, kept), { ...page, month }));
        })
      : await sum(db, sumsOfLines(closedLines(closed), { ...page, month: null }));
  const deals = row?.deals ?? [];
  const currencies = [...new Map(deals.map((deal) => [deal.currency, deal])).values()].map((deal) => ({
    currency: deal.currency,
    lines: deal.all_lines,
    amount: deal.all_amount,
  }));
  const { timeZone, returnWindowDays } = closed ?? rules;
  return {
    ...{ month, closed, timeZone, returnWindowDays, currencies, deals, days: row?.days ?? [] },
    ...{
      exchange: closed === null || !withDays ? null : await readClosedExchange(db, closed.statementId),
      held: closed === null ? await listHeld(db) : [],
      unknownFees: closed === null ? await listUnknownFees(db, { month, rules, dealId }) : [],
      uncounted: row?.uncounted ?? [],
      uncountedSums: row?.uncountedSums ?? [],
    },
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
  { limit, withDays }: { readonly limit: number; readonly withDays: boolean },
): Promise<Sums | undefined> {
  const { rows } = await sql<Sums>`
    ${sums}
    select (
      select jsonb_agg(p order by p.currency, p."dealId" nulls first) from (
        select d.deal_id as "dealId", d.handle as "influencerHandle", d.currency, d.orders::integer as orders, ${text('d.net')} as "netAmount",
          ${text('d.commission')} as commission, ${text('d.corrections')} as corrections, ${text('d.fees')} as fees, ${text('d.amount')} as amount,
          t.lines::integer as all_lines, ${text('t.amount')} as all_amount
        from totals t join deals d using (currency) where d.place <= ${limit}) p) as deals,
      (select jsonb_agg(d order by d.currency, d."dueOn") from (
        select currency, to_char(due_on, 'YYYY-MM-DD') as "dueOn", ${text('amount')} as amount from days where ${withDays}) d) as days,
      (select jsonb_agg(u order by u.why, u."dealId" nulls last, u.currency) from (
        select why, deal_id as "dealId", handle as "influencerHandle", currency, orders::integer as orders, ${text('net')} as "netAmount",
          ${text('earned')} as "earnedAmount"
        from uncounted where place <= ${limit}) u) as uncounted,
      (select jsonb_agg(u order by u.why, u.currency) from (
        select why, currency, orders::integer as orders, ${text('net')} as "netAmount" from uncounted_sums) u) as "uncountedSums"`.execute(
    db,
  );
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
  {
    month,
    limit,
    after,
    currency,
    dealId,
  }: {
    month: string | null;
    limit: number;
    after: string | null;
    currency: string | null;
    dealId: string | null;
  },
): RawBuilder<unknown> {
  const isWanted = sql`(${currency}::text is null or l.currency = ${currency}) and (${dealId}::text is null or l.deal_id = ${dealId})`;
  const sums = sql`
    min(l.influencer_handle) as handle, count(*) filter (where l.kind = 'order') as orders,
    sum(l.net_amount) filter (where l.kind = 'order') as net, sum(l.amount) filter (where l.kind = 'order') as commission,
    sum(l.amount) filter (where l.kind = 'correction') as corrections, sum(l.amount) filter (where l.kind = 'fixed_fee') as fees,
    sum(l.amount) as amount, 1 as place`;
  const none = sql`
    select null as why, null as deal_id, null as handle, null as currency, 0 as orders, 0 as net, 0 as earned, 1 as place where false`;
  return sql`
    ${lines.begin} totals as (
      select l.currency, count(*) as lines, sum(l.amount) as amount from ${lines.from} l where ${isWanted} group by 1
    ),
    deals as (
      select t.currency, d.*
      from totals t
      cross join lateral (
        (select null::text as deal_id, ${sums} from ${lines.from} l
          where l.currency = t.currency and l.deal_id is null and ${after === null} and ${isWanted} having count(*) > 0)
        union all
        (select l.deal_id, ${sums} from ${lines.from} l
          where l.currency = t.currency and l.deal_id > ${after ?? ''} and ${isWanted}
          group by l.deal_id order by l.deal_id limit ${limit})
      ) d
    ),
    days as (select l.currency, l.due_on, sum(l.amount) as amount from ${lines.from} l where ${isWanted} group by 1, 2),
    uncounted as materialized (
      ${
        month === null
          ? none
          : sql`
      select why, "dealId" as deal_id, "influencerHandle" as handle, currency, orders, "netAmount"::numeric as net, "earnedAmount"::numeric as earned,
        row_number() over (partition by why order by "dealId" nulls last, currency) as place
      from (${uncountedOrders(month)}) u`
      }
    ),
    uncounted_sums as (select why, currency, sum(orders) as orders, sum(net) as net from uncounted group by 1, 2)`;
}

/** Key with which the next page of a deal's lines begins. */
export type LineKey = Pick<StatementLine, 'currency' | 'dueOn' | 'kind' | 'subject'>;

/** Lists one page of the lines of a deal. */
export async function listDealLines(
  db: Database,
  options: Month & {
    readonly dealId: string;
    readonly limit: number;
    readonly after?: LineKey | null;
  },
): Promise<readonly StatementLine[]> {
  const { month, rules, dealId, limit, after = null } = options;
  const closed = await findClosed(db, month);
  const isBehind =
    after === null
      ? sql`true`
      : sql`(currency, due_on, kind, subject) > (${after.currency}::text, ${after.dueOn}::date, ${after.kind}::text, ${after.subject}::text)`;
  const query = ({ begin, from }: Lines) => sql<StatementLine>`
    ${begin} of_deal as (select * from ${from} l where deal_id = ${dealId} and ${isBehind})
    select ${columns} from of_deal l ${inOrder} limit ${limit}`;
  const { rows } =
    closed === null
      ? await inSets(db, { month, rules }, (trx, kept) =>
          query(openLines({ month, rules, dealId }, kept)).execute(trx),
        )
      : await query(closedLines(closed)).execute(db);
  return rows;
}

const text = (amount: string) => sql`(${sql.raw(amount)})::numeric(24,4)::text`;

/** SQL for the lines of a month: the beginning of the statement, and the relation that has the lines. */
type Lines = { readonly begin: RawBuilder<unknown>; readonly from: RawBuilder<unknown> };

/** The stored lines of a closed statement. */
function closedLines({ statementId }: { readonly statementId: string }): Lines {
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
export type ListedStatement = {
  /** `2026-10`. */
  readonly month: string;
  readonly lines: number;
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
  { limit, after = null }: { readonly limit: number; readonly after?: string | null },
): Promise<readonly ListedStatement[]> {
  const { rows } = await sql<ListedStatement>`
    select to_char(month, 'YYYY-MM') as month, lines::integer as lines, closed_by as by, closed_at as at, reason, hash from ops.statements
    where ${after}::text is null or month < (${after}::text || '-01')::date
    order by month desc limit ${limit}`.execute(db);
  return rows;
}
