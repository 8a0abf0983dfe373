import { sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';

const HELP = 'Keep the correct rows, remove the others, and put the file back.';

export type Contradictions = {
  readonly new: number;
  readonly changed: number;
  readonly cancelled: number;
  readonly rows: number;
};

/** Orders that the file states twice, differently, become rejected rows: which of the two is right nobody can tell. */
export async function rejectContradictions(
  trx: Transaction<DB>,
  options: { readonly sourceFileId: string; readonly runId: string },
): Promise<Contradictions> {
  const { rows } = await sql<Record<keyof Contradictions, string>>`
    with taken as (
      delete from intake.orders where source_file_id = ${options.sourceFileId}::bigint and conflicting_line_no is not null
      returning *
    ),
    rejected as (
      insert into intake.rejected_rows (source_file_id, line_no, record_no, code, reason, help, row_count, run_id)
      select source_file_id, line_no, record_no, 'conflicting_rows',
        'The file states this order again on line ' || conflicting_line_no || ', with other content.', ${HELP},
        row_count, ${options.runId}::bigint
      from taken
    )
    select count(*) filter (where is_current) as new, count(*) filter (where not is_current) as changed,
      count(*) filter (where cancelled_at is not null or exclusion = 'cancelled') as cancelled,
      coalesce(sum(row_count), 0) as rows
    from taken`.execute(trx);
  const [row] = rows;
  return {
    new: Number(row?.new ?? 0),
    changed: Number(row?.changed ?? 0),
    cancelled: Number(row?.cancelled ?? 0),
    rows: Number(row?.rows ?? 0),
  };
}
