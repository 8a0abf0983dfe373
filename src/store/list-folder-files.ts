import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, matchesGlob, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorCode } from '../core/error-code.ts';
import { configurationError, type KnownError } from '../core/known-error.ts';
import type { SourceFile } from '../core/source.ts';
import { isBefore, WILDCARD } from '../core/time/dated-names.ts';
import { type ListingRules, NOT_OF_GLOB, type SkipRule, SOME_BYTES } from './exclude.ts';

/** Reading in larger pieces than the default of 64 KiB saves a third of the time. */
export const READ_BYTES = 512 * 1_024;

/**
 * Lists the files in and below a folder, sorted by name, each with the digest of its content. Symbolic links
 * are followed within the folder, and each real folder is read once. Without `followLinks`, a link that leads
 * out of the folder is listed but not read. A path that exists is never treated as a glob.
 *
 * @throws KnownError `folder_missing`, `folder_unreadable` (exit 2).
 */
export async function* listFolderFiles(
  path: string,
  { followLinks, signal, skip, onSkipped, start }: ListingRules & { readonly followLinks: boolean },
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
      const path = join(folder, sizeBytes === null ? `${name}/` : name);
      if (start !== null && isBefore(path, start)) return true;
      const reason = skip(name, sizeBytes);
      if (reason !== null) onSkipped({ uri: pathToFileURL(join(folder, name)).href, reason });
      return reason !== null;
    },
  });
  for await (const name of walked) {
    // The target of a link that leads out is not read, so the glob cannot exclude what may be in it.
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
  /** The size is null for folders. */
  readonly skip: (name: string, sizeBytes: number | null) => boolean;
  /** The real folder that the walk must not leave. Null: any folder may be read. */
  readonly root: string | null;
  /** Called with a link that leads out, before its name is yielded. */
  readonly onOutside: (name: string) => void;
  /** Names of the parent folders, each followed by a slash. */
  readonly above?: string;
};

/**
 * Yields the names of regular files below a folder, and of links that lead out of the root, relative to the
 * start of the walk.
 */
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
    // Check this before any access to the target, which could be /proc, a device, or a file of another user.
    if (root !== null && entry.isSymbolicLink() && !(await staysWithin(root, path))) {
      if (skip(name, null)) continue;
      onOutside(name);
      yield name;
      continue;
    }
    // Follows links. A link without a target, or a file that was removed meanwhile, does not exist.
    const stats = await statOrNull(path);
    if (stats === null || skip(name, stats.isFile() ? stats.size : null)) continue;
    if (stats.isFile()) yield name;
    if (stats.isDirectory() && depth > 1)
      yield* walk(path, { ...rules, depth: depth - 1, above: `${name}/` });
  }
}

/** True if a link leads to a place below the root, or nowhere. */
async function staysWithin(root: string, path: string): Promise<boolean> {
  const real = await realpath(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return root;
    return null;
  });
  return real !== null && (real === root || real.startsWith(root === sep ? root : `${root}${sep}`));
}

/** Version of a link that leads out of its source's folder. */
export const OUTSIDE = 'outside';

async function* digestFile(path: string, signal?: AbortSignal): AsyncGenerator<SourceFile> {
  const content = await digestContent(path, signal).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    if (isUnreadable(error)) return { version: UNREADABLE, sizeBytes: 0 };
    throw error;
  });
  if (content === null) return;
  const file = { uri: pathToFileURL(path).href, ...content };
  const modifiedAt = (await statOrNull(path))?.mtime;
  yield modifiedAt === undefined ? file : { ...file, modifiedAt };
}

/**
 * Computes the digest of a file. While a piece of a large file is hashed, the next one is read. The buffers are
 * reused: a stream allocates each piece, which costs as much as the digest.
 */
async function digestContent(
  path: string,
  signal?: AbortSignal,
): Promise<Pick<SourceFile, 'version' | 'sizeBytes'>> {
  const hash = createHash('sha256');
  let piece: Buffer = Buffer.allocUnsafe(READ_BYTES);
  let spare: Buffer | null = null;
  const file = await open(path);
  try {
    let { bytesRead } = await file.read(piece);
    let sizeBytes = 0;
    while (bytesRead > 0) {
      signal?.throwIfAborted();
      sizeBytes += bytesRead;
      if (bytesRead < piece.length) {
        hash.update(piece.subarray(0, bytesRead));
        ({ bytesRead } = await file.read(piece));
        continue;
      }
      const filling: Buffer = spare ?? Buffer.allocUnsafe(READ_BYTES);
      const next = file.read(filling);
      hash.update(piece);
      [piece, spare] = [filling, piece];
      ({ bytesRead } = await next);
    }
    return { version: `sha256:${hash.digest('hex')}`, sizeBytes };
  } finally {
    await file.close();
  }
}

/** True if a path would be listed if it existed. */
export async function isOfFolder(
  path: string,
  { place, skip }: { place: string; skip: SkipRule },
): Promise<boolean> {
  const found = await statOrNull(place);
  if (found?.isFile() || path === place) return path === place;
  const folder = found === null && WILDCARD.test(place) ? folderBefore(place) : place;
  const prefix = folder === '/' ? '/' : `${folder}/`;
  if (!path.startsWith(prefix)) return false;
  const name = path.slice(prefix.length);
  const glob = folder === place ? null : place.slice(prefix.length);
  return (glob === null || matchesGlob(name, glob)) && skip(name, SOME_BYTES) === null;
}

/** Returns the deepest folder before the first wildcard. */
function folderBefore(path: string): string {
  return dirname(`${path.slice(0, path.search(WILDCARD))}x`);
}

async function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    return refuse(error, path);
  });
}

function missing(path: string): KnownError {
  return configurationError({
    code: 'folder_missing',
    message: 'The folder does not exist.',
    where: path,
    help: 'Create the folder, or correct its path (the uri of a source in pipeline.yaml is relative to that file).',
    safe: 'Nothing was read.',
  });
}

/**
 * Version of a file that exists but cannot be read. The file is held, and the others of its folder are read.
 */
const UNREADABLE = 'unreadable';

/** True if the file system refuses to read a file, because of its permissions or a disk error. */
function isUnreadable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EIO'].includes(errorCode(error) ?? '');
}

/** Throws an explained error if a folder or file cannot be read, or else the original error. */
function refuse(error: unknown, path: string): never {
  throw explainUnreadable(error, path) ?? error;
}

/** Explains why a folder or file cannot be read. Returns null for any other error. */
export function explainUnreadable(error: unknown, path: string): KnownError | null {
  if (!isUnreadable(error)) return null;
  const code = errorCode(error);
  const isBroken = code === 'EIO';
  return configurationError({
    code: 'folder_unreadable',
    message: isBroken ? 'The file system cannot read it (EIO).' : `This user may not read it (${code}).`,
    where: path,
    help: isBroken
      ? 'Check its disk or network share.'
      : 'Grant the user that runs influencer-sync the right to read it.',
    safe: 'Nothing in it was read.',
    cause: error,
  });
}
