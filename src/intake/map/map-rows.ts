import type { ReadFor } from '../../core/layout.ts';
import type { CsvChunk, CsvRecord, RejectedRow } from '../../core/record.ts';
import { layoutFor } from '../layout/layout-for.ts';
import { type Column, type ResolvedHeader, resolveHeader } from '../layout/resolve-header.ts';
import type { Layout, OtherLayouts } from '../layout/to-layout.ts';
import { type ReadColumns, requireWhole } from './cut-row.ts';
import { type Fault, reject } from './fault.ts';

/** The result of reading one record of a file in which each row is independent. */
export type ReadRow<Row> =
  | { readonly kind: 'row'; readonly row: Row }
  /**
   * The row contains nothing relevant, and that is no fault: a total, a page that names no influencer. `why`
   * is a stable machine name.
   */
  | { readonly kind: 'passed_over'; readonly why: string }
  | { readonly kind: 'fault'; readonly fault: Fault; readonly column: Column | null };

/** A row with its position in the file. */
export type LocatedRow<Row> = { readonly line: number; readonly record: number; readonly content: Row };

/** Rows of one part of a file. Every record of that part is counted exactly once. */
export type RowBatch<Row> = {
  readonly rows: readonly LocatedRow<Row>[];
  readonly rejected: readonly RejectedRow[];
  readonly passedOver: Readonly<Record<string, number>>;
  readonly rowsRead: number;
};

export type MapRowsOptions<Row> = {
  readonly layout: Layout;
  readonly readFor: ReadFor;
  /** Other layouts, to suggest one if the header fits it better. */
  readonly otherLayouts?: OtherLayouts;
  /** Creates the function that reads records, once the header is known. */
  readonly open: (header: ResolvedHeader, layout: Layout) => (record: CsvRecord) => ReadRow<Row>;
  /** Called once the whole file was read. @throws FileHeld */
  readonly atEnd?: () => void;
};

/**
 * Converts records to rows, one to one.
 *
 * @returns a batch for each chunk.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`, `may_be_cut`.
 */
export async function* mapRows<Row>(
  chunks: AsyncIterable<CsvChunk>,
  { layout: whole, readFor, otherLayouts = () => [], open, atEnd }: MapRowsOptions<Row>,
): AsyncGenerator<RowBatch<Row>> {
  const layout = layoutFor(whole, readFor);
  if (layout === null) throw new Error(`the layout ${whole.name} is not one of ${readFor}`);
  const others: OtherLayouts = () => otherLayouts().flatMap((other) => layoutFor(other, readFor) ?? []);
  let resolved: ResolvedHeader | null = null;
  let read: ReturnType<typeof open> | null = null;
  for await (const { header, records, rejected, open: last } of chunks) {
    resolved ??= resolveHeader(header, layout, others);
    read ??= open(resolved, layout);
    if (!layout.endsWithoutLineBreak)
      requireWhole(last, { width: header.length, columns: readColumnsOf(resolved) });
    const rows: LocatedRow<Row>[] = [];
    const faulty: RejectedRow[] = [];
    const passedOver: Record<string, number> = {};
    for (const record of records) {
      const result = read(record);
      if (result.kind === 'row') rows.push({ line: record.line, record: record.record, content: result.row });
      else if (result.kind === 'passed_over') passedOver[result.why] = (passedOver[result.why] ?? 0) + 1;
      else faulty.push(rejectCell(record, result.fault, result.column));
    }
    yield {
      rows,
      rejected: [...rejected, ...faulty],
      passedOver,
      rowsRead: records.length + rejected.length,
    };
  }
  atEnd?.();
}

/** Rows at the beginning of a file that are read to see whether a run would hold it. */
const FIRST_ROWS = 1_000;

/**
 * Reads the first rows of a file, and keeps none.
 *
 * @throws FileHeld for the same reasons as `mapRows`.
 */
export async function checkFirstRows<Row>(
  chunks: AsyncIterable<CsvChunk>,
  options: MapRowsOptions<Row>,
): Promise<void> {
  let rows = 0;
  for await (const { rowsRead } of mapRows(chunks, options)) {
    rows += rowsRead;
    if (rows >= FIRST_ROWS) return;
  }
}

function readColumnsOf({ fields }: ResolvedHeader): ReadColumns {
  const has = (columns: readonly Column[]) => (at: number) => columns.some(({ index }) => index === at);
  return { isRead: has(Object.values(fields).flat()), isCurrency: has(fields.currency) };
}

function rejectCell({ cells, line, record }: CsvRecord, fault: Fault, column: Column | null): RejectedRow {
  const value = column === null ? null : (cells[column.index] ?? '');
  return reject({ line, record, count: 1 }, fault, { column: column?.name ?? null, value });
}

/** Returns the first filled column of a field and its text, or null if all are blank. */
export function firstFilled(
  cells: readonly string[],
  columns: readonly Column[],
): { readonly column: Column; readonly text: string } | null {
  for (const column of columns) {
    const text = (cells[column.index] ?? '').trim();
    if (text !== '') return { column, text };
  }
  return null;
}
