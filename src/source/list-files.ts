import type { SourceSettings } from '../model/config.ts';
import type { SourceFile } from '../model/source.ts';
import { listFolderFiles } from './list-folder-files.ts';
import { listS3Files } from './list-s3-files.ts';
import { parseSourceUri } from './parse-source-uri.ts';
import type { SourceClients } from './source-clients.ts';

export type ListFilesOptions = { readonly clients: SourceClients; readonly signal?: AbortSignal };

/**
 * The files of a source in the order of their names: `s3://bucket/prefix/` and folders, each with a glob if wanted, or one single file.
 * Names that begin with a dot, and "directory markers" of S3, are no exports. A file is pinned by its content, never by its time.
 *
 * @throws KnownError (exit 2, or 4 for credentials): the source is not there or may not be read.
 */
export async function* listFiles(
  source: SourceSettings,
  { clients, signal }: ListFilesOptions,
): AsyncGenerator<SourceFile> {
  const place = parseSourceUri(source.uri);
  if (place.kind === 'folder') yield* listFolderFiles(place.path, signal);
  else yield* listS3Files(place, { client: await clients.s3(source), ...(signal ? { signal } : {}) });
}
