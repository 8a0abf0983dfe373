import { isDay } from './day.ts';

/**
 * Placeholders that the uri of a source may contain, such as `{date}`, and the range of characters of an ISO
 * day that replaces each.
 */
const PARTS = { date: [0, 10], year: [0, 4], month: [5, 7], day: [8, 10] } as const;
type Part = keyof typeof PARTS;

const PART = /\{(date|year|month|day)\}/g;

const ANY_DAY = '0000-00-00';

/** Names sort by day only if their parts come in one of these orders. */
const SORTED = ['date', 'year', 'year month', 'year month day'];

/** Where a glob begins. A backslash takes a wildcard's meaning away. */
export const WILDCARD = /[*?[{\\]|[!+@]\(/;

/**
 * The names of a source whose uri contains a date, such as `orders/dt={date}/` or `{year}/{month}/{day}/orders.csv`.
 * They sort by day, so a listing can start at a day instead of at the first name.
 */
export type DatedNames = {
  /** Matches the names of all days. */
  readonly glob: string;
  /** Common prefix of all names. */
  readonly prefix: string;
  /**
   * The text from which the names of a day and of all later days sort.
   *
   * @param day `2026-11-22`.
   */
  readonly startOf: (day: string) => string;
  /**
   * Returns the day in a name. If the uri contains only a month or a year, returns its first day. Null if the
   * name has no date there.
   */
  readonly dayOf: (name: string) => string | null;
};

/**
 * Reads the date in the key or path of a source.
 *
 * @returns null if it has none by which names sort; `findDateFault` says why.
 */
export function parseDatedNames(pattern: string): DatedNames | null {
  const last = [...pattern.matchAll(PART)].at(-1);
  if (last === undefined || findDateFault(pattern) !== null) return null;
  const head = pattern.slice(0, last.index + last[0].length);
  const prefix = pattern.slice(0, pattern.search(PART));
  const startOf = (day: string) => head.replace(PART, (_, part: Part) => day.slice(...PARTS[part]));
  return {
    glob: toGlob(pattern, prefix),
    prefix,
    startOf,
    dayOf(name) {
      const digits = name.slice(prefix.length, startOf(ANY_DAY).length).replaceAll(/\D/g, '');
      const [, year = '', month = '01', day = '01'] = /^(\d{4})(\d{2})?(\d{2})?$/.exec(digits) ?? [];
      const found = `${year}-${month}-${day}`;
      return name.startsWith(startOf(found)) && isDay(found) ? found : null;
    },
  };
}

/** Why a listing cannot start at the date in a key or path; null if it can, or if there is none. */
export function findDateFault(pattern: string): string | null {
  const found = [...pattern.matchAll(PART)];
  if (found.length === 0) return null;
  const order = found.map(([, part]) => part).join(' ');
  if (!SORTED.includes(order)) return 'Write {date}, or {year}, {month} and {day} in this order, each once.';
  const last = found.at(-1);
  const before = pattern.slice(0, last?.index).replaceAll(PART, '');
  return WILDCARD.test(before) ? 'The date must come before any wildcard.' : null;
}

/** Without another wildcard, the uri names a folder of each day, or one file. */
function toGlob(pattern: string, prefix: string): string {
  const folder = pattern.slice(0, prefix.lastIndexOf('/') + 1);
  const rest = pattern.slice(folder.length).replace(/\/$/, '');
  const digits = rest.replace(PART, (_, part: Part) =>
    ANY_DAY.slice(...PARTS[part]).replaceAll('0', '[0-9]'),
  );
  return WILDCARD.test(rest.replaceAll(PART, ''))
    ? `${folder}${digits}`
    : `${folder}{${digits},${digits}/**}`;
}

/**
 * Returns true if a name sorts before a text, and so does everything in it, if it is a folder.
 *
 * @param name ends with a slash if it is a folder: names in `a/` sort after `a.csv`, although `a` does not.
 */
export function isBefore(name: string, start: string): boolean {
  return name < start && !(name.endsWith('/') && start.startsWith(name));
}
