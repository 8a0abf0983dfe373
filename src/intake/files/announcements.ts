import { sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import { MAX_LIST_EVERY_HOURS } from '../../core/source.ts';
import { type Database, execute, rowsOf } from '../../db/statement.ts';

/** The files of a source that a run has to look up, if the queue of the source announces all new files. */
export type Announced = {
  /** Addresses of announced files and of files that need another run, sorted in byte order. */
  readonly uris: readonly string[];
  /** Identifies the announcements among them. */
  readonly announcementIds: readonly string[];
};

/**
 * Starts to store announcements for a source and a purpose. From now on, no file is missed: it is either in a
 * listing that begins after this call, or it is announced. Until that listing has ended, nothing counts as
 * listed.
 */
export async function expectAnnouncements(
  db: Database,
  { source, readFor }: { source: string; readFor: ReadFor },
): Promise<void> {
  await db
    .insertInto('intake.listings')
    .values({ source, read_for: readFor, names_hash: '', listed_at: sql<Date>`now()` })
    .onConflict((known) => known.columns(['source', 'read_for']).doNothing())
    .execute();
}

/**
 * Stores that files were announced, durably, for each purpose for which their source is read. A repeated
 * announcement of a file replaces the earlier one.
 */
export async function recordAnnouncements(
  db: Database,
  files: readonly { readonly source: string; readonly uri: string }[],
): Promise<void> {
  await execute(db)`
    insert into intake.announced_files (source, read_for, uri)
    select distinct a.source, l.read_for, a.uri
    from jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as a(source text, uri text)
    join intake.listings l on l.source = a.source
    order by 1, 2, 3
    on conflict (source, read_for, uri) do update
    set announcement_id = default, announced_at = now()`;
}

/** Reads what was announced for a source, and which of its files are held, were cut short, or are to be read again. */
export async function readAnnounced(
  db: Database,
  { source, readFor }: { source: string; readFor: ReadFor },
): Promise<Announced> {
  const rows = await rowsOf<{ uri: string; announcementId: string | null }>(db)`
    select uri, announcement_id as "announcementId" from intake.announced_files
    where source = ${source} and read_for = ${readFor}
    union all
    select uri, null from intake.source_files
    where source = ${source} and read_for = ${readFor} and superseded_by is null
      and (state in ('reading', 'held') or reread_at is not null)`;
  return {
    uris: [...new Set(rows.map(({ uri }) => uri))].sort(),
    announcementIds: rows.flatMap(({ announcementId }) => announcementId ?? []),
  };
}

/** Removes announcements that a run has dealt with. A later announcement of the same file stays. */
export async function removeAnnouncements(db: Database, announcementIds: readonly string[]): Promise<void> {
  if (announcementIds.length === 0) return;
  await execute(db)`
    delete from intake.announced_files
    where announcement_id = any(${`{${announcementIds.join(',')}}`}::bigint[])`;
}

/**
 * Removes announcements that are older than the longest time between two listings of a source. Only a source
 * that no job reads any more has such.
 */
export async function removeOldAnnouncements(db: Database): Promise<void> {
  await execute(db)`
    delete from intake.announced_files
    where announced_at < now() - make_interval(hours => ${MAX_LIST_EVERY_HOURS})`;
}
