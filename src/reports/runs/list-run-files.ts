import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { unreportedRuns } from './unreported-runs.ts';

export type RunFile = {
  readonly sourceFileId: string;
  readonly source: string;
  readonly uri: string;
  readonly readFor: string;
  readonly state: string;
  /** Null while the file is being read. */
  readonly rows: number | null;
  readonly rejectedRows: number;
  readonly holdMessage: string | null;
  /** The run that read the file: the requested one, or an earlier one that could not report it. */
  readonly runId: string;
};

export type RunFiles = {
  /** The files with the most rows. */
  readonly files: readonly RunFile[];
  readonly total: number;
};

/**
 * Lists the files that a run's counts include: its own, and those of earlier runs that ended without a report.
 *
 * @param options.isReported whether the run stored its counts; otherwise only its own files are listed.
 */
export async function listRunFiles(
  db: Database,
  options: { readonly runId: string; readonly isReported: boolean; readonly limit: number },
): Promise<RunFiles> {
  const { runId, isReported, limit } = options;
  const rows = await rowsOf<RunFile & { total: number }>(db)`
    select f.source_file_id as "sourceFileId", f.source, f.uri, f.read_for as "readFor", f.state, f.rows_read::float8 as rows,
      f.rejected_rows::float8 as "rejectedRows", f.hold_message as "holdMessage", f.run_id as "runId", count(*) over ()::float8 as total
    from intake.source_files f
    where f.run_id in ${isReported ? unreportedRuns(runId, 'reported') : sql`(${runId}::bigint)`}
    order by f.rows_read desc nulls last, f.source_file_id limit ${limit}`;
  return { files: rows.map(({ total: _, ...file }) => file), total: rows[0]?.total ?? 0 };
}
