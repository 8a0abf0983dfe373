import type { MissingRow } from '../../../core/order.ts';
import type { LostRow } from '../../../core/record.ts';
import type { IdParser } from '../../values/parse-id.ts';

/** What is known about the orders of a file where a row is lost. */
export type OrdersAround = {
  /** Index of the column that says which order a row belongs to. */
  readonly idAt: number;
  readonly idOf: IdParser;
  /** The order of the row before. Null if there is none. */
  readonly before: string | null;
  readonly isOpen: (groupKey: string) => boolean;
};

/** A shorter cell in another column than the id's may be a quantity. */
const MIN_NAMING_CHARS = 5;
/** More are no ids, but a column whose values look like them. */
const MAX_NAMED = 10;

/**
 * Returns the orders that a row names, although it cannot be used. Its cells may have moved, so an id may be in any
 * of them: that of an order that is open, or a text that looks like the id of the order before. A row that ends before
 * its id names none.
 *
 * @param cells null if they are not known.
 */
export function namedBy(cells: readonly string[] | null, around: OrdersAround): readonly string[] {
  const { idAt, idOf, before, isOpen } = around;
  if (cells === null || cells.length <= idAt) return [];
  const named = new Set<string>();
  const isNamed = (key: string): boolean =>
    isOpen(key) || (before !== null && shapeOf(key) === shapeOf(before));
  const own = idOf(cells[idAt] ?? '');
  const isInPlace = idAt === 0 || (typeof own === 'string' && own.length >= MIN_NAMING_CHARS);
  if (typeof own === 'string' && isInPlace && isNamed(own)) return [own];
  for (const cell of cells) {
    const key = cell.length < MIN_NAMING_CHARS ? null : idOf(cell);
    if (typeof key === 'string' && isNamed(key)) named.add(key);
    if (named.size === MAX_NAMED) break;
  }
  return [...named];
}

/** Returns the form of an id: `#9999` for `#1001`, `a-99` for `x7k-12`. */
function shapeOf(id: string): string {
  return id.replace(/[\p{L}\p{N}]+/gu, (run) => (/^\d+$/.test(run) ? '9'.repeat(run.length) : 'a'));
}

/** Collects which orders lack rows, each once. */
export class MissingRows {
  #found = new Map<string | null, boolean>();

  add(groupKey: string | null, isCertain: boolean): void {
    this.#found.set(groupKey, isCertain || this.#found.get(groupKey) === true);
  }

  /** Returns those found since the last call. */
  take(): readonly MissingRow[] {
    if (this.#found.size === 0) return [];
    const found = [...this.#found].map(([groupKey, isCertain]) => ({ groupKey, isCertain }));
    this.#found = new Map();
    return found;
  }
}

/** Lost rows that wait for the rows before them, which may take longer to read. */
export class WaitingLostRows {
  /**
   * More do not wait, because their cells may be large. Only the rows at the beginning of a file take longer to
   * read.
   */
  static readonly MAX = 200;
  #rows: LostRow[] = [];

  add(rows: readonly LostRow[]): void {
    if (rows.length > 0) this.#rows.push(...rows);
  }

  /** True if there are more than may wait. */
  get isFull(): boolean {
    return this.#rows.length > WaitingLostRows.MAX;
  }

  /** Removes and returns the next one before a record; null if there is none. */
  takeBefore(record: number): LostRow | null {
    const [first] = this.#rows;
    if (first === undefined || first.record > record) return null;
    this.#rows.shift();
    return first;
  }
}
