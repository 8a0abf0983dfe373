/** Which rows of a list are wanted. */
export type Page<Key = string> = {
  /** How many rows at most. Null: all. */
  readonly limit: number | null;
  /** What tells the last row of the previous page from all others. Null: the list is read from its beginning. */
  readonly after?: Key | null;
};

/** The columns that tell a row from all others of its list, if one is not enough. */
export type ColumnKey<Column extends string> = Readonly<Record<Column, string>>;
