import { hash } from 'node:crypto';
import type { SourceSettings } from '../../config/source-fields.ts';
import { IS_READ_ANEW, type ReadFor } from '../../core/layout.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import { type Database, execute, rowOf } from '../../db/statement.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from '../../store/parse-source-uri.ts';
import { readAnnounced, removeAnnouncements } from '../files/announcements.ts';

const HOUR_MS = 3_600_000;

/** The names of a source that a run has to look at. */
export type ListingWindow = {
  /** False if the queue of the source has announced every new name, so that only `uris` are looked up. */
  readonly isListed: boolean;
  /** The first day to list, as `2026-11-22`; null if all names must be listed. */
  readonly since: string | null;
  /** Addresses to look up, because a listing from `since` on does not return them. Sorted. */
  readonly uris: readonly string[];
  /** Records that all of these were processed, so that the next run need not look at them again. */
  readonly close: () => Promise<void>;
};

const ALL_NAMES: ListingWindow = { isListed: true, since: null, uris: [], close: async () => {} };

/**
 * Determines which names of a source a run has to look at.
 *
 * A source with `lookback_days` must be listed from that many days before the last listing that a run
 * completed, however long ago that was. The window starts earlier if an older file is held, was cut short, or
 * has to be read again. So a run misses only files that arrive later than `lookback_days` after their day.
 *
 * A source with `events` is listed only if its last listing is older than `list_every_hours`, because an event
 * may be lost. Otherwise a run looks up what was announced, and the files that are held, were cut short, or
 * have to be read again.
 *
 * A source that was never listed, or whose settings now select different files, is listed completely.
 *
 * @param options.isAnnounced false if the queue of the source was not read, so the source must be listed.
 */
export async function openListingWindow(
  db: Database,
  options: {
    readonly source: SourceSettings;
    readonly readFor: ReadFor;
    readonly layoutHash: string;
    readonly isAnnounced: boolean;
  },
): Promise<ListingWindow> {
  const { source, readFor, isAnnounced } = options;
  const { events, lookbackDays } = source;
  const isDated = lookbackDays !== null && parseSourceUri(source.uri).dated !== null;
  if (!isDated && events === null) return ALL_NAMES;
  const names = namesOf(options);
  // What is announced from now on stays for the next run, even if this run finds the file in its listing.
  const { uris, announcementIds } =
    events === null
      ? { uris: [], announcementIds: [] }
      : await readAnnounced(db, { source: source.name, readFor });
  const { listedAt, now, firstPending } = await readKnownListing(db, names);
  const closeAnnounced = () => removeAnnouncements(db, announcementIds);
  async function close(): Promise<void> {
    await recordListing(db, { ...names, listedAt: now });
    await closeAnnounced();
  }
  // A time in the future comes from a clock that was ahead, so it does not say when the listing was.
  if (listedAt === null || listedAt > now) return { ...ALL_NAMES, close };
  const isListingDue =
    events === null || now.getTime() - listedAt.getTime() >= events.listEveryHours * HOUR_MS;
  if (isAnnounced && !isListingDue) return { isListed: false, since: null, uris, close: closeAnnounced };
  const first = firstDay(source, listedAt);
  const pending = firstPending === null ? first : dayOfFile(source, firstPending);
  if (first === null || pending === null) return { ...ALL_NAMES, close };
  const since = pending < first ? pending : first;
  const older = uris.filter((uri) => (dayOfFile(source, uri) ?? since) < since);
  return { isListed: true, since, uris: older, close };
}

/** Identifies the files that the settings of a source select, and what they are read for. */
function namesOf({
  source,
  readFor,
  layoutHash,
}: Omit<Parameters<typeof openListingWindow>[1], 'isAnnounced'>): ListedNames {
  const { uri, endpoint, exclude, startAfter, followLinks, events } = source;
  // If a changed layout means that every file is read again, every file must be listed again.
  const meaning = IS_READ_ANEW[readFor] ? layoutHash : null;
  const settings = [uri, endpoint, exclude, startAfter, followLinks, meaning];
  const all = JSON.stringify(events === null ? settings : [...settings, events]);
  return { source: source.name, readFor, namesHash: hash('sha256', all, 'base64url') };
}

/**
 * The first day of the window after a listing at this instant; null if all names must be listed. The days of
 * names are those of UTC or of the source's time zone: the earlier one counts.
 */
export function firstDay({ lookbackDays, timeZone }: SourceSettings, listedAt: Date): string | null {
  if (lookbackDays === null) return null;
  const utcMs = listedAt.getTime();
  // Subtract from the local time, because a day on which the clocks change does not have 24 hours.
  const wallMs = Math.min(utcMs, zoneClock(timeZone ?? 'UTC').toWallMs(utcMs));
  return new Date(wallMs - lookbackDays * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The day in the name of a file; null if the source's uri contains no date, or the name has no date in that
 * position.
 */
export function dayOfFile(source: SourceSettings, uri: string): string | null {
  const name = uri.startsWith('s3:') ? parseObjectUri(uri).key : pathOfFileUri(uri);
  return parseSourceUri(source.uri).dated?.dayOf(name) ?? null;
}

type Listing = {
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
type ListedNames = {
  readonly source: string;
  readonly readFor: ReadFor;
  /** Digest of what decides which files the source has. */
  readonly namesHash: string;
};

/** Reads up to when a source was listed, and where files are that still need a run. */
async function readKnownListing(db: Database, names: ListedNames): Promise<Listing> {
  const { source, readFor, namesHash } = names;
  const listing = await rowOf<Listing>(db)`
    select clock_timestamp() as now,
      (select listed_at from intake.listings
       where source = ${source} and read_for = ${readFor} and names_hash = ${namesHash}) as "listedAt",
      (select min(uri collate "C") from intake.source_files
       where source = ${source} and read_for = ${readFor} and superseded_by is null
         and (state in ('reading', 'held') or reread_at is not null)) as "firstPending"`;
  if (listing === undefined) throw new Error('a select without a table gives one row');
  return listing;
}

/** Records a listing whose files were all processed. If an older one is recorded later, the next window is only wider. */
async function recordListing(
  db: Database,
  { source, readFor, namesHash, listedAt }: ListedNames & { readonly listedAt: Date },
): Promise<void> {
  await execute(db)`
    insert into intake.listings (source, read_for, names_hash, listed_at)
    values (${source}, ${readFor}, ${namesHash}, ${listedAt})
    on conflict (source, read_for) do update set names_hash = excluded.names_hash,
    listed_at = excluded.listed_at`;
}
