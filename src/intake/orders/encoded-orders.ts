import type { StagedOrder } from '../../core/order.ts';
import type { CopyRows } from '../../db/copy-rows.ts';
import { TextRows, toCopyCell } from '../../db/text-rows.ts';
import { ORDER_ID_AT, type OrderRow, SENT_COLUMNS, toOrderRow } from './order-columns.ts';

/** What all orders of a file have in common. */
export type OrderOrigin = {
  readonly source: string;
  readonly sourceFileId: string;
  /** Number of the key of `customerKey` (`ORDER_KEY_NO`). */
  readonly keyNo: number | null;
};

/** The columns of a row, in its order. */
export const COPIED_COLUMNS = [
  'source',
  'source_file_id',
  'is_current',
  'customer_key_no',
  ...SENT_COLUMNS.map(({ column }) => column),
];
const COLUMNS_BEFORE = COPIED_COLUMNS.length - SENT_COLUMNS.length;

/** The cell of each column of an order that has no value. */
const BLANK_CELLS = SENT_COLUMNS.map(({ type }) => (type === 'text[]' ? '{}' : toCopyCell(null)));

/**
 * New orders of a large file, encoded as rows of COPY while the file is being read. Thousands of orders wait for the
 * database; as bytes, they cost the garbage collector nothing, which would otherwise move each object of each order
 * several times.
 */
export class EncodedOrders {
  readonly origin: OrderOrigin;
  readonly ids: string[] = [];
  readonly #rows = new TextRows();
  readonly #before: string;
  readonly #beforeKeyed: string;

  constructor(origin: OrderOrigin) {
    const { source, sourceFileId, keyNo } = origin;
    const before = `${toCopyCell(source)}\t${sourceFileId}\tt\t`;
    this.origin = origin;
    this.#before = before + toCopyCell(null);
    this.#beforeKeyed = before + toCopyCell(keyNo);
  }

  add(orders: readonly StagedOrder[]): void {
    // One array serves all orders: a million of them would be most of the garbage of reading.
    const cells: string[] = [];
    for (const order of orders) {
      this.ids.push(order.orderId);
      cells[0] = order.customerKey === null ? this.#before : this.#beforeKeyed;
      const row = toOrderRow(order);
      for (let at = 0; at < row.length; at += 1) {
        const cell = row[at] ?? null;
        cells[at + 1] = cell === null ? (BLANK_CELLS[at] ?? '') : toCopyCell(cell);
      }
      this.#rows.add(cells);
    }
  }

  /** The orders for COPY. */
  toCopyRows(): CopyRows {
    return this.#rows.toCopyRows();
  }

  /** Decodes the orders. */
  rows(): readonly OrderRow[] {
    return this.#rows.read().map((cells) => cells.slice(COLUMNS_BEFORE));
  }

  /** True if an order occurs more than once. */
  hasRepeats(): boolean {
    return new Set(this.ids).size < this.ids.length;
  }
}

/** Returns the id of an order. */
export function idOfRow(row: OrderRow): string {
  return row[ORDER_ID_AT] ?? '';
}
