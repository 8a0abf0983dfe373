import { posix } from 'node:path';

/** A file with what decides which source it belongs to. */
export type Groupable = {
  /** Below the place that was given, with `/` between its parts. */
  readonly name: string;
  /** The same for files of one kind of export; null for files that are no export. */
  readonly kind: string | null;
};

/** Files of one source, and how it means them and no others. */
export type Group<Item> = {
  readonly kind: string;
  /** Below the place: empty, a folder with a slash behind it, or a folder and a glob. */
  readonly path: string;
  /** What tells it from others of its kind: the last part of its folder; empty at the top. */
  readonly label: string;
  readonly items: readonly Item[];
};

/** `2026`, `04`, `dt=2026-04-10`, `year=2026`: a part of a path that only says when. */
const PARTITION = /^(?:[a-z_]+=)?[\d_.-]+$/i;

/**
 * Puts files into sources: those of one kind in one folder, where folders that only say when count as one. Two shops that export into folders
 * of their own are two sources, though their files are of one kind.
 */
export function groupSources<Item extends Groupable>(files: readonly Item[]): readonly Group<Item>[] {
  const groups = new Map<string, Item[]>();
  for (const file of files) {
    if (file.kind === null) continue;
    const key = `${folderOf(file.name)}\n${file.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups].map(([key, items]) => {
    const [folder = '', kind = ''] = key.split('\n');
    return {
      kind,
      path: pathOf(folder, items, files),
      label: posix.basename(folder.replace(/\/$/, '')),
      items,
    };
  });
}

/** The folder of a file, with a slash behind it, without the parts that only say when. */
function folderOf(name: string): string {
  const parts = name.split('/').slice(0, -1);
  while (parts.length > 0 && isPartition(parts.at(-1) ?? '')) parts.pop();
  return parts.length === 0 ? '' : `${parts.join('/')}/`;
}

function isPartition(part: string): boolean {
  return PARTITION.test(part) && /\d/.test(part);
}

/** The folder where all in it belongs to the source; else a glob that means its files, and files like them, alone. */
function pathOf(folder: string, items: readonly Groupable[], all: readonly Groupable[]): string {
  const own = new Set(items.map(({ name }) => name));
  const others = all.filter(({ name }) => name.startsWith(folder) && !own.has(name));
  if (others.length === 0) return folder;
  const fits = (glob: string): boolean =>
    items.every(({ name }) => posix.matchesGlob(name, glob)) &&
    !others.some(({ name }) => posix.matchesGlob(name, glob));
  const names = items.map(({ name }) => name.slice(folder.length));
  const isDeep = names.some((name) => name.includes('/'));
  const bases = names.map((name) => posix.basename(name));
  const start = escapeGlob(commonStart(bases).replace(/(?<![\d_.-])[\d_.-]+$/, ''));
  const end = commonEnd(bases);
  const deep = isDeep ? '**/' : '';
  const candidates = [
    ...(start === '' ? [] : [`${start}*${end}`, `${start}*`]),
    `*${end}`,
    ...(bases.length === 1 ? [escapeGlob(bases[0] ?? '')] : []),
  ].map((glob) => `${escapeGlob(folder)}${deep}${glob}`);
  const [glob] = candidates.filter(fits);
  // No pattern tells them apart: every file by name, which finds no new ones.
  return glob ?? `${escapeGlob(folder)}${deep}{${bases.map(escapeGlob).join(',')}}`;
}

function commonStart(texts: readonly string[]): string {
  const [first = '', ...rest] = texts;
  let length = texts.length === 1 ? first.search(/[\d]|\.[a-z]+/i) : first.length;
  if (length === -1) length = first.length;
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** From the extension on: `.csv`, `.csv.gz`. */
function commonEnd(texts: readonly string[]): string {
  const ends = new Set(texts.map((text) => /(?:\.[a-z0-9]{1,5}){1,2}$/i.exec(text)?.[0] ?? ''));
  const [only] = ends;
  return ends.size === 1 && only !== undefined && !/\d/.test(only) ? only : '';
}

function escapeGlob(text: string): string {
  return text.replace(/[*?[\]{}\\!+@()]/g, (character) => `\\${character}`);
}
