import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import type {
  AdjustmentGroup,
  CodeProblem,
  OrderCounts,
  OrdersReport,
  Standing,
  StandingGroup,
} from '../model/orders-report.ts';
import { listDoubleCredits } from './double-credits.ts';
import { listDoubts } from './list-doubts.ts';
import { listHeldFiles } from './list-held-files.ts';
import { listRejected } from './list-rejected.ts';
import { listUnownedCodes } from './list-unowned-codes.ts';
import { standingOfOrders } from './standing.ts';
import { unreportedRuns } from './unreported-runs.ts';

/** A summary shows so many of each kind and says how to see the rest. */
const SHOWN_ROWS = 5;
const SHOWN_CODES = 10;

const BY_BACKFILL = 'by_backfill';

/**
 * What a run of `attribute-orders` did and where every order of its job stands after it. Called when the run has settled what it claimed
 * and `refreshReporting` has taken note of it, before it is ended.
 *
 * @param options.sources names of the job's sources.
 * @param options.codeProblems what could not be used of codes.csv.
 * @param options.areReportsStale the refresh failed: where each order stands is worked out anew, which takes a while when there are many, and
 * codes that credited nobody are not listed.
 */
export async function reportOrders(
  db: Database,
  options: {
    readonly runId: string;
    readonly job: string;
    readonly sources: readonly string[];
    readonly codeProblems: readonly CodeProblem[];
    readonly areReportsStale?: boolean;
  },
): Promise<OrdersReport> {
  const { runId, job, sources, codeProblems, areReportsStale = false } = options;
  const standings = areReportsStale ? await workOutStandings(db, options) : await readStandings(db, options);
  const files = await readFiles(db, runId);
  const counts = toCounts(standings, { ...files, orders: await countOrders(db, sources) });
  const unowned = areReportsStale
    ? { codes: [], total: 0 }
    : await listUnownedCodes(db, { job, sources, limit: SHOWN_CODES });
  const rejectedRows = await listRejected(db, { reportOf: runId, limit: SHOWN_ROWS });
  const heldFiles = await listHeldFiles(db, { sources });
  const doubleCredits = await listDoubleCredits(db, { job });
  const { rejected, held, in_doubt: doubts } = counts.entries;
  return {
    kind: 'attribute-orders',
    counts,
    amounts: standings
      .filter(({ standing }) => standing === 'accepted')
      .map(({ currency, amount }) => ({ currency, accepted: amount })),
    sumsAddUp:
      countOf(standings, 'unaccounted') === 0 &&
      addUp(counts) &&
      files.rows === files.orderRows + files.rejectedRows,
    doubts: doubts + doubleCredits.length,
    needsAttention:
      codeProblems.length > 0 || rejectedRows.length > 0 || heldFiles.length > 0 || rejected > 0 || held > 0,
    details: {
      standings,
      duplicateFiles: files.duplicates,
      unownedCodes: unowned.codes,
      unownedCodesTotal: unowned.total,
      rejectedRows,
      heldFiles,
      doubts: await listDoubts(db, { job, limit: SHOWN_ROWS }),
      doubleCredits,
      adjustments: await readAdjustments(db, runId),
      codeProblems,
    },
  };
}

/** Whether every order is counted, and counted once: orders = Σ excluded + unattributed + organic + Σ entries. */
export function addUp({ orders, excluded, unattributed, organic, entries }: OrderCounts): boolean {
  const parts = [...Object.values(excluded), unattributed, organic, ...Object.values(entries)];
  return orders === parts.reduce((sum, part) => sum + part, 0);
}

/**
 * From the sums a day, since the orders themselves may be millions. What was accepted since the run began is told from what was before,
 * from what a backfill has posted meanwhile, and from what a database that was restored had lost; what only a backfill may post from what a run does.
 */
