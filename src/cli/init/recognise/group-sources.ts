import { posix } from 'node:path';
import type { RecognisedFile } from './recognise-file.ts';

/*
 * Which files of a place are one source, and the pattern that finds them. An export of the next month has another date in its
 * name, or another number: a pattern never contains the one of this month.
 */

/** A file, with what determines its source. */
export type Listed = RecognisedFile & {
  /** Path below the examined place, with `/` as the separator. */
  readonly name: string;
  /** Equal for files of the same kind of export. */
  readonly kind: string;
};

/** The files of one source. */
export type Group = {
  /** Path below the examined place that matches exactly these files: empty, a folder with a trailing slash, or with a glob. */
  readonly path: string;
  /** The last part of its folder, which distinguishes it from other sources of its kind. Empty at the top level. */
  readonly label: string;
  readonly files: readonly [Listed, ...Listed[]];
};

/** A path part that is only a date: `2026`, `04`, `dt=2026-04-10`, `year=2026`. */
const PARTITION = /^(?:[a-z_]+=)?[\d_.-]+$/i;

/**
 * Groups files into sources: the files of one kind in one folder, where folders that are only a date count as
 * part of their parent. Two shops that export to separate folders become two sources, even if their files are
 * of the same kind.
 *
 * @param all the names of all files in the place.
 */
export function groupSources(files: readonly Listed[], all: readonly string[]): readonly Group[] {
  const groups = Map.groupBy(files, ({ name, kind }) => `${folderOf(name)}\n${kind}`);
  return [...groups].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const [folder = ''] = key.split('\n');
    const own: Group['files'] = [first, ...others];
    const path = pathOf(folder, { own: own.map(({ name }) => name), all });
    return { path, label: posix.basename(folder.replace(/\/$/, '')), files: own };
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
 * The folder if every file in it belongs to the source. Otherwise a glob that matches the source's files, later ones
 * with similar names, and no other file that is there.
 */
function pathOf(folder: string, { own, all }: { own: readonly string[]; all: readonly string[] }): string {
  const ours = new Set(own);
  const others = all.filter((name) => name.startsWith(folder) && !ours.has(name));
  if (others.length === 0) return folder;
  const names = own.map((name) => name.slice(folder.length));
  const bases = names.map((name) => posix.basename(name));
  const below = `${escapeGlob(folder)}${names.some((name) => name.includes('/')) ? '**/' : ''}`;
  const end = commonEnd(bases);
  const globs = ['*', '[0-9]*'].flatMap((digits) => {
    const all = bases.map((base) => patternOf(base, digits));
    return [...(new Set(all).size === 1 ? all.slice(0, 1) : []), `${commonStart(all)}*${end}`];
  });
  const glob = [...globs, `*${end}`].find((one) => {
    const fits = (name: string): boolean => posix.matchesGlob(name, `${below}${one}`);
    return own.every(fits) && !others.some(fits);
  });
  // No pattern separates them, so each file is listed by name.
  const [only = '', ...further] = bases.map(escapeGlob);
  return `${below}${glob ?? (further.length === 0 ? only : `{${[only, ...further].join(',')}}`)}`;
}

/** True if a path finds only files that have the names of today. */
export function isOfNames(path: string): boolean {
  const name = posix.basename(path);
  return path !== '' && !path.endsWith('/') && !/(?<!\\)\*/.test(name);
}

/** Languages in whose names of months exports are named. */
const LANGUAGES = ['en', 'nl', 'de', 'fr', 'es', 'it', 'pt', 'da', 'sv', 'nb', 'fi', 'pl', 'cs'];

/** The names of months, long and short, without accents. */
const MONTHS: ReadonlySet<string> = new Set(
  LANGUAGES.flatMap((language) =>
    (['long', 'short'] as const).flatMap((month) => {
      const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
      return Array.from({ length: 12 }, (_, at) => plain(format.format(Date.UTC(2026, at, 1))));
    }),
  ).filter((name) => name.length >= 3 && /^[a-z]+$/.test(name)),
);

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f.]/g, '')
    .toLowerCase();
}

/** A digit run, perhaps of several numbers; or a word. */
const PART = /\d+(?:[ _.,-]+\d+)*|\p{L}[\p{L}\p{M}]*/gu;

/** The parts of a name without extensions that change from export to export: numbers, dates and months. */
function replacePeriods(stem: string, replace: (part: string, isNumber: boolean) => string): string {
  return stem.replace(PART, (part) => {
    const isNumber = /^\d/.test(part);
    return isNumber || MONTHS.has(plain(part)) ? replace(part, isNumber) : part;
  });
}

/** A name without its extensions and without dates, months and numbers: of `orders-april-2026 (2).csv`, `orders`. */
export function withoutPeriods(name: string): string {
  const [stem = ''] = name.split(EXTENSIONS);
  return replacePeriods(stem, () => ' ').trim();
}

/**
 * The glob of the names of one export. `verkoop april 2026.csv` becomes `verkoop *.csv`; `orders.csv`, `orders*.csv`.
 *
 * @param digits the glob of a number.
 */
function patternOf(base: string, digits: string): string {
  const [stem = ''] = base.split(EXTENSIONS);
  const marked = replacePeriods(stem, (_, isNumber) => (isNumber ? NUMBER : MONTH));
  const short = marked.replace(REPEATED, (all) => [...all][0] ?? '');
  const glob = escapeGlob(short).replaceAll(MONTH, '*').replaceAll(NUMBER, digits);
  return `${glob}${glob === escapeGlob(stem) ? '*' : ''}${escapeGlob(base.slice(stem.length))}`;
}

/** What stands for a month and for a number until all other characters of a name are escaped: characters of no name. */
const MONTH = '\u{F0000}';
const NUMBER = '\u{F0001}';
const REPEATED = /[\u{F0000}\u{F0001}](?:[ _.,()-]*[\u{F0000}\u{F0001}])+/gu;

/** Extensions: `.csv`, `.csv.gz`. */
const EXTENSIONS = /(?=(?:\.[a-z][a-z0-9]{0,4}){1,2}$)/i;

/** What all patterns begin with, up to where one may match anything. */
function commonStart([first = '', ...rest]: readonly string[]): string {
  let length = first.search(/(?<!\\)[*[]|(?:\.[a-z0-9]+)*$/i);
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length).replace(/\\$/, '');
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
