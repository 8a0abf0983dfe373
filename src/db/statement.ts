import { type Kysely, sql } from 'kysely';
import type { DB } from './tables.ts';

/** Every query uses this type. A function that must run in a transaction takes a `DatabaseTransaction` instead. */
export type Database = Kysely<DB>;

/*
 * What executes the SQL of a template: `await rowsOf<Row>(db)`select …``. The values of the template are parameters,
 * or parts of the statement that `sql` has made.
 */

type Tag<Result> = (strings: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Result>;

/** Executes a statement. @returns its rows. */
export function rowsOf<Row>(db: Database): Tag<readonly Row[]> {
  return async (strings, ...values) => (await sql<Row>(strings, ...values).execute(db)).rows;
}

/** Executes a statement. @returns its first row; undefined if there is none. */
export function rowOf<Row>(db: Database): Tag<Row | undefined> {
  return async (strings, ...values) => (await rowsOf<Row>(db)(strings, ...values))[0];
}

/** Executes a statement. @returns true if it has a row. */
export function finds(db: Database): Tag<boolean> {
  return async (strings, ...values) => (await rowsOf(db)(strings, ...values)).length > 0;
}

/**
 * Executes a statement that returns one row of counts, as `count` and `sum` do without groups.
 *
 * @returns the counts as numbers; 0 for a sum of nothing.
 */
export function countsOf<Name extends string>(db: Database): Tag<Readonly<Record<Name, number>>> {
  return async (strings, ...values) => {
    const row = await rowOf<Record<Name, string | null>>(db)(strings, ...values);
    if (row === undefined) throw new Error('a statement that counts returned no row');
    const counts = Object.entries<string | null>(row).map(([name, count]) => [name, Number(count)]);
    return Object.fromEntries(counts) as Record<Name, number>;
  };
}

/** Executes a statement that returns one count. */
export function countOf(db: Database): Tag<number> {
  return async (strings, ...values) => {
    const [count = 0] = Object.values(await countsOf(db)(strings, ...values));
    return count;
  };
}

/** Executes a statement. @returns the number of rows that it has inserted, changed or deleted. */
export function execute(db: Database): Tag<number> {
  return async (strings, ...values) =>
    Number((await sql(strings, ...values).execute(db)).numAffectedRows ?? 0);
}

/**
 * Encodes many rows as one JSON parameter. Postgres refuses NUL and lone surrogates in text, so a NUL is
 * dropped and a lone surrogate becomes U+FFFD.
 */
export function toJsonParameter(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON.stringify escapes exactly these two. Searching for the escapes is much cheaper than a replacer for
  // every value.
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\u0000', '').toWellFormed() : inner,
  );
}
