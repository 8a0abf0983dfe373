import type { DecimalText } from '../money.ts';

/** Statistics of one file: counts and names of columns, but no cell of a row. */
export type FileStatistics = {
  readonly sourceFileId: string;
  /** When the file was put there, according to the store, or else when it was first seen. */
  readonly arrivedAt: Date;
  readonly sizeBytes: number;
  readonly rows: number;
  readonly rejectedRows: number;
  /** Names of its columns. Empty if it has no header. */
  readonly header: readonly string[];
  readonly headerHash: string;
  /** Null for files that were not read for their orders. */
  readonly orders: OrderStatistics | null;
  /** Customers with a usable address, and how many of them refused. Null for other files. */
  readonly consent: { readonly customers: number; readonly refused: number } | null;
};

export type OrderStatistics = {
  /** Orders that the source had not stated before. Distinct orders = `new` + `known`. */
  readonly new: number;
  /** Orders that earlier files of the source stated, including those that have changed. */
  readonly known: number;
  /**
   * New and changed orders. The figures below cover only these, so that known orders do not hide what is new.
   */
  readonly judged: number;
  /** Orders without a code, link or handle. */
  readonly blankCodes: number;
  /**
   * Orders with a code. `unowned` counts those of them whose codes have no owner. In large files, both are
   * counted in a sample.
   */
  readonly coded: number;
  readonly unowned: number;
  /** Number of orders by currency. */
  readonly currencies: Readonly<Record<string, number>>;
  /** Number of orders by status. Rare words are counted together as `OTHER_STATUSES`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** By currency: the number of orders with an amount above 0, and the median of their amounts. */
  readonly amounts: Readonly<Record<string, { readonly orders: number; readonly median: DecimalText }>>;
  /** When the newest of the new orders was placed. Null if there are none or the file does not say. */
  readonly newestAt: Date | null;
};

/**
 * Key in `OrderStatistics.statuses` for words with too few orders to be a status. Such a word can be
 * anything.
 */
export const OTHER_STATUSES = '(other)';
