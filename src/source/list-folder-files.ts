import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, matchesGlob, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { SourceFile } from '../model/source.ts';
import { type ListingRules, NOT_OF_GLOB, type SkipRule } from './exclude.ts';
import { WILDCARD } from './parse-source-uri.ts';

/** Larger pieces than the default of 64 KiB save a third of the time. */
export const READ_BYTES = 512 * 1_024;

/**
 * The files in and below a folder, in the order of their names, each with the digest of its content. Links are followed within the folder, each
 * real folder is read once. What a link leads to outside of it is listed and not read, unless `followLinks`. A path that exists as it is written is no glob.
 *
 * @throws KnownError `folder_missing`, `folder_unreadable` (exit 2).
 */
export async function* listFolderFiles(
  path: string,
  { followLinks, signal, skip, onSkipped }: ListingRules & { readonly followLinks: boolean },
): AsyncGenerator<SourceFile> {
  const found = await statOrNull(path);
  if (found === null && !WILDCARD.test(path)) throw missing(path);
  if (found?.isFile()) return yield* digestFile(path, signal);
  const folder = found === null ? folderBefore(path) : path;
  if ((await statOrNull(folder))?.isDirectory() !== true) throw missing(folder);

  const glob = found === null ? path.slice(folder === '/' ? 1 : folder.length + 1) : null;
  const depth = glob === null || glob.includes('**') ? Number.POSITIVE_INFINITY : glob.split('/').length;
  const names: string[] = [];
  const outside = new Set<string>();
  const walked = walk(folder, {
    depth,
    seen: new Set(),
    root: followLinks ? null : await realpath(folder).catch((error: unknown) => refuse(error, folder)),
    onOutside: (name) => void outside.add(name),
    skip: (name, sizeBytes) => {
      const reason = skip(name, sizeBytes);
      if (reason !== null) onSkipped({ uri: pathToFileURL(join(folder, name)).href, reason });
      return reason !== null;
    },
  });
  for await (const name of walked) {
    // It is unknown what a folder outside would have held, so no glob passes it over.
    if (glob === null || matchesGlob(name, glob) || (outside.has(name) && depth > 1)) names.push(name);
    else onSkipped({ uri: pathToFileURL(join(folder, name)).href, reason: NOT_OF_GLOB });
  }
  names.sort();
  for (const name of names) {
    if (outside.has(name))
      yield { uri: pathToFileURL(join(folder, name)).href, version: OUTSIDE, sizeBytes: 0 };
    else yield* digestFile(join(folder, name), signal);
  }
}

type Walk = {
  readonly depth: number;
  readonly seen: Set<string>;
  /** Of a folder's name the size is not known. */
  readonly skip: (name: string, sizeBytes: number | null) => boolean;
  /** The real folder that must not be left; null: any may be read. */
  readonly root: string | null;
  /** Told of a link that leads out, before its name comes. */
  readonly onOutside: (name: string) => void;
  /** Names of the folders above, each with a slash behind it. */
  readonly above?: string;
};

/** Names of the regular files below a folder, and of links that lead out of the root, relative to where the walk began. */
async function* walk(folder: string, rules: Walk): AsyncGenerator<string> {
  const { depth, seen, skip, root, onOutside, above = '' } = rules;
  const real = await realpath(folder).catch((error: unknown) => refuse(error, folder));
  if (seen.has(real)) return;
  seen.add(real);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
    refuse(error, folder),
  );
  for (const entry of entries) {
    const name = `${above}${entry.name}`;
    const path = join(folder, entry.name);
    // Before anything is asked of what it leads to: /proc, a device, another one's files.
    if (root !== null && entry.isSymbolicLink() && !(await staysWithin(root, path))) {
      if (skip(name, null)) continue;
      onOutside(name);
      yield name;
      continue;
    }
    // Follows links. One that leads nowhere, or a file that went meanwhile, is not there.
    const stats = await statOrNull(path);
    if (stats === null || skip(name, stats.isFile() ? stats.size : null)) continue;
    if (stats.isFile()) yield name;
    if (stats.isDirectory() && depth > 1)
      yield* walk(path, { ...rules, depth: depth - 1, above: `${name}/` });
  }
}

