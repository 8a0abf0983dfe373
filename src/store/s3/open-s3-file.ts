import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import pRetry from 'p-retry';
import { isNetworkError, isTimeout, statusOf } from '../../config/aws/aws-error.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { SourceFile } from '../../core/source.ts';
import { changedWhileReading, fileGone, fileUnavailable } from '../file-unavailable.ts';
import { parseObjectUri } from '../parse-source-uri.ts';
import { type ContentCheck, createContentCheck, type Mismatch } from './content-check.ts';
import type { S3Client } from './create-s3-client.ts';
import { explainS3Error } from './explain-s3-error.ts';
import { etagOf, type ObjectVersion, parseVersion } from './s3-version.ts';

export type OpenS3FileOptions = {
  readonly client: S3Client;
  /** True if an ETag of 32 hex digits is the MD5 of the content, as in S3. */
  readonly isEtagMd5: boolean;
  readonly signal?: AbortSignal;
};

/**
 * Number of attempts in a row without a byte, with delays of 0.2 s, 0.4 s, …: long enough for a store that
 * restarts.
 */
const TRIES_WITHOUT_A_BYTE = 5;
const FIRST_PAUSE_MS = 200;

/** Limits the number of resumes for a store that cuts every read after a few bytes. */
const MAX_RESUMES = 200;

/** Precision of a modification time in the headers of an answer, in milliseconds. */
const MODIFIED_PRECISION_MS = 1_000;

/**
 * Reads an object in the version that was listed. After a broken or stalled connection, it resumes with
 * `Range` in the same version. It ends without an error only if exactly the listed number of bytes was
 * received and they match the store's checksum. Bytes are passed on before that is known, so the caller must
 * not seal anything before the end.
 */
export async function* openS3File(file: SourceFile, options: OpenS3FileOptions): AsyncGenerator<Uint8Array> {
  const { client, isEtagMd5, signal } = options;
  const object = { ...parseObjectUri(file.uri), version: parseVersion(file), sizeBytes: file.sizeBytes };
  let offset = 0;
  let resumes = 0;
  let body: S3Body | null = null;
  let check: ContentCheck | null = null;

  async function read(): Promise<Uint8Array | null> {
    try {
      body ??= await openS3Body(object, { client, offset, ...(signal ? { signal } : {}) });
      if (offset === 0) check = await createContentCheck(body.answer, { isEtagMd5 });
      const bytes = await body.next();
      if (bytes === null && offset < file.sizeBytes) throw new ReadBroken('read_cut');
      return bytes;
    } catch (error) {
      body?.destroy();
      body = null;
      // After the last byte there is nothing left to request, so a broken connection does not matter.
      if (error instanceof ReadBroken && offset === file.sizeBytes) return null;
      throw error;
    }
  }

  // The SDK has already retried time-outs and 5xx answers. A store that restarts refuses connections for
  // longer than the SDK retries.
  function mayRetry(error: Error): boolean {
    resumes += 1;
    const isCut = error instanceof ReadBroken || (isNetworkError(error) && !isTimeout(error));
    return isCut && resumes <= MAX_RESUMES;
  }

  try {
    if (file.sizeBytes > 0) await letModificationSettle(object, signal);
    while (file.sizeBytes > 0) {
      const bytes = await pRetry(read, {
        retries: TRIES_WITHOUT_A_BYTE - 1,
        minTimeout: FIRST_PAUSE_MS,
        shouldRetry: ({ error }) => mayRetry(error),
        ...(signal ? { signal } : {}),
      });
      if (bytes === null) break;
      offset += bytes.length;
      if (offset > file.sizeBytes) throw changedWhileReading(file);
      (check as ContentCheck | null)?.update(bytes);
      yield bytes;
    }
    await verify(file, { object, check, ...options });
  } catch (error) {
    if (error instanceof FileHeld || signal?.aborted === true) throw error;
    throw explainFailure(error, { file, offset, client });
  } finally {
    (body as S3Body | null)?.destroy();
  }
}

/**
 * Waits until the second of the file's modification time has passed. A file that was changed within the last
 * second can change again without a new modification time. After that second, the time identifies one
 * content.
 */
async function letModificationSettle({ version }: PinnedObject, signal?: AbortSignal): Promise<void> {
  if (version.kind !== 'modified' || version.modifiedMs % MODIFIED_PRECISION_MS !== 0) return;
  const waitMs = version.modifiedMs + MODIFIED_PRECISION_MS - Date.now();
  if (waitMs > 0) await sleep(Math.min(waitMs, MODIFIED_PRECISION_MS), undefined, signal ? { signal } : {});
}

/**
 * Verifies after the last byte that the content matches the store's checksum and that the listed version is
 * still the current one.
 */
