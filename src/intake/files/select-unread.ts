import { type RawBuilder, sql } from 'kysely';
import { IS_READ_ANEW, type ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/**
 * Selects the files of a listing that must be read: new files, new versions, files whose reading was
 * interrupted, files that a person wants to be read again, files that the program released, and held files
 * whose layout or settings have changed or whose reason may no longer apply, and known versions that are back in
 * the place of another one. If `IS_READ_ANEW` is set for the
 * purpose, also files that were read under other settings. One query handles many files, so that ten thousand
 * unchanged files cost next to nothing.
 */
export async function selectUnread(
  db: Database,
  options: {
    readonly source: string;
    readonly layoutHash: string;
    readonly files: readonly SourceFile[];
    /** Default: orders. */
    readonly readFor?: ReadFor;
  },
): Promise<readonly SourceFile[]> {
  const { source, layoutHash, files, readFor = 'orders' } = options;
  const rows = await rowsOf<{ position: number }>(db)`
    select f.position - 1 as position
    from
      jsonb_to_recordset(${JSON.stringify(files.map(({ uri, version }, index) => ({ position: index + 1, uri, version })))}::jsonb)
      as f(position int, uri text, version text)
    left join intake.source_files known
      on known.source = ${source} and known.read_for = ${readFor} and known.uri = f.uri
        and known.version = f.version
      and known.superseded_by is null
    where known.source_file_id is null or known.state = 'reading' or known.reread_at is not null
      or (known.state = 'released' and known.released_by is null)
      or (known.state = 'held' and (known.layout_hash <> ${layoutHash} or known.hold_is_transient))
      or (known.state in ('sealed', 'duplicate') and ${IS_READ_ANEW[readFor]}::boolean
        and known.layout_hash <> ${layoutHash})
      or ${isBack('known')}
    order by f.position`;
  return rows.flatMap(({ position }) => files[position] ?? []);
}

/**
 * SQL that is true if another version of a file was read after this one. If this one is listed again, its content is
 * back, and what it states is true again.
 *
 * @param known alias of the version's row in intake.source_files.
 */
export function isBack(known: string): RawBuilder<boolean> {
  const k = (column: string) => sql.ref(`${known}.${column}`);
  return sql<boolean>`(${k('state')} in ('sealed', 'duplicate') and exists (
    select from intake.source_files later
    where later.source = ${k('source')} and later.read_for = ${k('read_for')} and later.uri = ${k('uri')}
      and later.version <> ${k('version')}
      and later.superseded_by is null and later.state in ('sealed', 'duplicate')
      and (later.run_id, later.source_file_id) > (${k('run_id')}, ${k('source_file_id')})))`;
}
