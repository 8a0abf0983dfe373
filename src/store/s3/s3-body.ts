import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { isTimeout } from '../../config/aws/aws-error.ts';
import type { S3Client } from './create-s3-client.ts';
import { etagOf, type ObjectVersion } from './s3-version.ts';

/** A read that ended too early. */
export class ReadBroken extends Error {
  readonly code: 'read_cut' | 'read_stalled';

  constructor(code: ReadBroken['code'], cause?: unknown) {
    super(code, { cause });
    this.name = 'ReadBroken';
    this.code = code;
  }
}

/** The store answered with another version than the listed one. Equivalent to a 412. */
export class VersionGone extends Error {
  override readonly name = 'VersionGone';
}

/** An object in the version that was listed. */
export type PinnedObject = {
  readonly bucket: string;
  readonly key: string;
  readonly version: ObjectVersion;
  readonly sizeBytes: number;
};

/** The body of one answer. */
export type S3Body = {
  readonly answer: GetObjectCommandOutput;
  /**
   * Returns the next bytes, or null at the end.
   *
   * @throws ReadBroken if the connection breaks or stalls.
   */
  readonly next: () => Promise<Uint8Array | null>;
  /** Closes the connection. */
  readonly destroy: () => void;
};

export type S3BodyOptions = {
  readonly client: S3Client;
  /** Offset of the first byte to read. */
  readonly offset: number;
  readonly signal?: AbortSignal;
};

/**
 * Requests an object from `offset` on, in the version that was listed. Rejects with the SDK's error (412 if
 * the object was replaced).
 *
 * @throws VersionGone if the answer is another version. This happens with a store that ignores `If-Match`.
 */
export async function openS3Body(
  object: PinnedObject,
  { client, offset, signal }: S3BodyOptions,
): Promise<S3Body> {
  const { bucket, key, version } = object;
  const answer = await client.api.getObject(
    {
      Bucket: bucket,
      Key: key,
      ...(version.kind === 'etag' && !isWeak(version.etag) ? { IfMatch: version.etag } : {}),
      ...(version.kind === 'version_id' ? { VersionId: version.versionId } : {}),
      ...(offset > 0 ? { Range: `bytes=${offset}-` } : {}),
    },
    signal ? { abortSignal: signal } : {},
  );
  const stream = answer.Body as Readable;
  // An error between two reads must not end the process. The next read reports it.
  stream.on('error', () => {});
  if (!isListedVersion(object, answer)) {
    stream.destroy();
    throw new VersionGone();
  }
  // A store that does not support Range sends the whole object again. Skip the bytes that were already
  // received.
  const isPart = answer.ContentRange?.startsWith(`bytes ${offset}-`) === true;
  return toBody(stream, { answer, skip: isPart ? 0 : offset });
}

/** True if an answer is the version that was listed, as far as the answer shows it. */
export function isListedVersion({ version, sizeBytes }: PinnedObject, answer: Stated): boolean {
  const whole = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength;
  if (whole !== undefined && Number(whole) !== sizeBytes) return false;
  if (version.kind === 'etag') {
    const etag = etagOf(answer);
    return etag === null || strong(etag) === strong(version.etag);
  }
  if (version.kind === 'version_id' || answer.LastModified === undefined) return true;
  // A header has whole seconds; a listing may be more precise.
  const { modifiedMs } = version;
  return Number.isNaN(modifiedMs) || seconds(answer.LastModified.getTime()) === seconds(modifiedMs);
}

type Stated = Pick<GetObjectCommandOutput, 'ContentRange' | 'ContentLength' | 'ETag' | 'LastModified'>;

/**
 * True for a weak ETag, `W/"…"` as returned by `etagOf`. If-Match uses strong comparison, so a weak ETag
 * would never match.
 */
function isWeak(etag: string): boolean {
  return etag.startsWith('"W/');
}

/** Removes the weak prefix. A proxy may weaken an ETag, but it still identifies the same version. */
function strong(etag: string): string {
  return etag.replace(/^"?W\/"?|"/g, '');
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

function toBody(
  stream: Readable,
  { answer, skip }: { readonly answer: GetObjectCommandOutput; readonly skip: number },
): S3Body {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let left = skip;

  async function take(): Promise<Buffer | null> {
    try {
      const { done, value } = await chunks.next();
      return done ? null : value;
    } catch (error) {
      throw new ReadBroken(isTimeout(error) ? 'read_stalled' : 'read_cut', error);
    }
  }

  return {
    answer,
    destroy: () => void stream.destroy(),
    next: async () => {
      for (;;) {
        const bytes = await take();
        if (bytes === null || left === 0) return bytes;
        const wanted = bytes.subarray(Math.min(left, bytes.length));
        left -= bytes.length - wanted.length;
        if (wanted.length > 0) return wanted;
      }
    },
  };
}
