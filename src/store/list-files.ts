import type { SourceSettings } from '../config/source-fields.ts';
import type { SourceFile } from '../core/source.ts';
import { createSkipRule, type SkippedFile } from './exclude.ts';
import { isOfFolder, listFolderFiles } from './list-folder-files.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from './parse-source-uri.ts';
import { findS3Files, isAtLocation, listS3Files } from './s3/list-s3-files.ts';
import type { SourceClients } from './source-clients.ts';

export type ListFilesOptions = {
  readonly clients: SourceClients;
  readonly signal?: AbortSignal;
  /**
   * The first day to list, as `2026-11-22`, if the uri of the source contains a date. Null or absent: all
   * names.
   */
  readonly since?: string | null;
  /** Called with each file that is not an export of the source. */
  readonly onSkipped?: (file: SkippedFile) => void;
};

/**
 * Lists the files of a source, sorted by name. The source is `s3://bucket/prefix/` or a folder, each
 * optionally with a glob, or a single file. Files that `exclude` matches and empty markers are skipped. A
 * version identifies the content of a file, and uses its time only if the store offers nothing better.
 *
 * @throws KnownError if the source cannot be listed (exit 1 if the store does not answer, 2 otherwise).
 */
export async function* listFiles(
  source: SourceSettings,
  { clients, signal, since = null, onSkipped = () => {} }: ListFilesOptions,
): AsyncGenerator<SourceFile> {
  const place = parseSourceUri(source.uri);
  const start = since === null ? null : (place.dated?.startOf(since) ?? null);
  const rules = { skip: createSkipRule(source), onSkipped, start, ...(signal ? { signal } : {}) };
  const { followLinks } = source;
  if (place.kind === 'folder') yield* listFolderFiles(place.path, { ...rules, followLinks });
  else
    yield* listS3Files(place, { client: await clients.s3(source), startAfter: source.startAfter, ...rules });
}

/**
 * Looks up files of an S3 source by their addresses, in this order. Skips the same files as `listFiles`, and
 * those that do not exist.
 *
 * @throws KnownError like `listFiles`.
 */
export async function* findFiles(
  source: SourceSettings,
  uris: readonly string[],
  { clients, signal }: Pick<ListFilesOptions, 'clients' | 'signal'>,
): AsyncGenerator<SourceFile> {
  const place = parseSourceUri(source.uri);
  if (place.kind === 'folder' || uris.length === 0) return;
  // A source may have had files elsewhere before.
  const objects = uris.filter((uri) => uri.startsWith('s3:')).map(parseObjectUri);
  const keys = objects.filter(({ bucket }) => bucket === place.bucket).map(({ key }) => key);
  const options = { client: await clients.s3(source), skip: createSkipRule(source) };
  yield* findS3Files(place, keys, { ...options, ...(signal ? { signal } : {}) });
}

/** True if a source covers the file at an address, whether or not the file exists. */
export async function coversFile(source: SourceSettings, uri: string): Promise<boolean> {
  const place = parseSourceUri(source.uri);
  const skip = createSkipRule(source);
  if (place.kind === 'folder')
    return uri.startsWith('file:') && isOfFolder(pathOfFileUri(uri), { place: place.path, skip });
  return uri.startsWith('s3:') && isAtLocation(parseObjectUri(uri), { place, skip });
}
