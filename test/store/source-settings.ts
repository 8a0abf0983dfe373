import type { SourceLimits, SourceSettings } from '../../src/config/source-fields.ts';
import { FileHeld } from '../../src/core/held/file-held.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { EXPECTATIONS } from '../intake/checks/synthetic-shop.ts';

/** Returns a source as pipeline.yaml would define it, with the limits of the test. */
export function sourceSettings(uri: string, limits: Partial<SourceLimits> = {}): SourceSettings {
  return {
    name: 'shop-orders',
    uri,
    layout: 'generic',
    orderPlatform: 'shopify',
    timeZone: 'UTC',
    currency: 'EUR',
    encoding: null,
    dateOrder: null,
    decimalMark: null,
    consent: 'recorded',
    customerKey: false,
    ownOrders: false,
    orderLines: false,
    missingColumns: {},
    exclude: ['.*', '_SUCCESS', '_committed_*', '_started_*', 'manifest.json', 'Thumbs.db', 'desktop.ini'],
    lookbackDays: null,
    startAfter: null,
    events: null,
    endpoint: null,
    region: null,
    profile: null,
    age: null,
    followLinks: false,
    forcePathStyle: false,
    expectations: EXPECTATIONS,
    etagIsMd5: true,
    limits: {
      maxBytes: 1_024 ** 3,
      maxRatio: 200,
      maxRecordBytes: 1_024 ** 2,
      idleTimeoutSeconds: 10,
      maxRejectedShare: 0.2,
      maxUnreadableShare: 1,
      maxCancelledShare: 0.5,
      maxZeroRevenueShare: 0.9,
      maxUnlistedShare: 0.9,
      ...limits,
    },
  };
}

/** Returns the whole content of a stream. */
export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function collectAll<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Yields bytes in pieces of a given size, like a stream. */
export async function* inPieces(bytes: Uint8Array, pieceBytes = 64 * 1_024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Returns why a file was held. Fails if it was not held. */
export async function holdReason(work: Promise<unknown>): Promise<FileHeld['reason']> {
  const error = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  if (error instanceof FileHeld) return error.reason;
  throw error ?? new Error('the file was not held');
}

/** Returns the details of a known error. Fails if the work did not fail, or failed in another way. */
export async function knownError(work: Promise<unknown>): Promise<KnownError['details']> {
  const error = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  if (error instanceof KnownError) return error.details;
  throw error ?? new Error('it did not fail');
}