async function readStandings(
  db: Database,
  { runId, job, sources }: StandingsOptions,
  stored: { readonly orders: RawBuilder<unknown>; readonly sums: RawBuilder<unknown> } = STORED,
): Promise<readonly StandingGroup[]> {
  const { rows } = await sql<Omit<StandingGroup, 'orders'> & { orders: string }>`
    with accepted as (
      select s.currency, count(*) as orders, sum(s.amount) as amount
      from ${stored.orders} s
      where s.job = ${job} and s.source = any(${sources}::text[]) and s.standing = 'accepted'
        and s.standing_at >= (select r.started_at from ops.runs r where r.run_id = ${runId}::bigint)
        and (
          select (
            select (select r.kind from ops.runs r where r.run_id = t.run_id)
            from ledger.attempts t where t.entry_id = e.entry_id and t.attempt = e.attempt)
          from ledger.entries e where e.entry_id = s.entry_id) is distinct from 'backfill'
        and (select r.entry_id from ledger.recovered_claims r where r.entry_id = s.entry_id limit 1) is null
      group by s.currency
    ),
    taken as (
      select s.currency, count(*) as orders, sum(s.amount) as amount
      from ${stored.orders} s
      where s.job = ${job} and s.source = any(${sources}::text[]) and s.is_open and s.standing = 'ready'
        and (select e.backfill_id from ledger.entries e where e.entry_id = s.entry_id) is not null
      group by s.currency
    ),
    counted as (
      select case standing when 'accepted' then 'already' else standing end as standing, standing_reason as reason, currency, orders, amount
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
    select standing, reason, currency, sum(orders) as orders, sum(amount) as amount
    from counted group by standing, reason, currency
    having sum(orders) <> 0
    order by standing, sum(orders) desc, reason, currency`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

type StandingsOptions = { readonly runId: string; readonly job: string; readonly sources: readonly string[] };

const STORED = { orders: sql`reporting.order_standings`, sums: sql`reporting.funnel_days` };

/** The same without the tables of `reporting`. */
function workOutStandings(db: Database, options: StandingsOptions): Promise<readonly StandingGroup[]> {
  const { job, sources } = options;
  const inForce = sql`(
    select o.* from intake.orders o
    where o.is_current and o.source = any(${sources}::text[])
      and (select f.state from intake.source_files f where f.source_file_id = o.source_file_id) = 'sealed')`;
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    await sql`drop table if exists pg_temp.standings_now`.execute(trx);
    await sql`
      create temporary table standings_now on commit drop as ${standingOfOrders({ job, orders: inForce })}`.execute(
      trx,
    );
    const sums = sql`(
      select job, source, standing, standing_reason, currency, count(*) as orders, sum(amount) as amount
      from standings_now group by 1, 2, 3, 4, 5) n`;
    return readStandings(trx, options, { orders: sql`standings_now`, sums });
  });
}

/** Orders in force, counted where they are stored and not where they are added up: a sum cannot vouch for itself. */
async function countOrders(db: Database, sources: readonly string[]): Promise<number> {
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

type Files = { sealed: number; rows: number; orderRows: number; rejectedRows: number; duplicates: number };

/** Files of the run, and of runs that could not report them. Rows count once their file is sealed: those of a held file are neither used nor lost, the file is shown instead. */
async function readFiles(db: Database, runId: string): Promise<Files> {
  const { rows } = await sql<Record<keyof Files, string>>`
    select count(*) filter (where state = 'sealed') as sealed,
      coalesce(sum(rows_read) filter (where state = 'sealed'), 0) as rows,
      coalesce(sum(order_rows) filter (where state = 'sealed'), 0) as "orderRows",
      coalesce(sum(rejected_rows) filter (where state = 'sealed'), 0) as "rejectedRows",
      count(*) filter (where state = 'duplicate') as duplicates
    from intake.source_files where run_id in ${unreportedRuns(runId, 'reported')}`.execute(db);
  const [row] = rows;
  const number = (key: keyof Files): number => Number(row?.[key] ?? 0);
  return {
    sealed: number('sealed'),
    rows: number('rows'),
    orderRows: number('orderRows'),
    rejectedRows: number('rejectedRows'),
    duplicates: number('duplicates'),
  };
}

function toCounts(standings: readonly StandingGroup[], files: Files & { orders: number }): OrderCounts {
  const excluded: Record<string, number> = {};
  for (const { standing, reason, orders } of standings) {
    if (standing === 'excluded') excluded[reason ?? 'other'] = (excluded[reason ?? 'other'] ?? 0) + orders;
  }
  return {
    files: files.sealed,
    rows: files.rows,
    orders: files.orders,
    excluded,
    unattributed: countOf(standings, 'unattributed'),
    organic: countOf(standings, 'organic'),
    rejected_rows: files.rejectedRows,
    entries: {
      accepted: countOf(standings, 'accepted'),
      rejected: countOf(standings, 'rejected'),
      in_doubt: countOf(standings, 'in_doubt'),
      held: countOf(standings, 'held'),
      ready: countOf(standings, 'ready'),
      already: countOf(standings, 'already'),
    },
    ready_by_backfill: countOf(
      standings.filter(({ reason }) => reason === BY_BACKFILL),
      'ready',
    ),
  };
}

function countOf(standings: readonly StandingGroup[], which: Standing): number {
  return standings.reduce((sum, { standing, orders }) => (standing === which ? sum + orders : sum), 0);
}

async function readAdjustments(db: Database, runId: string): Promise<readonly AdjustmentGroup[]> {
  const { rows } = await sql<{ kind: string; orders: string }>`
    select kind, count(distinct entry_id) as orders from ledger.adjustments where run_id = ${runId}::bigint
    group by kind order by kind`.execute(db);
  return rows.map(({ kind, orders }) => ({ kind, orders: Number(orders) }));
}
