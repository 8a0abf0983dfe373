import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { isTimeout } from '../../aws/aws-error.ts';
import type { S3Client } from './create-s3-client.ts';
import { etagOf, type ObjectVersion } from './s3-version.ts';

/** A read that ended before it should. */
export class ReadBroken extends Error {
  readonly code: 'read_cut' | 'read_stalled';

  constructor(code: ReadBroken['code'], cause?: unknown) {
    super(code, { cause });
    this.name = 'ReadBroken';
    this.code = code;
  }
}

/** The store answered with another version than the listed one, as a 412 would say. */
export class VersionGone extends Error {
  override readonly name = 'VersionGone';
}

/** An object as it was listed. */
export type PinnedObject = {
  readonly bucket: string;
  readonly key: string;
  readonly version: ObjectVersion;
  readonly sizeBytes: number;
};

/** One answer's body. */
export type S3Body = {
  readonly answer: GetObjectCommandOutput;
  /**
   * The next bytes, or null at the end.
   *
   * @throws ReadBroken after a cut or a stall.
   */
  readonly next: () => Promise<Uint8Array | null>;
  /** Ends the connection. */
  readonly destroy: () => void;
};

export type S3BodyOptions = {
  readonly client: S3Client;
  /** First byte that is wanted. */
  readonly offset: number;
  readonly signal?: AbortSignal;
};

/**
 * Asks for an object from `offset` on, in the version that was listed. Fails with the SDK's error (412: it was replaced).
 *
 * @throws VersionGone where the answer is of another version, which a store that ignores `If-Match` does not refuse.
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
  // An error that comes between two reads must not end the process; the next read reports it.
  stream.on('error', () => {});
  if (!isListedVersion(object, answer)) {
    stream.destroy();
    throw new VersionGone();
  }
  // A store that does not honour Range sends all of it again: what has come already is passed over.
  const isPart = answer.ContentRange?.startsWith(`bytes ${offset}-`) === true;
  return toBody(stream, { answer, skip: isPart ? 0 : offset });
}

/** Whether an answer is of the version that was listed, as far as it says. */
export function isListedVersion({ version, sizeBytes }: PinnedObject, answer: Stated): boolean {
  const whole = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength;
  if (whole !== undefined && Number(whole) !== sizeBytes) return false;
  if (version.kind === 'etag') {
    const etag = etagOf(answer);
    return etag === null || strong(etag) === strong(version.etag);
  }
  if (version.kind === 'version_id' || answer.LastModified === undefined) return true;
  // A header has whole seconds, a listing may have more.
  const { modifiedMs } = version;
  return Number.isNaN(modifiedMs) || seconds(answer.LastModified.getTime()) === seconds(modifiedMs);
}

type Stated = Pick<GetObjectCommandOutput, 'ContentRange' | 'ContentLength' | 'ETag' | 'LastModified'>;

/** `W/"…"` as `etagOf` gives it. If-Match compares strongly, so a weak one would match nothing. */
function isWeak(etag: string): boolean {
  return etag.startsWith('"W/');
}

/** A proxy on the way may weaken an ETag; it names the same version. */
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
