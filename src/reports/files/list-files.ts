import { type RawBuilder, sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import type { FooterRow } from '../../core/record.ts';
import type { HeldFile } from '../../core/report.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import type { KnownFile } from '../../intake/files/list-known-files.ts';
import type { Having, Page } from '../wanted-rows.ts';

/** The last reading of a file name, with the run that read it. */
export type ListedFile = Omit<KnownFile, 'version' | 'state' | 'olderOrders' | 'ageBasis'> & {
  /** `read` means that the file is sealed, so its rows count. */
  readonly state: 'reading' | 'read' | 'held' | 'duplicate' | 'released';
  readonly runId: string;
  readonly firstSeenAt: Date;
  /** Why it is held, by its stable code. */
  readonly holdCode: string | null;
  /** Who said that it is newer than the files that were there. Null: nobody did. */
  readonly newestBy: string | null;
  /** Rows at its end that are no records of it. Null: none. */
  readonly footer: readonly FooterRow[] | null;
};

export type FileFilter = Having<'source' | 'state' | 'layout'> & {
  /** Part of the file's address. */
  readonly name?: string | null;
};

const stateOf = sql`case f.state when 'sealed' then 'read' else f.state end`;

/** Lists the last reading of each file name, newest first, with its id as the key; see also `listKnownFiles`. */
export function listFilesRead(db: Database, { limit, after = null, ...filter }: FileFilter & Page) {
  return select(
    db,
    sql`
      ${isLastReading} and ${matches(filter)}
        and (${after}::bigint is null or f.source_file_id < ${after}::bigint)
      order by f.source_file_id desc limit ${limit}::bigint`,
  );
}

/**
 * Finds one reading of a file, even if a later reading has replaced it.
 * @returns null if there is none.
 */
export async function findFileRead(db: Database, sourceFileId: string): Promise<ListedFile | null> {
  const [file] = await select(db, sql`f.source_file_id = ${sourceFileId}::bigint`);
  return file ?? null;
}

/**
 * Finds the last file of the source of a file that was read for the same purpose.
 * @returns its id, which grows with each new file. Null if there is no file `sourceFileId`.
 */
export async function lastReading(db: Database, sourceFileId: string): Promise<string | null> {
  const row = await rowOf<{ id: string | null }>(db)`
    select max(other.source_file_id) as id
    from intake.source_files f join intake.source_files other using (source, read_for)
    where f.source_file_id = ${sourceFileId}::bigint`;
  return row?.id ?? null;
}

/** Counts the file names in each state. The filter's state is ignored. */
export function countFilesRead(db: Database, filter: FileFilter) {
  return rowsOf<{ state: string; files: number }>(db)`
    select ${stateOf} as state, count(*)::float8 as files from intake.source_files f
    where ${isLastReading} and ${matches({ ...filter, state: null })} group by 1 order by 1`;
}

/**
 * SQL that selects the files of a bulk decision: those that match a filter, or those that a person picked.
 * Its rows have source_file_id, state and is_last.
 */
export function selectToDecide(
  chosen: FileFilter | { readonly fileIds: readonly string[] },
): RawBuilder<unknown> {
  const isChosen =
    'fileIds' in chosen
      ? sql`f.source_file_id = any(${[...chosen.fileIds]}::bigint[])`
      : sql`${isLastReading} and ${matches(chosen)}`;
  return sql`
    select f.source_file_id, ${stateOf} as state, (${isLastReading}) as is_last
    from intake.source_files f
    where ${isChosen}`;
}

function select(db: Database, condition: RawBuilder<unknown>) {
  return rowsOf<ListedFile>(db)`
    select f.source_file_id as "sourceFileId", f.source, f.read_for as "readFor", f.uri, f.layout,
      ${stateOf} as state, f.size_bytes::float8 as "sizeBytes", f.rows_read::float8 as "rowsRead",
      f.rejected_rows::float8 as "rejectedRows", f.hold_message as "holdMessage", f.hold_code as "holdCode",
      f.hold_help as "holdHelp", original.uri as "duplicateOf", f.released_by as "releasedBy",
      f.release_reason as "releaseReason",
      f.reread_at is not null as "isRereadWanted", f.run_id as "runId", f.first_seen_at as "firstSeenAt",
      f.newest_by as "newestBy", f.footer
    from intake.source_files f
    left join lateral (select o.uri from intake.source_files o where o.source_file_id = f.duplicate_of
      limit 1) original
      on true
    where ${condition}`;
}

/**
 * Condition: file `f` is the last reading of its name. A hold that the program itself released does not count
 * if the name has another reading.
 */
const isLastReading = sql`
  f.superseded_by is null
  and not exists (
    select from intake.source_files newer
    where newer.source = f.source and newer.read_for = f.read_for and newer.uri = f.uri
      and newer.superseded_by is null
      and newer.source_file_id > f.source_file_id
      and not (newer.state = 'released' and newer.released_by is null))
  and not (f.state = 'released' and f.released_by is null and exists (
    select from intake.source_files other
    where other.source = f.source and other.read_for = f.read_for and other.uri = f.uri
      and other.superseded_by is null
      and other.source_file_id <> f.source_file_id))`;

function matches({ source = null, state = null, layout = null, name = null }: FileFilter) {
  return sql`
    (${source}::text is null or f.source = ${source}) and (${state}::text is null or ${stateOf} = ${state})
    and (${layout}::text is null or f.layout = ${layout})
    and (${name}::text is null or position(${name}::text in f.uri) > 0)`;
}

/**
 * Lists the files that are currently held, newest first. A held file is left out if a newer version of the
 * same object was read.
 */
export function listHeldFiles(
  db: Database,
  options: { readonly sources?: readonly string[]; readonly readFor?: ReadFor } = {},
) {
  const { sources = null, readFor = null } = options;
  return rowsOf<HeldFile>(db)`
    select f.source_file_id as id, f.source, f.uri, f.hold_code as code,
      coalesce(f.hold_message, f.hold_code) as message,
      coalesce(f.hold_help, 'Fix the file and put it back.') as help
    from intake.source_files f
    where f.state = 'held' and (${sources}::text[] is null or f.source = any(${sources}::text[]))
      and (${readFor}::text is null or f.read_for = ${readFor}::text)
      and not exists (
        select 1 from intake.source_files newer
        where newer.source = f.source and newer.read_for = f.read_for and newer.uri = f.uri
          and newer.source_file_id > f.source_file_id and newer.state <> 'reading'
          and not (newer.state = 'released' and newer.released_by is null))
    order by f.source_file_id desc`;
}