/** Whether a link leads to a place below the root, or nowhere. */
async function staysWithin(root: string, path: string): Promise<boolean> {
  const real = await realpath(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return root;
    return null;
  });
  return real !== null && (real === root || real.startsWith(root === sep ? root : `${root}${sep}`));
}

/** Version of a link that leads out of its source's folder. */
export const OUTSIDE = 'outside';

async function* digestFile(path: string, signal?: AbortSignal): AsyncGenerator<SourceFile> {
  const content = await digestContent(path, signal).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    if (isUnreadable(error)) return { version: UNREADABLE, sizeBytes: 0 };
    throw error;
  });
  if (content === null) return;
  const file = { uri: pathToFileURL(path).href, ...content };
  const modifiedAt = (await statOrNull(path))?.mtime;
  yield modifiedAt === undefined ? file : { ...file, modifiedAt };
}

/** Into the same memory again and again: a stream's, new for each piece, costs as much as the digest. */
async function digestContent(
  path: string,
  signal?: AbortSignal,
): Promise<Pick<SourceFile, 'version' | 'sizeBytes'>> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(READ_BYTES);
  const file = await open(path);
  try {
    for (let sizeBytes = 0; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece);
      if (bytesRead === 0) return { version: `sha256:${hash.digest('hex')}`, sizeBytes };
      hash.update(piece.subarray(0, bytesRead));
      sizeBytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/** Whether a path would be listed, were it there. */
export async function isOfFolder(
  path: string,
  { place, skip }: { readonly place: string; readonly skip: SkipRule },
): Promise<boolean> {
  const found = await statOrNull(place);
  if (found?.isFile() || path === place) return path === place;
  const folder = found === null && WILDCARD.test(place) ? folderBefore(place) : place;
  const prefix = folder === '/' ? '/' : `${folder}/`;
  if (!path.startsWith(prefix)) return false;
  const name = path.slice(prefix.length);
  const glob = folder === place ? null : place.slice(prefix.length);
  return (glob === null || matchesGlob(name, glob)) && skip(name, null) === null;
}

/** The deepest folder before the first wildcard. */
function folderBefore(path: string): string {
  return dirname(`${path.slice(0, path.search(WILDCARD))}x`);
}

async function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    return refuse(error, path);
  });
}

function missing(path: string): KnownError {
  return new KnownError({
    code: 'folder_missing',
    message: 'The folder does not exist.',
    where: path,
    help: 'Create the folder, or correct the uri of the source in pipeline.yaml (paths are relative to that file).',
    safe: 'Nothing was read.',
    exitCode: EXIT.configuration,
  });
}

/** Version of a file that is there and cannot be read: it is held, and the others of its folder are read. */
const UNREADABLE = 'unreadable';

/** Whether the file system refuses one file: its rights, or a part of the disk that is broken. */
function isUnreadable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EIO'].includes(codeOf(error) ?? '');
}

/** Says that a folder or file cannot be read; anything else is thrown as it is. */
function refuse(error: unknown, path: string): never {
  throw explainUnreadable(error, path) ?? error;
}

/** Why a folder or file cannot be read; null for any other error. */
export function explainUnreadable(error: unknown, path: string): KnownError | null {
  if (!isUnreadable(error)) return null;
  const code = codeOf(error);
  const isBroken = code === 'EIO';
  return new KnownError({
    code: 'folder_unreadable',
    message: isBroken ? 'The file system cannot read it (EIO).' : `This user may not read it (${code}).`,
    where: path,
    help: isBroken
      ? 'Check its disk or network share.'
      : 'Grant the user that runs influencer-sync the right to read it.',
    safe: 'Nothing in it was read.',
    exitCode: EXIT.configuration,
    cause: error,
  });
}

/** Code of a file system error, for example ENOENT. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
