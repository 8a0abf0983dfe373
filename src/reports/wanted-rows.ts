import { type RawBuilder, sql } from 'kysely';

/** Which rows of a list are wanted. */
export type Page<Key = string> = {
  /** How many rows at most. Null: all. */
  readonly limit: number | null;
  /** What tells the last row of the previous page from all others. Null: the list is read from its beginning. */
  readonly after?: Key | null;
};

/** The columns that tell a row from all others of its list, if one is not enough. */
export type ColumnKey<Column extends string> = Readonly<Record<Column, string>>;

/** Columns in which the wanted rows have these values. Null or omitted: any. */
export type Having<Column extends string> = Readonly<Partial<Record<Column, string | null>>>;

/**
 * SQL that is true for rows that have these values and meet these conditions.
 * @param values by column, as the query calls it: `d.job`. Null or undefined: any.
 * @param conditions false: it is not asked for.
 */
export function hasAll(
  values: Having<string>,
  ...conditions: readonly (RawBuilder<unknown> | false)[]
): RawBuilder<boolean> {
  const equal = Object.entries(values).flatMap(([column, value]) =>
    value == null ? [] : sql`${sql.ref(column)} = ${value}`,
  );
  const asked = conditions.filter((condition) => condition !== false);
  return sql.join([sql`true`, ...equal, ...asked], sql` and `);
}
