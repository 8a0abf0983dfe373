import { type RawBuilder, sql } from 'kysely';
import type { KnownSum } from '../../src/core/money.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { suitLargeStatements } from '../../src/db/large-statements.ts';
import { countOf, type Database, execute, rowsOf } from '../../src/db/statement.ts';
import type { ReportedRun } from '../../src/reports/runs/run-report.ts';
import { dispositionOfOrders } from '../../src/rollups/disposition.ts';

/**
 * The disposition of an order of the job. `unaccounted` must never occur. It exists so that such an order
 * would be visible.
 */
export type Disposition =
  | 'accepted'
  | 'already'
  | 'ready'
  | 'rejected'
  | 'in_doubt'
  | 'held'
  | 'excluded'
  | 'unattributed'
  | 'organic'
  | 'unaccounted';

/** Orders of the job with the same disposition, reason and currency, and their revenue by the rule of the job. */
export type DispositionGroup = KnownSum & {
  readonly disposition: Disposition;
  /**
   * The reason, for excluded, unattributed, held, rejected and in_doubt. `by_backfill` for ready orders that
   * only a backfill posts. Null otherwise.
   */
  readonly reason: string | null;
  readonly currency: string;
  readonly orders: number;
};

/** Reason of ready orders that a backfill posts, not a run. */
export const BY_BACKFILL = 'by_backfill';

/**
 * Counts the orders of a job by disposition, from sums per day, because there may be millions of orders.
 * Separates orders that were accepted since the run began from those that were accepted before, that a
 * backfill posted in the meantime, or that a restored database had lost. Separates ready orders that only a
 * backfill may post from those that a run posts.
 */
export async function readDispositions(
  db: Database,
  { runId, job, sources }: ReportedRun,
  stored: { readonly orders: RawBuilder<unknown>; readonly sums: RawBuilder<unknown> } = STORED,
): Promise<readonly DispositionGroup[]> {
  return rowsOf<DispositionGroup>(db)`
    with accepted as (
      select s.currency, count(*) as orders, sum(s.amount) as amount
      from ${stored.orders} s
      where ${acceptedInRun({ runId, job, sources })}
      group by s.currency
    ),
    taken as (
      select s.currency, count(*) as orders, sum(s.amount) as amount
      from ${stored.orders} s
      where s.job = ${job} and s.source = any(${sources}::text[]) and s.is_open and s.disposition = 'ready'
        and (select e.backfill_id from ledger.entries e where e.entry_id = s.entry_id) is not null
      group by s.currency
    ),
    counted as (
      select case disposition when 'accepted' then 'already' else disposition end as disposition,
        disposition_reason as reason, currency, orders, amount, without_amount
      from ${stored.sums} where job = ${job} and source = any(${sources}::text[])
      union all
      select 'accepted', null, currency, orders, amount, 0 from accepted
      union all
      select 'already', null, currency, -orders, -amount, 0 from accepted
      union all
      select 'ready', ${BY_BACKFILL}, currency, orders, amount, 0 from taken
      union all
      select 'ready', null, currency, -orders, -amount, 0 from taken
    )
    select disposition, reason, currency, sum(orders)::float8 as orders, sum(amount) as amount,
      sum(without_amount)::float8 as "withoutAmount"
    from counted group by disposition, reason, currency
    having sum(orders) <> 0
    order by disposition, sum(orders) desc, reason, currency`;
}

export const STORED = { orders: sql`reporting.order_dispositions`, sums: sql`reporting.funnel_days` };

/**
 * SQL condition: order `s` was accepted since the run began, neither by a backfill in the meantime nor by a
 * run that a restored database had lost.
 */
export function acceptedInRun({ runId, job, sources }: ReportedRun): RawBuilder<boolean> {
  return sql`s.job = ${job} and s.source = any(${sources}::text[]) and s.disposition = 'accepted'
        and s.disposition_at >= (select r.started_at from ops.runs r where r.run_id = ${runId}::bigint)
        and (
          select (
            select (select r.kind from ops.runs r where r.run_id = t.run_id)
            from ledger.attempts t where t.entry_id = e.entry_id and t.attempt = e.attempt)
          from ledger.entries e where e.entry_id = s.entry_id) is distinct from 'backfill'
        and (select r.entry_id from ledger.recovered_claims r where r.entry_id = s.entry_id limit 1) is null`;
}

/** Does the same as `readDispositions`, without the tables of schema `reporting`. */
export function workOutStandings(db: Database, options: ReportedRun): Promise<readonly DispositionGroup[]> {
  const { job, sources } = options;
  const inForce = sql`(
    select o.* from intake.orders o
    where o.is_current and o.source = any(${sources}::text[])
      and (select f.state from intake.source_files f where f.source_file_id = o.source_file_id) = 'sealed')`;
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    await execute(trx)`drop table if exists pg_temp.dispositions_now`;
    await execute(trx)`
      create temporary table dispositions_now
        on commit drop as ${dispositionOfOrders({ job, orders: inForce })}`;
    const sums = sql`(
      select job, source, disposition, disposition_reason, currency, count(*) as orders, sum(amount) as amount,
        count(*) - count(amount) as without_amount
      from dispositions_now group by 1, 2, 3, 4, 5) n`;
    return readDispositions(trx, options, { orders: sql`dispositions_now`, sums });
  });
}

/**
 * Counts the orders of sealed files, each in the file that stated it first. It does not use the stored sums,
 * because this count is used to verify those sums.
 */
export async function countOrders(db: Database, sources: readonly string[]): Promise<number> {
  return countOf(db)`
    select coalesce(sum(f.orders_new), 0) as orders from intake.source_files f
    where f.source = any(${sources}::text[]) and f.state = 'sealed'`;
}

/** A code (or link or handle) that orders contain and that no influencer owns. */
export type UnownedCode = KnownSum & {
  readonly code: string;
  readonly currency: string;
  readonly orders: number;
};

type UnownedCodes = { readonly codes: readonly UnownedCode[]; readonly total: number };

/**
 * Lists codes in orders that no influencer owns, by revenue, as of the last refresh. Revenue of different
 * currencies cannot be compared, so the top code of each currency comes first. An order with two such codes
 * counts for both. An order without a code is listed by its link or handle.
 */
export async function listUnownedCodes(
  db: Database,
  options: { readonly job: string; readonly sources: readonly string[]; readonly limit: number },
): Promise<UnownedCodes> {
  const rows = await rowsOf<UnownedCode & { total: number }>(db)`
    with summed as (
      select min(code) as code, currency, sum(orders) as orders, sum(amount) as amount,
        sum(without_amount) as without_amount,
        row_number() over (partition by currency order by sum(amount) desc nulls last, min(code)) as place
      from reporting.code_days
      where job = ${options.job} and source = any(${options.sources}::text[])
      group by code_folded, currency
    )
    select code, currency, orders::float8, amount, without_amount::float8 as "withoutAmount",
      (count(*) over ())::float8 as total
    from summed order by place, currency limit ${options.limit}`;
  return { codes: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 };
}
