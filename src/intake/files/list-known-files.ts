import type { ReadFor } from '../../core/layout.ts';
import type { AgeBasis } from '../../core/time/file-age.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/** The last reading of a file name, in any version. */
export type KnownFile = {
  readonly sourceFileId: string;
  readonly source: string;
  readonly readFor: ReadFor;
  readonly uri: string;
  readonly version: string;
  readonly layout: string;
  readonly state: 'reading' | 'sealed' | 'held' | 'duplicate' | 'released';
  readonly sizeBytes: number;
  readonly rowsRead: number | null;
  readonly rejectedRows: number;
  /** Why the file is held, or was held before it was released. */
  readonly holdMessage: string | null;
  readonly holdHelp: string | null;
  /** The file with the same content. */
  readonly duplicateOf: string | null;
  /** Null if it was not released, or if the program ended the hold. */
  readonly releasedBy: string | null;
  readonly releaseReason: string | null;
  readonly isRereadWanted: boolean;
  readonly olderOrders: number;
  readonly ageBasis: AgeBasis | null;
};

/** Lists the last reading of each file name, by source and name. */
export async function listKnownFiles(
  db: Database,
  filter: { readonly source?: string; readonly layout?: string; readonly uri?: string } = {},
): Promise<readonly KnownFile[]> {
  const { source = null, layout = null, uri = null } = filter;
  return rowsOf<KnownFile>(db)`
    select distinct
      on (f.source, f.uri, f.read_for) f.source_file_id as "sourceFileId", f.source, f.read_for as "readFor",
      f.uri, f.version,
      f.layout, f.state, f.size_bytes::float8 as "sizeBytes", f.rows_read::float8 as "rowsRead",
      f.rejected_rows::float8 as "rejectedRows",
      f.hold_message as "holdMessage", f.hold_help as "holdHelp", original.uri as "duplicateOf",
      f.released_by as "releasedBy",
      f.release_reason as "releaseReason", f.reread_at is not null as "isRereadWanted",
      (f.orders_older + f.rows_older)::float8 as "olderOrders", f.age_basis as "ageBasis"
    from intake.source_files f
      left join intake.source_files original on original.source_file_id = f.duplicate_of
    where f.superseded_by is null and (${source}::text is null or f.source = ${source}::text)
      and (${layout}::text is null or f.layout = ${layout}::text)
      and (${uri}::text is null or f.uri = ${uri}::text)
      and not (f.state = 'released' and f.released_by is null and exists (
        select from intake.source_files other
        where other.source = f.source and other.read_for = f.read_for and other.uri = f.uri
          and other.superseded_by is null
          and other.source_file_id <> f.source_file_id))
    order by f.source, f.uri, f.read_for, f.source_file_id desc`;
}