async function verify(
  file: SourceFile,
  {
    object,
    check,
    client,
    signal,
  }: Pick<OpenS3FileOptions, 'client' | 'signal'> & {
    readonly object: PinnedObject;
    readonly check: ContentCheck | null;
  },
): Promise<void> {
  const mismatch = (await check?.findMismatch()) ?? null;
  if (mismatch !== null) throw damaged(file, mismatch);
  if (object.version.kind !== 'modified' || file.sizeBytes === 0) return;
  // Without an ETag or a version id, an answer is not bound to one version, so compare the version once more.
  const { bucket: Bucket, key: Key } = object;
  const now = await client.api.headObject({ Bucket, Key }, signal ? { abortSignal: signal } : {});
  if (!isListedVersion(object, now)) throw changedWhileReading(file);
}

/** Converts an error to what the caller must throw. @param offset number of bytes received. */
function explainFailure(
  error: unknown,
  { file, offset, client }: { file: SourceFile; offset: number; client: S3Client },
): unknown {
  const status = statusOf(error);
  const name = error instanceof Error ? error.name : '';
  if (status === 412 || error instanceof VersionGone) return changedWhileReading(file);
  if (name === 'NoSuchKey' || name === 'NoSuchVersion' || name === 'NotFound') return fileGone(file);
  if (name === 'InvalidObjectState') {
    return new FileHeld({
      code: 'file_archived',
      message: `${file.uri} is in an archive storage class and cannot be read.`,
      help: 'Restore the object, or copy it to a readable storage class.',
    });
  }
  if (error instanceof ReadBroken) return readBroken(file, { offset, code: error.code });
  if (isTimeout(error)) return readBroken(file, { offset, code: 'read_stalled' });
  if (offset > 0 && (isNetworkError(error) || (status ?? 0) >= 500))
    return readBroken(file, { offset, code: 'read_cut' });
  const object = parseObjectUri(file.uri);
  const known = explainS3Error(error, { ...object, client });
  if (known === null) return error;
  return OF_ONE_OBJECT.includes(known.details.code) ? fileUnavailable(file, known) : known;
}

/**
 * Errors that can concern a single object while the store serves others. Wrong credentials, clocks and
 * regions affect all of them.
 */
const OF_ONE_OBJECT = ['s3_access_denied', 's3_failing', 's3_refused'];

function readBroken(
  { uri, sizeBytes }: SourceFile,
  { offset, code }: { offset: number; code: ReadBroken['code'] },
): FileHeld {
  const why = { read_cut: 'the connection was cut repeatedly', read_stalled: 'the store stopped sending' }[
    code
  ];
  return new FileHeld({
    code,
    message: `${uri} could not be read completely: ${why} (${offset} of ${sizeBytes} bytes arrived).`,
    help: 'The next run reads it again. If the error persists, check the network and the store.',
    isTransient: true,
  });
}

function damaged({ uri, sizeBytes }: SourceFile, mismatch: Mismatch): FileHeld {
  const { digest, isEtag, actual, expected } = mismatch;
  const named = isEtag ? `the ETag ${expected}, which is an MD5 elsewhere` : expected;
  const own = isEtag
    ? ' If the ETags of the store are no MD5 digests, set etag_is_md5: false for the source.'
    : '';
  return new FileHeld({
    code: 'read_damaged',
    message: `${uri} was read completely (${sizeBytes} bytes), but its content is not that of the object: its ${digest} is ${actual}, and the store names ${named}.`,
    help: `The next run reads it again. If the error persists, the file is damaged in the store or in transit (a proxy, the network).${own}`,
    isTransient: true,
  });
}

/** A read that ended too early. */
class ReadBroken extends Error {
  readonly code: 'read_cut' | 'read_stalled';

  constructor(code: ReadBroken['code'], cause?: unknown) {
    super(code, { cause });
    this.name = 'ReadBroken';
    this.code = code;
  }
}

/** The store answered with another version than the listed one. Equivalent to a 412. */
class VersionGone extends Error {
  override readonly name = 'VersionGone';
}

/** An object in the version that was listed. */
type PinnedObject = {
  readonly bucket: string;
  readonly key: string;
  readonly version: ObjectVersion;
  readonly sizeBytes: number;
};

type S3Body = {
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

type S3BodyOptions = {
  readonly client: S3Client;
  /** Offset of the first byte to read. */
  readonly offset: number;
  readonly signal?: AbortSignal;
};

/**
 * Requests an object from `offset` on, in the version that was listed. Rejects with the SDK's error (412 if
 * the object was replaced).
 */
async function openS3Body(object: PinnedObject, { client, offset, signal }: S3BodyOptions): Promise<S3Body> {
  const { bucket, key, version } = object;
  const answer = await client.api.getObject(
    {
      Bucket: bucket,
      Key: key,
      // If-Match uses strong comparison, so a weak ETag would never match.
      ...(version.kind === 'etag' && !version.etag.startsWith('"W/') ? { IfMatch: version.etag } : {}),
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
function isListedVersion({ version, sizeBytes }: PinnedObject, answer: Stated): boolean {
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

/** Removes the weak prefix. A proxy may weaken an ETag, but it still identifies the same version. */
function strong(etag: string): string {
  return etag.replace(/^"?W\/"?|"/g, '');
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

function toBody(
  stream: Readable,
  { answer, skip }: { answer: GetObjectCommandOutput; skip: number },
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
