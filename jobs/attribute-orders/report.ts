import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import type {
  CodeProblem,
  DoubtDetails,
  FileCounts,
  FileDetails,
  RunReport,
} from '../../src/model/report.ts';
import { listDoubleCredits, listDoubts } from '../../src/report/list-doubts.ts';
import { listHeldFiles } from '../../src/report/list-held-files.ts';
import { listRejected } from '../../src/report/list-rejected.ts';
import { unreportedRuns } from '../../src/report/unreported-runs.ts';
import {
  BY_BACKFILL,
  countOrders,
  listUnownedCodes,
  readStandings,
  type Standing,
  type StandingGroup,
  type UnownedCode,
  workOutStandings,
} from './read-standings.ts';

/**
 * What a run of `attribute-orders` came to. `sumsAddUp`: orders = Σ excluded + unattributed + organic + Σ entries, and
 * rows = rows of orders + rejected rows.
 */
export type OrdersReport = RunReport<'attribute-orders', OrderCounts, OrderDetails>;

/**
 * What a run did and where every order of the job stands after it.
 * `entries.accepted` counts this run, as do the files and rows; the others are the job's totals after it, so that
 * orders = Σ excluded + unattributed + organic + Σ entries.
 */
export type OrderCounts = FileCounts & {
  /** Orders of the job known after this run, each counted once. */
  readonly orders: number;
  /** Orders that are never posted, by reason. */
  readonly excluded: Readonly<Record<string, number>>;
  /** Orders with a code, link or handle that nobody owns. */
  readonly unattributed: number;
  /** Orders without any code, link or handle. */
  readonly organic: number;
  readonly entries: {
    /** Accepted in this run. */
    readonly accepted: number;
    readonly rejected: number;
    readonly in_doubt: number;
    /** Not to be sent until a person or an event decides: ambiguous codes, evidence of another poster, written off. */
    readonly held: number;
    readonly ready: number;
    /** Accepted before this run. */
    readonly already: number;
  };
  /** Of `entries.ready`: those that a backfill has taken which is not finished. It alone posts them. */
  readonly ready_by_backfill: number;
};

/** Orders that changed after they were sent, noted in this run. */
export type AdjustmentGroup = { readonly kind: string; readonly orders: number };

/** What the summary of a run says beyond its counts. */
export type OrderDetails = FileDetails &
  DoubtDetails & {
    readonly standings: readonly StandingGroup[];
    /** The most valuable ones of each currency, at most 10 in all. */
    readonly unownedCodes: readonly UnownedCode[];
    readonly unownedCodesTotal: number;
    readonly adjustments: readonly AdjustmentGroup[];
    /** What could not be used of codes.csv. */
    readonly codeProblems: readonly CodeProblem[];
  };

/** A summary shows so many of each kind and says how to see the rest. */
const SHOWN_ROWS = 5;
const SHOWN_CODES = 10;

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
