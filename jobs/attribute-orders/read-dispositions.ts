import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { suitLargeStatements } from '../../src/db/large-statements.ts';
import type { DecimalText } from '../../src/model/order.ts';
import { dispositionOfOrders } from '../../src/report/disposition.ts';

/** Where an order of the job stands. `unaccounted` must never occur: it is shown so that it can't hide. */
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

/** Orders of the job that stand alike. */
export type DispositionGroup = {
  readonly disposition: Disposition;
  /** Why, for excluded, unattributed, held, rejected and in_doubt; `by_backfill` for what only a backfill posts; null otherwise. */
  readonly reason: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Revenue by the job's rule, in currency. */
  readonly amount: DecimalText;
};

/** Why an order that is ready is not the run's to post. */
export const BY_BACKFILL = 'by_backfill';

/**
 * From the sums a day, since the orders themselves may be millions. What was accepted since the run began is told from what was before,
 * from what a backfill has posted meanwhile, and from what a database that was restored had lost; what only a backfill may post from what a run does.
 */
export async function readDispositions(
  db: Database,
  { runId, job, sources }: DispositionsOptions,
  stored: { readonly orders: RawBuilder<unknown>; readonly sums: RawBuilder<unknown> } = STORED,
): Promise<readonly DispositionGroup[]> {
  const { rows } = await sql<Omit<DispositionGroup, 'orders'> & { orders: string }>`
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
      select case disposition when 'accepted' then 'already' else disposition end as disposition, disposition_reason as reason, currency, orders, amount
      from ${stored.sums} where job = ${job} and source = any(${sources}::text[])
      union all
      select 'accepted', null, currency, orders, amount from accepted
      union all
      select 'already', null, currency, -orders, -amount from accepted
      union all
      select 'ready', ${BY_BACKFILL}, currency, orders, amount from taken
      union all
      select 'ready', null, currency, -orders, -amount from taken
    )
    select disposition, reason, currency, sum(orders) as orders, sum(amount) as amount
    from counted group by disposition, reason, currency
    having sum(orders) <> 0
    order by disposition, sum(orders) desc, reason, currency`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

export type DispositionsOptions = {
  readonly runId: string;
  readonly job: string;
  readonly sources: readonly string[];
};

export const STORED = { orders: sql`reporting.order_dispositions`, sums: sql`reporting.funnel_days` };

/**
 * Order `s` was accepted since the run began, and neither by a backfill meanwhile nor by a run that a restored database had lost.
 */
export function acceptedInRun({ runId, job, sources }: DispositionsOptions): RawBuilder<boolean> {
  return sql`s.job = ${job} and s.source = any(${sources}::text[]) and s.disposition = 'accepted'
        and s.disposition_at >= (select r.started_at from ops.runs r where r.run_id = ${runId}::bigint)
        and (
          select (
            select (select r.kind from ops.runs r where r.run_id = t.run_id)
            from ledger.attempts t where t.entry_id = e.entry_id and t.attempt = e.attempt)
          from ledger.entries e where e.entry_id = s.entry_id) is distinct from 'backfill'
        and (select r.entry_id from ledger.recovered_claims r where r.entry_id = s.entry_id limit 1) is null`;
}

/** The same without the tables of `reporting`. */
export function workOutStandings(
  db: Database,
  options: DispositionsOptions,
): Promise<readonly DispositionGroup[]> {
  const { job, sources } = options;
  const inForce = sql`(
    select o.* from intake.orders o
    where o.is_current and o.source = any(${sources}::text[])
      and (select f.state from intake.source_files f where f.source_file_id = o.source_file_id) = 'sealed')`;
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    await sql`drop table if exists pg_temp.dispositions_now`.execute(trx);
    await sql`
      create temporary table dispositions_now on commit drop as ${dispositionOfOrders({ job, orders: inForce })}`.execute(
      trx,
    );
    const sums = sql`(
      select job, source, disposition, disposition_reason, currency, count(*) as orders, sum(amount) as amount
      from dispositions_now group by 1, 2, 3, 4, 5) n`;
    return readDispositions(trx, options, { orders: sql`dispositions_now`, sums });
  });
}

/** Orders in force, counted where they are stored and not where they are added up: a sum cannot vouch for itself. */
export async function countOrders(db: Database, sources: readonly string[]): Promise<number> {
  const { rows } = await sql<{ orders: string }>`
    select coalesce(sum(o.orders), 0) as orders
    from (
      select source_file_id, count(*) as orders from intake.orders
      where is_current and source = any(${sources}::text[]) group by source_file_id) o
    where (select f.state from intake.source_files f where f.source_file_id = o.source_file_id) = 'sealed'`.execute(
    db,
  );
  return Number(rows[0]?.orders ?? 0);
}

/** A code (or link or handle) that orders carry and no influencer owns. */
export type UnownedCode = {
  readonly code: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: DecimalText;
};

type UnownedCodes = { readonly codes: readonly UnownedCode[]; readonly total: number };

/**
 * Codes that orders carry and no influencer owns, by revenue, as of the last refresh. Revenue of different currencies can't be compared, so the
 * first of each currency come first. An order with two such codes counts for both; without a code its link or handle stands in.
 */
export async function listUnownedCodes(
  db: Database,
  options: { readonly job: string; readonly sources: readonly string[]; readonly limit: number },
): Promise<UnownedCodes> {
  const { rows } = await sql<{
    code: string;
    currency: string;
    orders: string;
    amount: string;
    total: string;
  }>`
    with summed as (
      select min(code) as code, currency, sum(orders) as orders, sum(amount) as amount,
        row_number() over (partition by currency order by sum(amount) desc, min(code)) as place
      from reporting.code_days
      where job = ${options.job} and source = any(${options.sources}::text[])
      group by code_folded, currency
    )
    select code, currency, orders, amount, count(*) over () as total
    from summed order by place, currency limit ${options.limit}`.execute(db);
  return {
    codes: rows.map(({ total: _total, ...row }) => ({ ...row, orders: Number(row.orders) })),
    total: Number(rows[0]?.total ?? 0),
  };
}
