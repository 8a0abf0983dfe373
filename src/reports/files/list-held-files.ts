import type { ReadFor } from '../../core/layout.ts';
import type { HeldFile } from '../../core/report.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';

/**
 * Lists the files that are currently held, newest first. A held file is left out if a newer version of the
 * same object was read.
 */
export async function listHeldFiles(
  db: Database,
  options: { readonly sources?: readonly string[]; readonly readFor?: ReadFor } = {},
): Promise<readonly HeldFile[]> {
  const { sources = null, readFor = null } = options;
  return rowsOf<HeldFile>(db)`
    select f.source, f.uri, f.hold_code as code, coalesce(f.hold_message, f.hold_code) as message,
      coalesce(f.hold_help, 'Fix the file and put it back.') as help
    from intake.source_files f
    where f.state = 'held' and (${sources}::text[] is null or f.source = any(${sources}::text[]))
      and (${readFor}::text is null or f.read_for = ${readFor}::text)
      and not exists (
        select 1 from intake.source_files newer
        where newer.source = f.source and newer.read_for = f.read_for and newer.uri = f.uri and newer.source_file_id > f.source_file_id and newer.state <> 'reading'
          and not (newer.state = 'released' and newer.released_by is null))
    order by f.source_file_id desc`;
}
