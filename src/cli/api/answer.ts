import { isObject, numberText, parseExactJson } from '../../core/json/exact-json.ts';
import { type Column, renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { cut, plural } from '../../render/text.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * A list in an answer: its name (null if it is the whole answer), its rows, and the other members of the
 * answer.
 */
type Listing = { readonly name: string | null; readonly rows: readonly Row[]; readonly beside: Row };

/** A narrower cell would be unreadable. */
const MIN_WIDTH = 8;
const GAP = 2;

/**
 * Renders an answer that is a list, or contains one, as a table; null for any other answer.
 *
 * @param text the JSON as received; numbers stay as written.
 */
export function renderAnswer(text: string, terminal: Terminal): string | null {
  const listing = findListing(readJson(text));
  if (listing === null) return null;
  const { name, rows, beside } = listing;
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = titles.map(
    (title): Column => ({ title, align: isNumeric(title, rows) ? 'right' : 'left' }),
  );
  const cells = rows.map((row) => titles.map((title) => cellOf(row[title])));
  const shown = countFitting(columns, cells, terminal.columns);
  const left = titles.slice(shown);
  const facts = Object.entries(beside).map(([member, value]) =>
    cut(`${member}: ${cellOf(value)}`, terminal.columns),
  );
  return [
    ...facts,
    ...(facts.length === 0 ? [] : ['']),
    renderTable(columns.slice(0, shown), cells, { terminal }),
    '',
    `${plural(rows.length, 'row')}${name === null ? '' : ` of ${name}`}.${left.length === 0 ? '' : ` Not shown: ${left.join(', ')}.`}`,
  ].join('\n');
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}

/**
 * Finds the list: the answer itself, or its first member that is a list of objects (`webhooks`,
 * `results.accounts`), or else of texts.
 */
function findListing(answer: unknown): Listing | null {
  if (Array.isArray(answer)) return listingOf(null, answer, {});
  if (!isObject(answer)) return null;
  const members = Object.entries(answer).flatMap(([name, value]): [string, unknown][] =>
    isObject(value)
      ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, part])
      : [[name, value]],
  );
  const lists = members.filter(([, value]) => Array.isArray(value)) as [string, unknown[]][];
  const [path, items] = lists.find(([, list]) => list.every(isObject)) ?? lists[0] ?? [];
  if (path === undefined || items === undefined) return null;
  return listingOf(path, items, Object.fromEntries(members.filter(([name]) => name !== path)));
}

/**
 * Converts a list to rows. A list of texts becomes a table with one column. An empty list is null, because
 * its JSON is more informative.
 */
function listingOf(name: string | null, items: readonly unknown[], beside: Row): Listing | null {
  if (items.length === 0) return null;
  if (items.every(isObject)) return { name, rows: items, beside };
  if (!items.every((item) => typeof item === 'string')) return null;
  const title = name?.split('.').at(-1) ?? 'value';
  return { name, rows: items.map((item) => ({ [title]: item })), beside };
}

function isNumeric(title: string, rows: readonly Row[]): boolean {
  const values = rows.map((row) => row[title]).filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every((value) => numberText(value) !== null);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (numberText(value) ?? JSON.stringify(value));
}

/** The number of columns that fit, at least one. */
function countFitting(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  width: number,
): number {
  let taken = -GAP;
  const tooMany = columns.findIndex(({ title, align }, index) => {
    const widest = Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0));
    taken += GAP + (align === 'right' ? widest : Math.min(widest, MIN_WIDTH));
    return taken > width;
  });
  return tooMany === -1 ? columns.length : Math.max(1, tooMany);
}
