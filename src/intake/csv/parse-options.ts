import type { SourceLimits } from '../../config/source-fields.ts';
import type { LayoutField } from '../../core/layout.ts';
import type { Layout } from '../layout/to-layout.ts';

/** Options for parsing delimited text. */
export type ParseOptions = {
  /** `auto`: the most frequent of comma, semicolon, tab and bar in the header row. */
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Null: quotes have no special meaning. */
  readonly quote: '"' | null;
  /** Number of physical lines before the header. */
  readonly preambleLines: number;
  /**
   * The header is the first row with one spelling from each of these lists. Null: the first row after the
   * preamble.
   */
  readonly headerColumns?: readonly (readonly string[])[] | null;
  /** Beginnings of rows below the header that are not records. */
  readonly belowHeader?: readonly string[];
  /** Beginnings of rows at the end that are not records. */
  readonly footer?: readonly string[];
  /** Spellings of the columns that identify a row, by which rows within a cell are recognised (`swallowedRows`). */
  readonly idColumns?: readonly string[];
  /** Maximum size of a record in bytes. A longer one holds the file. */
  readonly maxRecordBytes: number;
  /** Maximum number of rows with broken quotes. More hold the file. */
  readonly maxBrokenRows?: number;
  /** Number of bytes that are parsed at a time. It limits the size of a chunk. */
  readonly batchBytes?: number;
};

/** Fields that identify a row, whatever a file is read for. */
const IDENTIFYING: readonly LayoutField[] = ['group', 'order_id', 'email', 'dealflow_id'];

/** Derives the parse options from the layout and the limits of a source. */
export function toParseOptions(layout: Layout, limits: Pick<SourceLimits, 'maxRecordBytes'>): ParseOptions {
  const { delimiter, quote, preambleLines, belowHeader, footer } = layout;
  const isSearched = preambleLines === 'search';
  return {
    delimiter,
    quote,
    preambleLines: isSearched ? 0 : preambleLines,
    headerColumns: isSearched ? requiredColumns(layout) : null,
    belowHeader,
    footer,
    idColumns: IDENTIFYING.flatMap((field) => layout.columns[field] ?? []),
    maxRecordBytes: limits.maxRecordBytes,
  };
}

/**
 * Returns the spellings of each required column in files: of a column that the layout adds, all that it comes from.
 */
function requiredColumns({
  required,
  columns,
  grouping,
  conditionalColumns,
  joinedColumns,
}: Layout): readonly (readonly string[])[] {
  const parts = new Map(joinedColumns.map(({ name, columns: joined }) => [name, joined]));
  const made = new Set(conditionalColumns.map(({ name }) => name));
  const sums: Readonly<Partial<Record<LayoutField, { readonly plus: readonly string[] }>>> = grouping.sum;
  return required
    .map((field) =>
      [...(columns[field] ?? []), ...(sums[field]?.plus ?? [])].filter((name) => !made.has(name)),
    )
    .flatMap((spellings) => {
      const own = spellings.filter((name) => !parts.has(name));
      return own.length > 0
        ? [own]
        : spellings.flatMap((name) => parts.get(name) ?? []).map((part) => [part]);
    });
}
