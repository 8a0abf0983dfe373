import { type RawBuilder, sql } from 'kysely';

/** The read of a file that may stage and seal: as long as `reader` is the file's reader. */
export type FileRead = { readonly sourceFileId: string; readonly reader: string };

/**
 * The file's row, locked against a takeover until the statement's commit; no row when another reader has taken the file over.
 * A takeover waits for the lock, and then clears what was staged under it.
 */
export function fenceOf({ sourceFileId, reader }: FileRead): RawBuilder<unknown> {
  return sql`
    select source_file_id, source from intake.source_files
    where source_file_id = ${sourceFileId}::bigint and reader = ${reader}::uuid and state = 'reading' for share`;
}
