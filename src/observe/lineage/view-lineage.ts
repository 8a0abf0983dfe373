/** The sources of a view of `bi`, from `sql/lineage.json`. Columns are written `schema.table.column`. */
export type ViewLineage = {
  readonly columns: Readonly<
    Record<
      string,
      {
        /** Columns that the value is derived from. */
        readonly from: readonly string[];
        /** True if the value is that one column, unchanged. */
        readonly isTakenOver: boolean;
      }
    >
  >;
  /** Columns that determine which rows the view has. */
  readonly rows: readonly string[];
};
