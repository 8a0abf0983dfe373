import type { Visit } from './console-page.ts';

/** How a page reads its query: what makes no sense is as if it were not there, because people type into addresses. */

/** Rows of a list on one page. A page asks for one more, to know whether there is a next part. */
export const PAGE_ROWS = 50;

/** Counts are exact up to here; beyond, a page shows `10,000+`. */
export const COUNT_LIMIT = 10_000;

const MAX_TEXT = 500;

type Asked = Pick<Visit, 'query'>;

/** A text of the query; null where it is empty or missing. */
export function textOf({ query }: Asked, name: string): string | null {
  const text = (query.get(name) ?? '').trim().slice(0, MAX_TEXT);
  return text === '' ? null : text;
}

/** An id of ours, which counts up. */
export function idOf({ query }: Asked, name: string): string | null {
  const text = query.get(name) ?? '';
  return /^\d{1,18}$/.test(text) ? text : null;
}

/** A day such as 2026-04-10. */
export function dayOf({ query }: Asked, name: string): string | null {
  const text = query.get(name) ?? '';
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;
}

/** Where the next part begins: behind the last row that is shown; null where there is none. */
export function nextKey<Row>(rows: readonly Row[], keyOf: (row: Row) => string): string | null {
  const last = rows[PAGE_ROWS - 1];
  return rows.length > PAGE_ROWS && last !== undefined ? keyOf(last) : null;
}

/** The key of a row as it stands in the query: texts, in the order of the list. */
export function writeKey(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

/** The parts of a key that `writeKey` wrote; null where the query has none of so many parts. */
export function keyOf(asked: Asked, count: number): readonly string[] | null {
  try {
    const parts: unknown = JSON.parse(asked.query.get('after') ?? '');
    const isKey =
      Array.isArray(parts) && parts.length === count && parts.every((part) => typeof part === 'string');
    return isKey ? parts : null;
  } catch {
    return null;
  }
}

/** The query of a page without some of its names, for a link or a form that keeps the rest. */
export function queryWithout(
  { query }: Asked,
  ...names: readonly string[]
): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => !names.includes(name)));
}
