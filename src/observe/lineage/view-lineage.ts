/** What a view of `bi` is made of, as `sql/lineage.json` says. Columns are written `schema.table.column`. */
export type ViewLineage = {
  readonly columns: Readonly<
    Record<
      string,
      {
        /** What it is made of. */
        readonly from: readonly string[];
        /** Whether it is that one column, unchanged. */
        readonly isTakenOver: boolean;
      }
    >
  >;
  /** What decides which rows it has. */
  readonly rows: readonly string[];
};
