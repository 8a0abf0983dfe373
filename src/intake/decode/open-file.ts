import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { SourceSettings } from '../../config/source-fields.ts';
import { errorCode } from '../../core/error-code.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { SourceFile } from '../../core/source.ts';
import { changedWhileReading, fileGone, fileUnavailable } from '../../store/file-unavailable.ts';
import { explainUnreadable, OUTSIDE, READ_BYTES } from '../../store/list-folder-files.ts';
import { pathOfFileUri } from '../../store/parse-source-uri.ts';
import { openS3File } from '../../store/s3/open-s3-file.ts';
import type { SourceClients } from '../../store/source-clients.ts';

/** A file that has grown since it was listed is still read in pieces of a reasonable size. */
const LEAST_READ_BYTES = 16 * 1_024;

export type OpenFileOptions = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  readonly signal?: AbortSignal;
};

/**
 * Reads the stored bytes of exactly the version that was listed. Releases all resources even if the reader
 * stops early.
 *
 * @throws FileHeld `changed_while_reading`, `file_gone`, `read_cut`, `read_stalled`, `read_damaged`,
 * `file_unavailable` (all transient), `file_archived`, `link_outside`.
 * @throws KnownError if the whole source cannot be read.
 */
export async function* openFile(
  file: SourceFile,
  { source, clients, signal }: OpenFileOptions,
): AsyncGenerator<Uint8Array> {
  const given = signal ? { signal } : {};
  if (file.uri.startsWith('file:')) return yield* openFolderFile(file, given);
  const client = await clients.s3(source);
  yield* openS3File(file, { client, isEtagMd5: source.etagIsMd5, ...given });
}

/**
 * Reads a local file. Whether it is the listed version is known only at the end, so the caller must not seal
 * anything before.
 */
async function* openFolderFile(
  file: SourceFile,
  { signal }: { signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const path = pathOfFileUri(file.uri);
  if (file.version === OUTSIDE)
    throw new FileHeld({
      code: 'link_outside',
      message: `${file.uri} is a link that leads out of the source's folder, so it is not read.`,
      help: 'Put the files themselves there. Or, if all users who can write to the folder may let the job read them, set follow_links: true on the source.',
    });
  const hash = createHash('sha256');
  // The stream allocates this much even for a file of a few rows, and thousands of such buffers keep the
  // garbage collector busy.
  const highWaterMark = Math.min(READ_BYTES, Math.max(LEAST_READ_BYTES, file.sizeBytes));
  const stream = createReadStream(path, { highWaterMark, ...(signal ? { signal } : {}) });
  try {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      hash.update(bytes);
      yield bytes;
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw fileGone(file, error);
    const known = explainUnreadable(error, path);
    throw known === null ? error : fileUnavailable(file, known);
  } finally {
    stream.destroy();
  }
  if (`sha256:${hash.digest('hex')}` !== file.version) throw changedWhileReading(file);
}
