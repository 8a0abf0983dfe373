import type { SourceLimits } from '../model/config.ts';
import type { Layout, LayoutField } from '../model/layout.ts';

/** How a delimited text is read. */
export type ParseOptions = {
  /** `auto`: whichever of comma, semicolon, tab and bar the header row has most of. */
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Null: quotes mean nothing. */
  readonly quote: '"' | null;
  /** Physical lines before the header. */
  readonly preambleLines: number;
  /** The header is the first row that has one of each of these lists of spellings; null: the first row after the preamble. */
  readonly headerColumns?: readonly (readonly string[])[] | null;
  /** What rows between the header and the first one begin with that are none. */
  readonly belowHeader?: readonly string[];
  /** What rows after the last one begin with that are none. */
  readonly footer?: readonly string[];
  /** One record at most, in bytes; a longer one holds the file. */
  readonly maxRecordBytes: number;
  /** Rows with broken quotes at most; more hold the file. */
  readonly maxBrokenRows?: number;
  /** Text that is parsed at a time, in bytes: bounds a chunk. */
  readonly batchBytes?: number;
};

/** Reads a source's files as their layout says. */
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
    maxRecordBytes: limits.maxRecordBytes,
  };
}

/** Spellings of each required column, those aside that the layout makes itself. */
function requiredColumns({
  required,
  columns,
  grouping,
  conditionalColumns,
}: Layout): readonly (readonly string[])[] {
  const made = new Set(conditionalColumns.map(({ name }) => name));
  const sums: Readonly<Partial<Record<LayoutField, { readonly plus: readonly string[] }>>> = grouping.sum;
  return required
    .map((field) =>
      [...(columns[field] ?? []), ...(sums[field]?.plus ?? [])].filter((name) => !made.has(name)),
    )
    .filter((spellings) => spellings.length > 0);
}
