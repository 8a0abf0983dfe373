import { hash } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { type ListedNames, readListing, recordListing } from '../../intake/files/listings.ts';
import type { SourceSettings } from '../../model/config.ts';
import { IS_READ_ANEW, type ReadFor } from '../../model/layout.ts';
import { ZoneClock } from '../../model/time/zone-clock.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from '../../source/parse-source-uri.ts';

const DAY_MS = 86_400_000;

/** The names of a source that a run has to list. */
export type ListingWindow = {
  /** The first day, as `2026-11-22`; null if all names must be listed. */
  readonly since: string | null;
  /** Records that everything listed was processed, so that the next window starts later. */
  readonly close: () => Promise<void>;
};

/**
 * Determines the day from which a source with `lookback_days` must be listed: that many days before the last
 * listing that a run completed, however long ago that was. The window starts earlier if an older file is
 * held, was cut short, or has to be read again. A source that was never listed, or whose settings now select
 * different files, is listed completely. So a run misses only files that arrive later than `lookback_days`
 * after their day.
 */
export async function openListingWindow(
  db: Database,
  options: { readonly source: SourceSettings; readonly readFor: ReadFor; readonly layoutHash: string },
): Promise<ListingWindow> {
  const { source, readFor, layoutHash } = options;
  const { dated } = parseSourceUri(source.uri);
  if (dated === null || source.lookbackDays === null) return { since: null, close: async () => {} };
  const { uri, endpoint, exclude, startAfter, followLinks } = source;
  // If a changed layout means that every file is read again, every file must be listed again.
  const meaning = IS_READ_ANEW[readFor] ? layoutHash : null;
  const settings = JSON.stringify([uri, endpoint, exclude, startAfter, followLinks, meaning]);
  const names: ListedNames = {
    source: source.name,
    readFor,
    namesHash: hash('sha256', settings, 'base64url'),
  };
  const { listedAt, now, firstPending } = await readListing(db, names);
  const close = () => recordListing(db, { ...names, listedAt: now });
  // A time in the future comes from a clock that was ahead, so it does not say when the listing was.
  if (listedAt === null || listedAt > now) return { since: null, close };
  const first = firstDay(source, listedAt);
  const pending = firstPending === null ? first : dayOfFile(source, firstPending);
  if (first === null || pending === null) return { since: null, close };
  return { since: pending < first ? pending : first, close };
}

/**
 * The first day of the window after a listing at this instant; null if all names must be listed. The days of
 * names are those of UTC or of the source's time zone: the earlier one counts.
 */
export function firstDay({ lookbackDays, timeZone }: SourceSettings, listedAt: Date): string | null {
  if (lookbackDays === null) return null;
  const utcMs = listedAt.getTime();
  // Subtract from the local time, because a day on which the clocks change does not have 24 hours.
  const wallMs = Math.min(utcMs, new ZoneClock(timeZone ?? 'UTC').toWallMs(utcMs));
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
