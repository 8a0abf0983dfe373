import { readFileSync } from 'node:fs';
import type { MissingRow, OrderContinuation, StagedOrder } from '../../../../src/core/order.ts';
import type { FooterRow, RejectedRow } from '../../../../src/core/record.ts';
import { parseCsv } from '../../../../src/intake/csv/parse-csv.ts';
import { toParseOptions } from '../../../../src/intake/csv/parse-options.ts';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { type MapOptions, mapOrders } from '../../../../src/intake/orders/map/map-orders.ts';
import { reducedExport } from '../../../support/reduced-export.ts';
import { inPieces, PARSE_OPTIONS } from '../../csv/parse-text.ts';

export type Mapped = {
  orders: StagedOrder[];
  continuations: OrderContinuation[];
  rejected: RejectedRow[];
  missing: MissingRow[];
  footer: FooterRow[];
  rowsRead: number;
  batches: number;
};

export type MapTextOptions = Partial<Omit<MapOptions, 'layout'>> & {
  readonly layout?: string | Layout;
  readonly pieceBytes?: number;
  readonly batchBytes?: number;
  /** True if the text has only the columns that the test is about. */
  readonly reduced?: boolean;
};

/** Maps a text by a layout, `generic` by default, and returns everything it yields. */
export async function mapText(text: string, options: MapTextOptions = {}): Promise<Mapped> {
  const {
    layout: named = 'generic',
    source = { timeZone: null, currency: 'EUR' },
    pieceBytes = 1_000,
    reduced = false,
    ...rest
  } = options;
  const layout = typeof named === 'string' ? loadLayout(named) : named;
  const { batchBytes = 64 * 1024, ...mapping } = rest;
  const parseOptions = { ...toParseOptions(layout, PARSE_OPTIONS), batchBytes };
  const mapped: Mapped = {
    orders: [],
    continuations: [],
    rejected: [],
    missing: [],
    footer: [],
    rowsRead: 0,
    batches: 0,
  };
  for await (const batch of mapOrders(parseCsv(inPieces(text, pieceBytes), parseOptions), {
    layout,
    source: reduced ? { missingColumns: reducedExport(layout), ...source } : source,
    onFooter: (row) => void mapped.footer.push(row),
    ...mapping,
  })) {
    mapped.orders.push(...batch.orders);
    mapped.continuations.push(...batch.continuations);
    mapped.rejected.push(...batch.rejected);
    mapped.missing.push(...batch.missing);
    mapped.rowsRead += batch.rowsRead;
    mapped.batches += 1;
    const parts = [...batch.orders, ...batch.continuations, ...batch.rejected];
    const sum = parts.reduce((total, { rowCount }) => total + rowCount, 0);
    if (sum !== batch.rowsRead) throw new Error(`a batch of ${batch.rowsRead} rows accounts for ${sum}`);
  }
  return mapped;
}

/** Maps a file of `test/fixtures/orders/`. */
export function mapFixture(file: string, options: MapTextOptions): Promise<Mapped> {
  return mapText(readFixture(file), options);
}

export const FIXTURES = new URL('../../../fixtures/orders/', import.meta.url);

/** Returns the text of a fixture without the byte order mark, which decoding removes. */
export function readFixture(file: string): string {
  return readFileSync(new URL(file, FIXTURES), 'utf8').replace(/^\ufeff/, '');
}

/** Returns the code, column and value of the only rejected row. */
export function onlyFault({ rejected }: Mapped): readonly [string, string | null, string | null] {
  const [row] = rejected;
  if (row === undefined || rejected.length > 1) throw new Error(`${rejected.length} rows were rejected`);
  return [row.code, row.column, row.value];
}
