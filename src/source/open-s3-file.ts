import pRetry from 'p-retry';
import { FileHeld } from '../model/file-held.ts';
import type { SourceFile } from '../model/source.ts';
import { changedWhileReading, fileGone } from './changed-while-reading.ts';
import type { S3Client } from './create-s3-client.ts';
import { explainS3Error, isNetworkError, isTimeout, statusOf } from './explain-s3-error.ts';
import { parseObjectUri } from './parse-source-uri.ts';
import { openS3Body, ReadBroken, type S3Body } from './s3-body.ts';

export type OpenS3FileOptions = {
  readonly client: S3Client;
  readonly signal?: AbortSignal;
};

/** So often in a row without a byte, with pauses of 0.2 s, 0.4 s, …: a store that restarts is back by then. */
const TRIES_WITHOUT_A_BYTE = 5;
const FIRST_PAUSE_MS = 200;

/** A store that cuts every read is given up, though each try brings a few bytes. */
const MAX_RESUMES = 200;

/**
 * Reads an object, pinned to the listed ETag by `If-Match`. After a cut or a stall it goes on where it stopped, by `Range`, still pinned.
 * Ends without error only when exactly the listed number of bytes has come.
 */
export async function* openS3File(
  file: SourceFile,
  { client, signal }: OpenS3FileOptions,
): AsyncGenerator<Uint8Array> {
  const object = { ...parseObjectUri(file.uri), etag: file.version.replace(/^etag:/, '') };
  let offset = 0;
  let resumes = 0;
  let body: S3Body | null = null;

  async function read(): Promise<Uint8Array | null> {
    try {
      body ??= await openS3Body(object, { client, offset, ...(signal ? { signal } : {}) });
      const bytes = await body.next();
      if (bytes === null && offset < file.sizeBytes) throw new ReadBroken('read_cut');
      return bytes;
    } catch (error) {
      body?.destroy();
      body = null;
      // Nothing is left to ask for after the last byte, whatever became of the connection.
      const isWhole =
        error instanceof ReadBroken && error.code !== 'read_damaged' && offset === file.sizeBytes;
      if (isWhole) return null;
      throw error;
    }
  }

  // The SDK has tried time-outs and 5xx again by itself; a store that restarts refuses connections for longer than the SDK tries.
  function mayRetry(error: Error): boolean {
    resumes += 1;
    const isCut =
      error instanceof ReadBroken
        ? error.code !== 'read_damaged'
        : isNetworkError(error) && !isTimeout(error);
    return isCut && resumes <= MAX_RESUMES;
  }

  try {
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
      yield bytes;
    }
  } catch (error) {
    if (error instanceof FileHeld || signal?.aborted === true) throw error;
    throw explainFailure(error, { file, offset, client });
  } finally {
    (body as S3Body | null)?.destroy();
  }
}

/** @param offset bytes that had come. */
function explainFailure(
  error: unknown,
  { file, offset, client }: { readonly file: SourceFile; readonly offset: number; readonly client: S3Client },
): unknown {
  const status = statusOf(error);
  const name = error instanceof Error ? error.name : '';
  if (status === 412) return changedWhileReading(file);
  if (name === 'NoSuchKey' || name === 'NotFound') return fileGone(file);
  if (name === 'InvalidObjectState') {
    return new FileHeld({
      code: 'file_archived',
      message: `${file.uri} lies in an archive storage class and can't be read.`,
      help: 'Restore the object, or copy it to a readable storage class.',
    });
  }
  if (error instanceof ReadBroken) return readBroken(file, { offset, code: error.code });
  if (isTimeout(error)) return readBroken(file, { offset, code: 'read_stalled' });
  if (offset > 0 && (isNetworkError(error) || (status ?? 0) >= 500))
    return readBroken(file, { offset, code: 'read_cut' });
  const object = parseObjectUri(file.uri);
  return explainS3Error(error, { ...object, endpoint: client.endpoint }) ?? error;
}

function readBroken(
  { uri, sizeBytes }: SourceFile,
  { offset, code }: { readonly offset: number; readonly code: ReadBroken['code'] },
): FileHeld {
  const why = {
    read_cut: 'the connection was cut again and again',
    read_stalled: 'the store sent nothing more',
    read_damaged: 'the bytes do not have the checksum that the store names',
  }[code];
  return new FileHeld({
    code,
    message: `${uri} could not be read whole: ${why} (${offset} of ${sizeBytes} bytes came).`,
    help: 'The next run reads it again. If it stays so, check the network and the store.',
    isTransient: true,
  });
}
