import { posix } from 'node:path';

/** A file, with the properties that determine its source. */
export type Groupable = {
  /** Path below the examined place, with `/` as the separator. */
  readonly name: string;
  /** Equal for files of the same kind of export. Null for files that are not exports. */
  readonly kind: string | null;
};

/** The files of one source, and the path that matches exactly these files. */
export type Group<Item> = {
  readonly kind: string;
  /** Path below the examined place: empty, a folder with a trailing slash, or a folder and a glob. */
  readonly path: string;
  /**
   * The last part of its folder, which distinguishes it from other sources of its kind. Empty at the top
   * level.
   */
  readonly label: string;
  readonly items: readonly Item[];
};

/** A path part that is only a date: `2026`, `04`, `dt=2026-04-10`, `year=2026`. */
const PARTITION = /^(?:[a-z_]+=)?[\d_.-]+$/i;

/**
 * Groups files into sources: the files of one kind in one folder, where folders that are only a date count as
 * part of their parent. Two shops that export to separate folders become two sources, even if their files are
 * of the same kind.
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

/** The folder of a file with a trailing slash, without the parts that are only a date. */
function folderOf(name: string): string {
  const parts = name.split('/').slice(0, -1);
  while (parts.length > 0 && isPartition(parts.at(-1) ?? '')) parts.pop();
  return parts.length === 0 ? '' : `${parts.join('/')}/`;
}

function isPartition(part: string): boolean {
  return PARTITION.test(part) && /\d/.test(part);
}

/**
 * The folder if every file in it belongs to the source. Otherwise a glob that matches only the source's files
 * and files with similar names.
 */
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
  // No pattern separates them, so each file is listed by name. New files are not found in this case.
  return glob ?? `${escapeGlob(folder)}${deep}{${bases.map(escapeGlob).join(',')}}`;
}

function commonStart(texts: readonly string[]): string {
  const [first = '', ...rest] = texts;
  let length = texts.length === 1 ? first.search(/[\d]|\.[a-z]+/i) : first.length;
  if (length === -1) length = first.length;
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** The common extensions: `.csv`, `.csv.gz`. */
function commonEnd(texts: readonly string[]): string {
  const ends = new Set(texts.map((text) => /(?:\.[a-z0-9]{1,5}){1,2}$/i.exec(text)?.[0] ?? ''));
  const [only] = ends;
  return ends.size === 1 && only !== undefined && !/\d/.test(only) ? only : '';
}

function escapeGlob(text: string): string {
  return text.replace(/[*?[\]{}\\!+@()]/g, (character) => `\\${character}`);
}
