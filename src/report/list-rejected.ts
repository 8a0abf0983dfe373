import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { RejectedRowPlace } from '../model/report.ts';
import { unreportedRuns } from './unreported-runs.ts';

export type RejectedFilter = {
  readonly runId?: string;
  /** Run whose report they belong to: its own, and those of runs before it that could not report them. */
  readonly reportOf?: string;
  readonly sources?: readonly string[];
  /** Part of the file's address. */
  readonly file?: string;
  /** Machine name of the problem. */
  readonly code?: string;
  readonly limit?: number;
};

type Row = Omit<RejectedRowPlace, 'line' | 'record'> & { readonly line: string; readonly record: string };

/** Rows that could not be used, in the order of their files and lines; those of held files too, not those of a file that is being read. */
export async function listRejected(
  db: Database,
  filter: RejectedFilter = {},
): Promise<readonly RejectedRowPlace[]> {
  const { rows } = await sql<Row>`
    select r.code, r.line_no as line, r.record_no as record, r.column_name as column, r.value, r.reason, r.help,
      r.row_count as "rowCount", f.source_file_id as "sourceFileId", f.source, f.uri, f.version, r.run_id as "runId"
    ${matching(filter)}
    order by f.source_file_id, r.record_no
    limit ${filter.limit ?? null}::bigint`.execute(db);
  return rows.map((row) => ({ ...row, line: Number(row.line), record: Number(row.record) }));
}

/** How many rows of files the same filter finds, without its limit. */
export async function countRejected(db: Database, filter: RejectedFilter = {}): Promise<number> {
  const { rows } = await sql<{
    rows: string;
  }>`select coalesce(sum(r.row_count), 0) as rows ${matching(filter)}`.execute(db);
  return Number(rows[0]?.rows ?? 0);
}

function matching({
  runId = null,
  reportOf = null,
  sources = null,
  file = null,
  code = null,
}: { [Key in keyof RejectedFilter]?: RejectedFilter[Key] | null }) {
  return sql`
    from intake.rejected_rows r
    cross join lateral (select f.* from intake.source_files f where f.source_file_id = r.source_file_id limit 1) f
    where f.state <> 'reading'
      and not exists (select from intake.source_files later where later.source_file_id = f.superseded_by and later.state = 'sealed')
      and (${runId}::bigint is null or r.run_id = ${runId}::bigint)
      and (${reportOf}::bigint is null or r.run_id in ${unreportedRuns(reportOf ?? '0', 'completed')})
      and (${sources}::text[] is null or f.source = any(${sources}::text[]))
      and (${file}::text is null or position(${file}::text in f.uri) > 0)
      and (${code}::text is null or r.code = ${code}::text)`;
}
