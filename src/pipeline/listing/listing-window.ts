import { hash } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { type ListedNames, readListing, recordListing } from '../../intake/files/listings.ts';
import type { SourceSettings } from '../../model/config.ts';
import { IS_READ_ANEW, type ReadFor } from '../../model/layout.ts';
import { ZoneClock } from '../../model/time/zone-clock.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from '../../source/parse-source-uri.ts';

const DAY_MS = 86_400_000;

/** Which names of a source a run has to list. */
export type ListingWindow = {
  /** The first day, as `2026-11-22`; null if all names must be listed. */
  readonly since: string | null;
  /** Records that everything listed was dealt with, so that the next window starts later. */
  readonly close: () => Promise<void>;
};

/**
 * Says from which day on a source with `lookback_days` must be listed: so many days before the last listing that a run finished, however
 * long ago that was, and earlier if an older file is held, was cut short, or is to be read again. A source that was never listed, or
 * whose settings now mean other files, is listed whole. So a run misses only files that arrive later than `lookback_days` after their day.
 */
export async function openListingWindow(
  db: Database,
  options: { readonly source: SourceSettings; readonly readFor: ReadFor; readonly layoutHash: string },
): Promise<ListingWindow> {
  const { source, readFor, layoutHash } = options;
  const { dated } = parseSourceUri(source.uri);
  if (dated === null || source.lookbackDays === null) return { since: null, close: async () => {} };
  const { uri, endpoint, exclude, startAfter, followLinks } = source;
  // Where a changed layout makes every file be read again, every file must be found again.
  const meaning = IS_READ_ANEW[readFor] ? layoutHash : null;
  const settings = JSON.stringify([uri, endpoint, exclude, startAfter, followLinks, meaning]);
  const names: ListedNames = {
    source: source.name,
    readFor,
    namesHash: hash('sha256', settings, 'base64url'),
  };
  const { listedAt, now, firstPending } = await readListing(db, names);
  const close = () => recordListing(db, { ...names, listedAt: now });
  if (listedAt === null) return { since: null, close };
  // A clock that was ahead when it was recorded must not hide files.
  const first = firstDay(source, listedAt < now ? listedAt : now);
  const pending = firstPending === null ? first : dayOfFile(source, firstPending);
  if (first === null || pending === null) return { since: null, close };
  return { since: pending < first ? pending : first, close };
}

/** The first day that a listing at a time starts from; null if it lists all names. */
export function firstDay({ lookbackDays, timeZone }: SourceSettings, listedAt: Date): string | null {
  if (lookbackDays === null) return null;
  const wallMs = new ZoneClock(timeZone ?? 'UTC').toWallMs(listedAt.getTime() - lookbackDays * DAY_MS);
  return new Date(wallMs).toISOString().slice(0, 10);
}

/** The day in the name of a file; null if the uri of its source has no date, or the name has none there. */
export function dayOfFile(source: SourceSettings, uri: string): string | null {
  const name = uri.startsWith('s3:') ? parseObjectUri(uri).key : pathOfFileUri(uri);
  return parseSourceUri(source.uri).dated?.dayOf(name) ?? null;
}
