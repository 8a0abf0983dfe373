import type { SourceSettings } from '../model/config.ts';
import type { SourceFile } from '../model/source.ts';
import { createSkipRule, type SkippedFile } from './exclude.ts';
import { isOfFolder, listFolderFiles } from './list-folder-files.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from './parse-source-uri.ts';
import { isOfPlace, listS3Files } from './s3/list-s3-files.ts';
import type { SourceClients } from './source-clients.ts';

export type ListFilesOptions = {
  readonly clients: SourceClients;
  readonly signal?: AbortSignal;
  /** Told of each file that is there and is no export of the source. */
  readonly onSkipped?: (file: SkippedFile) => void;
};

/**
 * The files of a source in the order of their names: `s3://bucket/prefix/` and folders, each with a glob if wanted, or one single file.
 * What `exclude` of the source names, and empty markers, are no exports. A file is pinned by its content, never by its time where that can
 * be helped.
 *
 * @throws KnownError (exit 1 where the store does not answer, 2, or 4 for credentials): the source cannot be listed.
 */
export async function* listFiles(
  source: SourceSettings,
  { clients, signal, onSkipped = () => {} }: ListFilesOptions,
): AsyncGenerator<SourceFile> {
  const place = parseSourceUri(source.uri);
  const rules = { skip: createSkipRule(source.exclude), onSkipped, ...(signal ? { signal } : {}) };
  const { followLinks } = source;
  if (place.kind === 'folder') yield* listFolderFiles(place.path, { ...rules, followLinks });
  else yield* listS3Files(place, { client: await clients.s3(source), ...rules });
}

/** Whether a source means the file of an address, whether or not it is there now. */
export async function coversFile(source: SourceSettings, uri: string): Promise<boolean> {
  const place = parseSourceUri(source.uri);
  const skip = createSkipRule(source.exclude);
  if (place.kind === 'folder')
    return uri.startsWith('file:') && isOfFolder(pathOfFileUri(uri), { place: place.path, skip });
  return uri.startsWith('s3:') && isOfPlace(parseObjectUri(uri), { place, skip });
}
