import { posix } from 'node:path';
import type {
  ListObjectsV2CommandOutput,
  ListObjectVersionsCommandOutput,
  _Object as S3Object,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { statusOf } from '../../config/aws/aws-error.ts';
import type { SourceFile } from '../../core/source.ts';
import { isBefore } from '../../core/time/dated-names.ts';
import { type ListingRules, NOT_OF_GLOB, type SkipRule, SOME_BYTES } from '../exclude.ts';
import type { ObjectName, SourceLocation } from '../parse-source-uri.ts';
import type { S3Client } from './create-s3-client.ts';
import { explainS3Error, type S3Request, unusableListing } from './explain-s3-error.ts';
import { etagOf, versionText } from './s3-version.ts';

export type S3Location = Extract<SourceLocation, { kind: 's3' }>;

/** An object as a listing returns it, with its decoded key. */
type Listed = { readonly key: string; readonly object: S3Object };

/** Number of objects that are looked up at a time. */
const LOOK_UPS = 16;

type ListOptions = {
  readonly client: S3Client;
  readonly signal?: AbortSignal;
  /**
   * Requests this key and later ones. A store that does not list in order may return earlier keys too. Null:
   * requests all.
   */
  readonly from: string | null;
};

type ListS3Options = ListingRules & {
  readonly client: S3Client;
  /** Names below the folder of the place are requested only if they sort after this one. Null: all. */
  readonly startAfter: string | null;
};

/**
 * Lists the objects of a place, one page after the other (1,000 keys each). The ETag identifies a version;
 * see `ObjectVersion` for objects without one. The whole listing is kept in memory, at about 300 bytes for
 * each object, because not every store lists in order.
 */
export async function* listS3Files(place: S3Location, options: ListS3Options): AsyncGenerator<SourceFile> {
  const { skip, onSkipped, start } = options;
  const from = firstKey(place, options);
  const objects: Listed[] = [];
  for await (const page of listPages(place, { ...options, from })) {
    for (const object of page.Contents ?? []) {
      const key = keyOf(object, page.EncodingType === 'url');
      if (key === null || !liesIn(key, place) || (start !== null && isBefore(key, start))) continue;
      const reason = whyNot(key, { place, skip, sizeBytes: object.Size ?? 0 });
      if (reason === null) objects.push({ key, object });
      else onSkipped({ uri: `s3://${place.bucket}/${key}`, reason });
    }
  }
  objects.sort((a, b) => (a.key < b.key ? -1 : 1));
  yield* toFiles(place, objects, { ...options, from });
}

/**
 * Looks up single objects of a place by their keys, and returns those that exist and are exports, in the
 * order of the keys. Each is listed with its key as the prefix, because only a listing identifies versions
 * exactly like another listing.
 */
export async function* findS3Files(
  place: S3Location,
  keys: readonly string[],
  options: Pick<ListS3Options, 'client' | 'skip' | 'signal'>,
): AsyncGenerator<SourceFile> {
  const { skip } = options;
  const limit = pLimit(LOOK_UPS);
  const wanted = keys.filter((key) => isAtLocation({ bucket: place.bucket, key }, { place, skip }));
  const found = await limit.map(wanted, (key) => findObject(place, key, options));
  for (const listed of found) {
    if (listed === null) continue;
    const { key, object } = listed;
    if (whyNot(key, { place, skip, sizeBytes: object.Size ?? 0 }) !== null) continue;
    yield* toFiles({ ...place, prefix: key }, [listed], { ...options, from: null });
  }
}

async function findObject(
  place: S3Location,
  wanted: string,
  options: Omit<ListOptions, 'from'>,
): Promise<Listed | null> {
  for await (const page of listPages({ ...place, prefix: wanted }, { ...options, from: null })) {
    for (const object of page.Contents ?? []) {
      const key = keyOf(object, page.EncodingType === 'url');
      if (key === wanted) return { key, object };
    }
  }
  return null;
}

async function* toFiles(
  place: S3Location,
  objects: readonly Listed[],
  options: ListOptions,
): AsyncGenerator<SourceFile> {
  const lacksEtag = objects.some(({ object }) => etagOf(object) === null);
  const versionIds = lacksEtag ? await listVersionIds(place, options) : null;
  for (const { key, object } of objects) {
    const { Size: sizeBytes = 0, LastModified: modifiedAt } = object;
    const version = versionText(object, versionIds?.get(key) ?? null);
    const file = { uri: `s3://${place.bucket}/${key}`, version, sizeBytes };
    yield modifiedAt === undefined ? file : { ...file, modifiedAt };
  }
}

async function* listPages(
  { bucket, prefix }: S3Location,
  { client, signal, from }: ListOptions,
): AsyncGenerator<ListObjectsV2CommandOutput> {
  const isNext = pageOrder({ bucket, key: null, client });
  let token: string | undefined;
  do {
    const page: ListObjectsV2CommandOutput = await client.api
      .listObjectsV2(
        // Keys may contain characters that XML cannot represent, so they are requested %-encoded.
        {
          Bucket: bucket,
          Prefix: prefix,
          EncodingType: 'url',
          ...(from === null ? {} : { StartAfter: justBefore(from) }),
          ...(token ? { ContinuationToken: token } : {}),
        },
        signal ? { abortSignal: signal } : {},
      )
      .catch((error: unknown) => {
        throw explainS3Error(error, { bucket, key: null, client }) ?? error;
      });
    yield page;
    const marker = page.NextContinuationToken;
    token = isNext(marker, page.IsTruncated ?? (marker !== undefined || isFull(page))) ? marker : undefined;
  } while (token !== undefined);
}

/** A page of so many keys is not the last one unless the store says that it is. */
const PAGE_KEYS = 1_000;

function isFull({ Contents: objects = [] }: ListObjectsV2CommandOutput): boolean {
  return objects.length >= PAGE_KEYS;
}

/**
 * Creates the function that decides whether a listing goes on at a marker. A part of a listing is never taken for
 * the whole.
 */
function pageOrder(request: S3Request): (marker: string | undefined, isTruncated: boolean) => boolean {
  const seen = new Set<string>();
  return (marker = '', isTruncated) => {
    if (!isTruncated) return false;
    if (marker === '') throw unusableListing('is cut off, and does not say where the rest begins', request);
    if (seen.has(marker)) throw unusableListing('begins at the same place again, and never ends', request);
    seen.add(marker);
    return true;
  };
}

/**
 * Returns the ids of the current versions by key. Requested only if a listing has objects without an ETag. A
 * bucket without versioning calls each of them "null". A store that does not support or allow this listing
 * has no ids.
 */
async function listVersionIds(
  { bucket, prefix }: S3Location,
  { client, signal, from }: ListOptions,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const isNext = pageOrder({ bucket, key: null, client });
  let next: { KeyMarker?: string; VersionIdMarker?: string } | null =
    from === null ? {} : { KeyMarker: justBefore(from) };
  while (next !== null) {
    const page: ListObjectVersionsCommandOutput = await client.api
      .listObjectVersions(
        { Bucket: bucket, Prefix: prefix, EncodingType: 'url', ...next },
        signal ? { abortSignal: signal } : {},
      )
      .catch((error: unknown) => {
        if ((statusOf(error) ?? 500) < 500 || statusOf(error) === 501) return { $metadata: {} };
        throw explainS3Error(error, { bucket, key: null, client }) ?? error;
      });
    for (const version of page.Versions ?? []) {
      const key = keyOf(version, page.EncodingType === 'url');
      const { IsLatest: isLatest, VersionId: id } = version;
      if (key !== null && isLatest === true && id !== undefined && id !== 'null') ids.set(key, id);
    }
    const { IsTruncated: isTruncated = false, NextVersionIdMarker: version } = page;
    const key = keyOf({ Key: page.NextKeyMarker }, page.EncodingType === 'url');
    next =
      isNext(key === null ? undefined : `${key}\n${version ?? ''}`, isTruncated) && key !== null
        ? { KeyMarker: key, ...(version ? { VersionIdMarker: version } : {}) }
        : null;
  }
  return ids;
}

/** The first key that can be one of the listing; null if any can. */
function firstKey(place: S3Location, { start, startAfter }: ListS3Options): string | null {
  const after = startAfter === null ? null : `${baseOf(place)}${startAfter}`;
  return start !== null && after !== null ? (start > after ? start : after) : (start ?? after);
}

/**
 * Returns a text that sorts closely before a key. S3 lists only keys after the given one, and this key itself
 * must be listed.
 */
function justBefore(key: string): string {
  const last = key.charCodeAt(key.length - 1);
  return `${key.slice(0, -1)}${String.fromCharCode(last - 1)}~`;
}

function keyOf(object: Pick<S3Object, 'Key'>, isEncoded: boolean): string | null {
  if (object.Key === undefined) return null;
  return isEncoded ? decodeURIComponent(object.Key.replaceAll('+', ' ')) : object.Key;
}

/**
 * True if a key belongs to the place. `orders` covers the object with that name and everything below it, but
 * not `orders-old/…`.
 */
function liesIn(key: string, { prefix, glob }: S3Location): boolean {
  if (glob !== null) return key.startsWith(prefix);
  return prefix === '' || prefix.endsWith('/')
    ? key.startsWith(prefix)
    : key === prefix || key.startsWith(`${prefix}/`);
}

/** Returns why an object at a place is not an export, or null if it is one. */
function whyNot(
  key: string,
  { place, skip, sizeBytes }: { place: S3Location; skip: SkipRule; sizeBytes: number },
): string | null {
  const { prefix, glob } = place;
  // An object that the address names itself is never skipped.
  if (key === prefix && !key.endsWith('/')) return null;
  if (glob !== null && !posix.matchesGlob(key, glob)) return NOT_OF_GLOB;
  return skip(key.slice(baseOf(place).length), sizeBytes);
}

/** The folder that names are below. */
function baseOf({ prefix, glob }: S3Location): string {
  if (prefix === '' || prefix.endsWith('/')) return prefix;
  return glob === null ? `${prefix}/` : prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

/** True if an object would be listed if it existed. */
export function isAtLocation(
  object: ObjectName,
  { place, skip }: { place: S3Location; skip: SkipRule },
): boolean {
  const { bucket, key } = object;
  return (
    bucket === place.bucket &&
    liesIn(key, place) &&
    whyNot(key, { place, skip, sizeBytes: SOME_BYTES }) === null
  );
}
