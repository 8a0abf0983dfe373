import type { SourceSettings } from '../model/config.ts';
import type { SourceFile } from '../model/source.ts';
import { openFolderFile } from './open-folder-file.ts';
import { openS3File } from './s3/open-s3-file.ts';
import type { SourceClients } from './source-clients.ts';

export type OpenFileOptions = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  /** Ends the read at once. */
  readonly signal?: AbortSignal;
};

/**
 * The stored bytes of a file, of exactly the version that was listed. Nothing stays open when the reader stops early.
 *
 * @throws FileHeld `changed_while_reading`, `file_gone`, `read_cut`, `read_stalled`, `read_damaged`, `file_unavailable` (all transient),
 *   `file_archived`.
 * @throws KnownError where the whole source cannot be read.
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
