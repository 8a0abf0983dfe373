import { sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import type { Database } from '../../db/connect.ts';

export type Listing = {
  /** When the last complete listing began; null if there was none with the same `namesHash`. */
  readonly listedAt: Date | null;
  /** The database's clock, which all processes share. */
  readonly now: Date;
  /**
   * The first address, in byte order, of a file that the next run must list again, because it is held, was
   * read only in part, or is to be read again. Null: none.
   */
  readonly firstPending: string | null;
};

/** Which files a source has, and what they are read for. */
export type ListedNames = {
  readonly source: string;
  readonly readFor: ReadFor;
  /** Digest of what decides which files the source has. */
  readonly namesHash: string;
};

/** Reads up to when a source was listed, and where files are that still need a run. */
export async function readListing(db: Database, names: ListedNames): Promise<Listing> {
  const { source, readFor, namesHash } = names;
  const { rows } = await sql<Listing>`
    select clock_timestamp() as now,
      (select listed_at from intake.listings
       where source = ${source} and read_for = ${readFor} and names_hash = ${namesHash}) as "listedAt",
      (select min(uri collate "C") from intake.source_files
       where source = ${source} and read_for = ${readFor} and superseded_by is null
         and (state in ('reading', 'held') or reread_at is not null)) as "firstPending"`.execute(db);
  const [listing] = rows;
  if (listing === undefined) throw new Error('a select without a table gives one row');
  return listing;
}

/** Records a listing whose files were all processed. If an older one is recorded later, the next window is only wider. */
export async function recordListing(
  db: Database,
  { source, readFor, namesHash, listedAt }: ListedNames & { readonly listedAt: Date },
): Promise<void> {
  await sql`
    insert into intake.listings (source, read_for, names_hash, listed_at)
    values (${source}, ${readFor}, ${namesHash}, ${listedAt})
    on conflict (source, read_for) do update set names_hash = excluded.names_hash, listed_at = excluded.listed_at`.execute(
    db,
  );
}
