import { type RawBuilder, sql } from 'kysely';

/** Identifies one reading of a file. It may stage and seal as long as `reader` is the file's reader. */
export type FileRead = { readonly sourceFileId: string; readonly reader: string };

/**
 * SQL that locks the file's row against a takeover until the transaction ends. Returns no row if another
 * reader has taken over the file. A takeover waits for this lock and then clears what was staged under it.
 */
export function fenceOf({ sourceFileId, reader }: FileRead): RawBuilder<unknown> {
  return sql`
    select source_file_id, source from intake.source_files
    where source_file_id = ${sourceFileId}::bigint and reader = ${reader}::uuid and state = 'reading' for share`;
}

/**
 * SQL for a select list of a statement that stages rows: its commit does not wait for the disk. What a reading
 * stages counts once its file is sealed, and that commit waits for all before it.
 */
export const NOT_AWAITING_DISK: RawBuilder<unknown> = sql`set_config('synchronous_commit', 'off', true)`;
