import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DecimalText } from '../model/order.ts';
import { columns, findClosed, inOrder, linesOf, readUncounted } from './read-statement.ts';
import type { Statement, StatementLine, StatementRules } from './statement.ts';

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
};

type Month = { readonly month: string; readonly rules: StatementRules };

/**
 * Sums a statement by deal, because it may have a line for each of a million orders.
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
  },
): Promise<StatementSums> {
  const { month, rules, limit, after = null, currency = null, dealId = null } = options;
  const { closed, lines } = await findLines(db, { month, rules });
  const isWanted = sql`(${currency}::text is null or l.currency = ${currency}) and (${dealId}::text is null or l.deal_id = ${dealId})`;
  const sums = sql`
    min(l.influencer_handle) as handle, count(*) filter (where l.kind = 'order') as orders,
    sum(l.net_amount) filter (where l.kind = 'order') as net, sum(l.amount) filter (where l.kind = 'order') as commission,
    sum(l.amount) filter (where l.kind = 'correction') as corrections, sum(l.amount) filter (where l.kind = 'fixed_fee') as fees,
    sum(l.amount) as amount`;
  // Sums only the deals of the page. For a closed statement, an index finds their lines.
  const { rows } = await sql<DealSum & { all_lines: number; all_amount: string }>`
    ${lines.begin} totals as (
      select l.currency, count(*) as lines, sum(l.amount) as amount from ${lines.from} l where ${isWanted} group by 1
    )
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
    order by t.currency, d.deal_id nulls first`.execute(db);
  const currencies = [...new Map(rows.map((row) => [row.currency, row])).values()].map((row) => ({
    currency: row.currency,
    lines: row.all_lines,
    amount: row.all_amount,
  }));
  const common = { month, currencies, deals: rows };
  if (closed === null) {
    const { timeZone, returnWindowDays } = rules;
    const uncounted = await readUncounted(db, { month, rules });
    return { ...common, closed, timeZone, returnWindowDays, uncounted };
  }
  const { timeZone, returnWindowDays, ...closing } = closed;
  return { ...common, closed: closing, timeZone, returnWindowDays, uncounted: [] };
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
  const { lines } = await findLines(db, { month, rules });
  const isBehind =
    after === null
      ? sql`true`
      : sql`(currency, due_on, kind, subject) > (${after.currency}::text, ${after.dueOn}::date, ${after.kind}::text, ${after.subject}::text)`;
  const { rows } = await sql<StatementLine>`
    ${lines.begin} of_deal as (select * from ${lines.from} l where deal_id = ${dealId} and ${isBehind})
    select ${columns} from of_deal l ${inOrder} limit ${limit}`.execute(db);
  return rows;
}

const text = (amount: string) => sql`${sql.ref(amount)}::numeric(18,4)::text`;

/**
 * SQL for the lines of a month: the beginning of the statement, and the relation that has the lines. For a closed
 * month, those are the stored lines, and for an open month those that closing would write now.
 */
async function findLines(
  db: Database,
  { month, rules }: Month,
): Promise<{
  readonly closed: Awaited<ReturnType<typeof findClosed>>;
  readonly lines: { readonly begin: RawBuilder<unknown>; readonly from: RawBuilder<unknown> };
}> {
  const closed = await findClosed(db, month);
  const lines =
    closed === null
      ? {
          begin: sql`${linesOf(rules, month)}, new_lines as materialized (
            select *, earned_amount - closed_before as amount from lines where earned_amount <> closed_before),`,
          from: sql`new_lines`,
        }
      : {
          begin: sql`with`,
          from: sql`(select * from ops.statement_lines where statement_id = ${closed.statementId}::bigint)`,
        };
  return { closed, lines };
}

/**
 * Sums a statement by currency and the day on which its lines count, which is what their conversion needs: it
 * may have a million lines, but has few days.
 */
export async function sumDays(
  db: Database,
  month: Month,
): Promise<readonly Pick<StatementLine, 'amount' | 'currency' | 'dueOn'>[]> {
  const { lines } = await findLines(db, month);
  const { rows } = await sql<Pick<StatementLine, 'amount' | 'currency' | 'dueOn'>>`
    ${lines.begin} days as (select currency, due_on, sum(amount) as amount from ${lines.from} l group by 1, 2)
    select currency, to_char(due_on, 'YYYY-MM-DD') as "dueOn", ${text('amount')} as amount from days order by 1, 2`.execute(
    db,
  );
  return rows;
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
