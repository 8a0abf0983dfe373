import type { DecimalText } from '../order.ts';

/** What one file came to: counts, and names of columns, but no cell of a row. */
export type FileStatistics = {
  readonly sourceFileId: string;
  /** When it was put there, as the store says; else when it was first seen. */
  readonly arrivedAt: Date;
  readonly sizeBytes: number;
  readonly rows: number;
  readonly rejectedRows: number;
  /** Names of its columns; empty when it has no header. Of earlier files only the latest has them. */
  readonly header: readonly string[];
  /** Digest of `header`. */
  readonly headerHash: string;
  /** Null for files that were not read for their orders. */
  readonly orders: OrderStatistics | null;
  /** Customers with a usable address, and those of them who refused; null for other files. */
  readonly consent: { readonly customers: number; readonly refused: number } | null;
};

export type OrderStatistics = {
  /** Distinct orders, as `new` + `known`. */
  readonly new: number;
  /** Those that earlier files of the source stated, changed ones included. */
  readonly known: number;
  /** New and changed orders. The figures below are of these, so that known orders do not hide what is new. */
  readonly judged: number;
  /** Without a code, link or handle. */
  readonly blankCodes: number;
  /** With a code, and those of them whose codes nobody owns; of a sample in large files. */
  readonly coded: number;
  readonly unowned: number;
  /** Orders of each currency. */
  readonly currencies: Readonly<Record<string, number>>;
  /** Orders of each status word; rare words are counted together as `OTHER_STATUSES`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** By currency: orders with an amount above 0, and the median of their amounts. */
  readonly amounts: Readonly<Record<string, { readonly orders: number; readonly median: DecimalText }>>;
  /** When the newest of the new orders was placed; null when there are none, or nothing says. */
  readonly newestAt: Date | null;
};

/** In `OrderStatistics.statuses`: words of too few orders to be a status. What stands there may be anything. */
export const OTHER_STATUSES = '(other)';
