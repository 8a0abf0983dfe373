import { type RawBuilder, sql } from 'kysely';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';

/** Identifies one reading of a file. It may stage and seal as long as `reader` is the file's reader. */
export type FileRead = { readonly sourceFileId: string; readonly reader: string };

/**
 * SQL that locks the rows of files against a takeover until the transaction ends: `source_file_id`, `source`, and
 * `place`, the number among them from 1. Returns no row for a file that another reader has taken over. A takeover waits
 * for this lock and then clears what was staged under it. `offset 0` hides from the planner how many files they are, so
 * that it keeps one plan.
 */
export function fenceOf(...reads: readonly FileRead[]): RawBuilder<unknown> {
  return sql`
    select f.source_file_id, f.source, g.place
    from (
      select ${toArrayParameter(reads.map(({ sourceFileId }) => sourceFileId))}::bigint[] as ids,
        ${toTextArrayParameter(reads.map(({ reader }) => reader))}::uuid[] as readers offset 0
    ) given
    cross join lateral unnest(ids, readers) with ordinality as g(source_file_id, reader, place)
    cross join lateral (
      select source_file_id, source from intake.source_files
      where source_file_id = g.source_file_id and reader = g.reader and state = 'reading' for share) f`;
}

/**
 * SQL for a select list of a statement that stages rows: its commit does not wait for the disk. What a reading
 * stages counts once its file is sealed, and that commit waits for all before it.
 */
export const NOT_AWAITING_DISK: RawBuilder<unknown> = sql`set_config('synchronous_commit', 'off', true)`;
