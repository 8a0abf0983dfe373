import { type RawBuilder, sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import type { DecimalText } from '../../core/money.ts';
import type { FileCounts, FileDetails, FooterRowInFile } from '../../core/report.ts';
import { countsOf, type Database, rowsOf } from '../../db/statement.ts';
import { listFindings } from '../checks/read-checks.ts';
import { countDoubts, listDoubleCredits, listDoubts } from '../doubts/list-doubts.ts';
import { listHeldFiles } from '../files/list-files.ts';
import { countUnusedRows, listRejected } from '../files/list-rejected.ts';
import { unreportedRuns } from './list-runs.ts';

/** What the reports of several kinds of jobs have in common: files, doubts and entries. */

export type ReportedRun = {
  readonly runId: string;
  readonly job: string;
  /** Names of the job's sources. */
  readonly sources: readonly string[];
};

/** Maximum number of rows of each kind in a summary, which says how to see the rest. */
const SHOWN_ROWS = 5;

/** The files that a run has read, and the problems that a person must fix. */
export type RunFiles = {
  readonly counts: FileCounts;
  readonly details: FileDetails;
  /** Rows without relevant content, by reason. */
  readonly passedOver: Readonly<Record<string, number>>;
  /** Whether rows were rejected, files are held, or no row of a file could be used. */
  readonly needAttention: boolean;
  readonly addUp: boolean;
};

type Count = 'files' | 'rows' | 'used' | 'rejected' | 'duplicates';

/**
 * Reads the files of a run, and of earlier runs of its job that could not report them. Rows count once their
 * file is sealed. Those of a held file are neither used nor lost; the file is shown instead.
 *
 * @param options.readFor only files held for this purpose; default: all held files of the sources.
 */
export async function readRunFiles(
  db: Database,
  options: Omit<ReportedRun, 'job'> & { readonly readFor?: ReadFor },
): Promise<RunFiles> {
  const { runId, ...held } = options;
  const ofRun = sql`f.run_id in ${unreportedRuns(runId, 'reported')}`;
  const sums = await countsOf<Count>(db)`
    select count(*) filter (where f.state = 'sealed') as files,
      count(*) filter (where f.state = 'duplicate') as duplicates,
      coalesce(sum(f.rows_read) filter (where f.state = 'sealed'), 0) as rows,
      coalesce(sum(case f.read_for when 'orders' then f.order_rows when 'customers' then f.customer_rows
            else f.other_rows end)
        filter (where f.state = 'sealed'), 0) as used,
      coalesce(sum(f.rejected_rows) filter (where f.state = 'sealed'), 0) as rejected
    from intake.source_files f where ${ofRun}`;
  const passed = await rowsOf<{ why: string; rows: number }>(db)`
    select p.key as why, sum(p.value::bigint)::float8 as rows
    from intake.source_files f cross join lateral jsonb_each_text(f.passed_over) p
    where ${ofRun} and f.state = 'sealed' group by p.key order by p.key`;
  const footerRows = await rowsOf<FooterRowInFile>(db)`
    select f.source, f.uri, (r ->> 'line')::float8 as line, r ->> 'text' as text, r ->> 'by' as by
    from intake.source_files f cross join lateral jsonb_array_elements(f.footer) r
    where ${ofRun} and f.state = 'sealed' and f.footer is not null order by f.source, f.uri, 3`;
  const rejectedRows = await listRejected(db, {
    reportOf: runId,
    sources: options.sources,
    limit: SHOWN_ROWS,
  });
  const heldFiles = await listHeldFiles(db, held);
  return {
    counts: { files: sums.files, rows: sums.rows, rejected_rows: sums.rejected },
    details: {
      duplicateFiles: sums.duplicates,
      rejectedRows,
      unusedRows: await countUnusedRows(db, { readFor: 'orders', ...options }),
      footerRows,
      heldFiles,
      warnings: await listFindings(db, { reportOf: runId }),
    },
    passedOver: Object.fromEntries(passed.map((row) => [row.why, row.rows])),
    needAttention: rejectedRows.length > 0 || heldFiles.length > 0,
    addUp: sums.rows === sums.used + sums.rejected,
  };
}

/** Reads the first doubts of a job, all its double credits, and the number of both. */
export async function readRunDoubts(
  db: Database,
  { job, shown = SHOWN_ROWS }: { job: string; shown?: number },
) {
  const doubts = await listDoubts(db, { job, limit: shown });
  const doubleCredits = await listDoubleCredits(db, { job });
  return { count: (await countDoubts(db, job)) + doubleCredits.length, details: { doubts, doubleCredits } };
}

/**
 * Condition: the run made the attempt that decided an entry.
 * @param entry the name of the entry in the query.
 */
export function isOfRun(runId: string, entry = 'e'): RawBuilder<boolean> {
  return sql`exists (
    select from ledger.attempts t
    where t.entry_id = ${sql.ref(`${entry}.entry_id`)} and t.attempt = ${sql.ref(`${entry}.attempt`)}
      and t.run_id = ${runId}::bigint)`;
}

/** The number of what has a name, such as a state: what a query counts or sums up by group. */
export type NamedCount = { readonly name: string; readonly count: number };

/** Returns the counts of these names, 0 for a name that does not occur. A name may occur in several rows. */
export function countsBy<Name extends string>(
  rows: readonly NamedCount[],
  names: readonly Name[],
): Readonly<Record<Name, number>> {
  const counts = names.map((name) => [name, sumOf(rows.filter((row) => row.name === name))]);
  return Object.fromEntries(counts) as Record<Name, number>;
}

/** Returns the sum of all counts. */
export function sumOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** How many sent entries a run found changed afterwards, by kind of change and currency, if they have one. */
export type AdjustmentGroup = {
  /** `again as posted`: nothing is left of an earlier change. */
  readonly kind: string;
  readonly currency: string | null;
  readonly entries: number;
  /** By how much they changed; of held ones, what was sent. */
  readonly amount: DecimalText;
};

export function readAdjustments(db: Database, runId: string) {
  return rowsOf<AdjustmentGroup>(db)`
    select case
        when kind = 'changed' and new_body_hash = old_body_hash then 'again as posted' else kind
      end as kind,
      currency, count(distinct entry_id)::float8 as entries,
      coalesce(sum(case when kind = 'held' then old_amount
        when not is_elsewhere then coalesce(new_amount, 0) - old_amount end), 0)::numeric(24,4)::text as amount
    from ledger.adjustments
    where run_id = ${runId}::bigint and not is_decision
    group by 1, currency order by 1, currency`;
}
