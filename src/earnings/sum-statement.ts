import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DecimalText } from '../model/order.ts';
import { columns, findClosed, inOrder, inSets, linesOf, uncountedOrders } from './read-statement.ts';
import type { Statement, StatementLine, StatementRules, UncountedOrders } from './statement.ts';

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

export type StatementSums = Omit<Statement, 'lines'> & {
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
 * Sums a statement by deal, because it may have a line for each of a million orders. Computes the earnings of an
 * open month once, for all that is returned.
 *
 * @param options.limit maximum number of deals in each currency.
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
  const { closed, lines } = await findLines(db, { month, rules, dealId });
  const isWanted = sql`(${currency}::text is null or l.currency = ${currency}) and (${dealId}::text is null or l.deal_id = ${dealId})`;
  const sums = sql`
    min(l.influencer_handle) as handle, count(*) filter (where l.kind = 'order') as orders,
    sum(l.net_amount) filter (where l.kind = 'order') as net, sum(l.amount) filter (where l.kind = 'order') as commission,
    sum(l.amount) filter (where l.kind = 'correction') as corrections, sum(l.amount) filter (where l.kind = 'fixed_fee') as fees,
    sum(l.amount) as amount`;
  // Sums only the deals of the page. For a closed statement, an index finds their lines.
  const query = sql<{
    deals: readonly (DealSum & { all_lines: number; all_amount: string })[] | null;
    uncounted: readonly UncountedOrders[] | null;
    days: StatementSums['days'] | null;
  }>`
      ${lines.begin} totals as (
        select l.currency, count(*) as lines, sum(l.amount) as amount from ${lines.from} l where ${isWanted} group by 1
      ),
      paged as (
        select d.deal_id as "dealId", d.handle as "influencerHandle", t.currency, d.orders::integer as orders, ${text('d.net')} as "netAmount",
          ${text('d.commission')} as commission, ${text('d.corrections')} as corrections, ${text('d.fees')} as fees, ${text('d.amount')} as amount,
          t.lines::integer as all_lines, ${text('t.amount')} as all_amount
        from totals t
        cross join lateral (
          (select null::text as deal_id, ${sums} from ${lines.from} l
            where l.currency = t.currency and l.deal_id is null and ${after === null} and ${isWanted} having count(*) > 0)
          union all
          (select l.deal_id, ${sums} from ${lines.from} l
            where l.currency = t.currency and l.deal_id > ${after ?? ''} and ${isWanted}
            group by l.deal_id order by l.deal_id limit ${limit})
        ) d
      )
      select (select jsonb_agg(p order by p.currency, p."dealId" nulls first) from paged p) as deals,
        (select jsonb_agg(d) from (
          select currency, to_char(due_on, 'YYYY-MM-DD') as "dueOn", ${text('sum(amount)')} as amount
          from ${lines.from} l where ${withDays} and ${isWanted} group by currency, due_on order by 1, 2) d) as days,
        ${closed === null ? sql`(select jsonb_agg(u) from (${uncountedOrders(month)}) u)` : sql`null`} as uncounted`;
  const { rows } = closed === null ? await inSets(db, (trx) => query.execute(trx)) : await query.execute(db);
  const [row] = rows;
  const deals = row?.deals ?? [];
  const currencies = [...new Map(deals.map((deal) => [deal.currency, deal])).values()].map((deal) => ({
    currency: deal.currency,
    lines: deal.all_lines,
    amount: deal.all_amount,
  }));
  const { timeZone, returnWindowDays } = closed ?? rules;
  return {
    ...{ month, closed, timeZone, returnWindowDays },
    ...{ currencies, deals, days: row?.days ?? [], uncounted: row?.uncounted ?? [] },
  };
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
  const { closed, lines } = await findLines(db, { month, rules, dealId });
  const isBehind =
    after === null
      ? sql`true`
      : sql`(currency, due_on, kind, subject) > (${after.currency}::text, ${after.dueOn}::date, ${after.kind}::text, ${after.subject}::text)`;
  const query = sql<StatementLine>`
    ${lines.begin} of_deal as (select * from ${lines.from} l where deal_id = ${dealId} and ${isBehind})
    select ${columns} from of_deal l ${inOrder} limit ${limit}`;
  const { rows } = closed === null ? await inSets(db, (trx) => query.execute(trx)) : await query.execute(db);
  return rows;
}

const text = (amount: string) => sql`(${sql.raw(amount)})::numeric(18,4)::text`;

/**
 * SQL for the lines of a month: the beginning of the statement, and the relation that has the lines. For a closed
 * month, those are the stored lines, and for an open month those that closing would write now.
 */
async function findLines(
  db: Database,
  { month, rules, dealId }: Month & { readonly dealId: string | null },
): Promise<{
  readonly closed: Awaited<ReturnType<typeof findClosed>>;
  readonly lines: { readonly begin: RawBuilder<unknown>; readonly from: RawBuilder<unknown> };
}> {
  const closed = await findClosed(db, month);
  const lines =
    closed === null
      ? {
          begin: sql`${linesOf(rules, month, dealId)}, new_lines as materialized (
            select *, earned_amount - closed_before as amount from lines where earned_amount <> closed_before),`,
          from: sql`new_lines`,
        }
      : {
          begin: sql`with`,
          from: sql`(select * from ops.statement_lines where statement_id = ${closed.statementId}::bigint)`,
        };
  return { closed, lines };
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
