import { type Kysely, sql } from 'kysely';
import type { DB } from './tables.ts';

/*
 * What executes the SQL of a template: `await rowsOf<Row>(db)`select …``. The values of the template are parameters,
 * or parts of the statement that `sql` has made.
 */

type Tag<Result> = (strings: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Result>;

/** Executes a statement. @returns its rows. */
export function rowsOf<Row>(db: Kysely<DB>): Tag<readonly Row[]> {
  return async (strings, ...values) => (await sql<Row>(strings, ...values).execute(db)).rows;
}

/** Executes a statement. @returns its first row; undefined if there is none. */
export function rowOf<Row>(db: Kysely<DB>): Tag<Row | undefined> {
  return async (strings, ...values) => (await rowsOf<Row>(db)(strings, ...values))[0];
}

/** Executes a statement. @returns true if it has a row. */
export function finds(db: Kysely<DB>): Tag<boolean> {
  return async (strings, ...values) => (await rowsOf(db)(strings, ...values)).length > 0;
}

/**
 * Executes a statement that returns one row of counts, as `count` and `sum` do without groups.
 *
 * @returns the counts as numbers; 0 for a sum of nothing.
 */
export function countsOf<Name extends string>(db: Kysely<DB>): Tag<Readonly<Record<Name, number>>> {
  return async (strings, ...values) => {
    const row = await rowOf<Record<Name, string | null>>(db)(strings, ...values);
    if (row === undefined) throw new Error('a statement that counts returned no row');
    const counts = Object.entries<string | null>(row).map(([name, count]) => [name, Number(count)]);
    return Object.fromEntries(counts) as Record<Name, number>;
  };
}

/** Executes a statement that returns one count. */
export function countOf(db: Kysely<DB>): Tag<number> {
  return async (strings, ...values) => {
    const [count = 0] = Object.values(await countsOf(db)(strings, ...values));
    return count;
  };
}

/** Executes a statement. @returns the number of rows that it has inserted, changed or deleted. */
export function execute(db: Kysely<DB>): Tag<number> {
  return async (strings, ...values) =>
    Number((await sql(strings, ...values).execute(db)).numAffectedRows ?? 0);
}
