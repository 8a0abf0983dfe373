import { isDay } from '../core/time/day.ts';
import { isMonth } from '../core/time/month.ts';
import type { ColumnKey } from '../reports/wanted-rows.ts';
import type { Visit } from './console-page.ts';

/** Reads the query of a page. */

/** A value of the query that cannot be what its name says. The page is not shown, so that no filter is ignored. */
export class BadQuery extends Error {
  constructor(name: string, help: string) {
    super(`The value of "${name}" in the address cannot be used. ${help}`);
    this.name = 'BadQuery';
  }
}

/** @throws BadQuery if a value has a character that no text of the database has. */
export function checkCharacters(values: Iterable<readonly [string, string]>): void {
  for (const [name, value] of values)
    if (name.includes('\u0000') || value.includes('\u0000'))
      throw new BadQuery(name.replaceAll('\u0000', '�'), 'It contains a NUL character (%00): remove it.');
}

/** Rows per page of a list. A page reads one more, to know whether there is a next page. */
export const PAGE_ROWS = 50;

/** Counts are exact up to this number; beyond it, a page shows `10,000+`. */
export const COUNT_LIMIT = 10_000;

const MAX_TEXT = 500;

/** What reads a query needs. */
export type Asked = Pick<Visit, 'query'>;

/** Reads text; null if it is empty or missing. */
export function textOf({ query }: Asked, name: string): string | null {
  const text = (query.get(name) ?? '').trim().slice(0, MAX_TEXT);
  return text === '' ? null : text;
}

/** Reads text that something must be true for; null if it is empty or missing. @throws BadQuery, with the help. */
function readerOf(isUsable: (text: string) => boolean, help: string) {
  return (asked: Asked, name: string): string | null => {
    const text = textOf(asked, name);
    if (text === null || isUsable(text)) return text;
    throw new BadQuery(name, help);
  };
}

/** Reads a numeric id of this project. */
export const idOf = readerOf((text) => /^\d{1,18}$/.test(text), 'Write a number.');
/** Reads a day such as 2026-04-10. */
export const dayOf = readerOf(isDay, 'Write a day that exists, such as 2026-04-10.');
/** Reads a month such as 2026-10, so that no page shows the numbers of another. */
export const monthOf = readerOf(isMonth, 'Write a month such as 2026-10.');

/**
 * Reads one of the options of a filter: itself or the word that pages show for it, in any case. Null if it is empty or
 * missing.
 * @param say what the page calls an option.
 * @throws BadQuery if it is none of them.
 */
export function optionOf<Option extends string>(
  asked: Asked,
  name: string,
  options: readonly Option[],
  say = wordOf,
): Option | null {
  const text = textOf(asked, name);
  if (text === null) return null;
  const found = options.find((option) => isNamed(option, text));
  if (found !== undefined) return found;
  throw new BadQuery(name, `Write one of these: ${options.map((option) => say(option)).join(', ')}.`);
}

/** Whether a text means an option: it, or the word for it, in any case. */
export function isNamed(option: string, text: string): boolean {
  const [wanted, ...names] = [text, option, wordOf(option)].map((name) =>
    name.toLowerCase().replaceAll('_', ' '),
  );
  return names.includes(wanted ?? '');
}

/** What the console calls the states of the program. Filters take both. */
const WORDS: Readonly<Record<string, string>> = {
  accepted: 'credited',
  ready: 'waiting',
  rejected: 'refused',
  unattributed: 'no owner',
  organic: 'no code',
  sealed: 'read',
  released: 'discarded',
  already: 'already known',
};

/** The word for a state: `credited` for `accepted`. */
export function wordOf(state: string): string {
  return WORDS[state] ?? state.replaceAll('_', ' ');
}

/** What tells a row from all others of its list, in the order of the list: one column, several, or computed ones. */
export type RowKey<Row> = keyof Row | readonly (keyof Row)[] | ((row: Row) => string | readonly unknown[]);

/** The key of the last row shown, after which the next page begins; null if there is no next page. */
export function nextKey<Row extends object>(rows: readonly Row[], key: RowKey<Row>): string | null {
  const last = rows[PAGE_ROWS - 1];
  if (rows.length <= PAGE_ROWS || last === undefined) return null;
  if (typeof key === 'function') return writeKey(key(last));
  if (typeof key === 'object') return writeKey(key.map((name) => last[name]));
  return writeKey(String(last[key]));
}

function writeKey(parts: string | readonly unknown[]): string {
  if (typeof parts === 'string') return parts;
  return JSON.stringify(parts.map((part) => (part instanceof Date ? part.toISOString() : String(part))));
}

/** What a part of a key can be. */
const KEY = {
  text: () => true,
  whole: (text: string) => /^-?\d{1,18}$/.test(text),
  amount: (text: string) => /^-?\d{1,20}(\.\d{1,4})?$/.test(text),
  day: isDay,
  month: isMonth,
  instant: (text: string) => /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text)),
};

/**
 * Reads the parts of a key that `nextKey` wrote, in its order; null if the query has none with these parts, so that the
 * list starts at its beginning.
 */
function keyOf<Name extends string>(
  asked: Asked,
  kinds: Readonly<Record<Name, keyof typeof KEY>>,
): ColumnKey<Name> | null {
  try {
    const parts: unknown = JSON.parse(asked.query.get('after') ?? '');
    const wanted = Object.entries<keyof typeof KEY>(kinds);
    if (!Array.isArray(parts) || parts.length !== wanted.length) return null;
    const named = wanted.map(([name, kind], index) => [name, kind, parts[index] as unknown] as const);
    if (!named.every(([, kind, part]) => typeof part === 'string' && KEY[kind](part))) return null;
    return Object.fromEntries(named.map(([name, , part]) => [name, part])) as Record<Name, string>;
  } catch {
    return null;
  }
}

/** The page of a list that the address asks for, if a number tells its rows apart. */
export function pageOf(asked: Asked) {
  return { limit: PAGE_ROWS + 1, after: idOf(asked, 'after') };
}

/** The same if several columns tell its rows apart. @param kinds what each of them can be, in their order. */
export function keyedPageOf<Name extends string>(
  asked: Asked,
  kinds: Readonly<Record<Name, keyof typeof KEY>>,
) {
  return { limit: PAGE_ROWS + 1, after: keyOf(asked, kinds) };
}

/** The query without some parameters, with all values of each, for a link or form that keeps the others. */
export function queryWithout(
  { query }: Asked,
  ...names: readonly string[]
): Readonly<Record<string, readonly string[]>> {
  const kept = [...new Set(query.keys())].filter((name) => !names.includes(name));
  return Object.fromEntries(kept.map((name) => [name, query.getAll(name)]));
}
