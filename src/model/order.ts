import type { CustomerHash } from './customer.ts';
import type { RejectedRow } from './record.ts';

/** An exact decimal such as `1249.00`: optional minus, digits, optional fraction, at most 14 + 4 digits. Never a float. */
export type DecimalText = string;

/** An instant in UTC, ISO 8601 with `Z`. */
export type InstantText = string;

/** One order as an export states it, all its line items folded together. What intake stores. */
export type StagedOrder = {
  /** What holds the rows of one order together in the file (Shopify: `Name`). */
  readonly groupKey: string;
  /** Identity at the shop platform, NFC text, never a number. */
  readonly orderId: string;
  /** What people call the order (`#1001`), when the export has it. */
  readonly orderName: string | null;
  /** The shop's own status word, lower-cased, blanks to underscores: `paid`, `partially_refunded`, `completed`. */
  readonly status: string | null;
  /** ISO 4217, upper case. */
  readonly currency: string;
  readonly total: DecimalText | null;
  readonly subtotal: DecimalText | null;
  readonly refunded: DecimalText | null;
  /** Discount codes as written, in their order, without repeats. */
  readonly codes: readonly string[];
  /** Candidate codes or handles from links and UTM lines in the notes, as written. */
  readonly links: readonly string[];
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly brandId: string | null;
  readonly placedAt: InstantText | null;
  readonly paidAt: InstantText | null;
  readonly cancelledAt: InstantText | null;
  /** Set by an exclusion rule of the layout (`test`, `cancelled`, …): such an order is never posted. `draft`: unless its job credits drafts. */
  readonly exclusion: string | null;
  /** Physical line of the order's first row, 1-based. */
  readonly line: number;
  readonly record: number;
  /** Rows of the file that were folded into this order. */
  readonly rowCount: number;
  /** Digest over the meaning (every field above except line, record, rowCount): equal hash, equal order. */
  readonly contentHash: string;
  /**
   * Who ordered, as identify-customers tells customers of the brand apart; null where the source does not ask for it or the export does not
   * say. No part of the meaning: to begin with it, to rotate its key or to forget a customer makes no order a changed one.
   */
  readonly customerKey: CustomerHash | null;
};

/**
 * The columns that say what an order means, each once. What staging inserts and how an order's rows are summed follow from this list; the digest
 * and the rows that are sent are written out, for speed, and tested against it. A new column needs a line here and its field above, its name in `LAYOUT_FIELDS`, how it is read (map/build-order.ts), a migration, and its place in `bi.orders`.
 */
export const ORDER_COLUMNS = [
  { field: 'groupKey', column: 'group_key', type: 'text', merge: 'same' },
  { field: 'orderId', column: 'order_id', type: 'text', merge: 'same' },
  { field: 'orderName', column: 'order_name', type: 'text', merge: 'first' },
  { field: 'status', column: 'status', type: 'text', merge: 'first' },
  { field: 'currency', column: 'currency', type: 'text', merge: 'same' },
  { field: 'total', column: 'total', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'subtotal', column: 'subtotal', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'refunded', column: 'refunded', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'codes', column: 'codes', type: 'text[]', merge: 'union' },
  { field: 'links', column: 'links', type: 'text[]', merge: 'union' },
  { field: 'influencerHandle', column: 'influencer_handle', type: 'text', merge: 'first' },
  { field: 'dealId', column: 'deal_id', type: 'text', merge: 'first' },
  { field: 'collabId', column: 'collab_id', type: 'text', merge: 'first' },
  { field: 'brandId', column: 'brand_id', type: 'text', merge: 'first' },
  { field: 'placedAt', column: 'placed_at', type: 'timestamptz', merge: 'first' },
  { field: 'paidAt', column: 'paid_at', type: 'timestamptz', merge: 'first' },
  { field: 'cancelledAt', column: 'cancelled_at', type: 'timestamptz', merge: 'first' },
  { field: 'exclusion', column: 'exclusion', type: 'text', merge: 'same' },
] as const satisfies readonly {
  readonly field: keyof StagedOrder;
  readonly column: string;
  readonly type: string;
  /** What becomes of two values where rows of one order are added up: they are the same, the first counts, they are added, or united. */
  readonly merge: 'same' | 'first' | 'sum' | 'union';
}[];

/** Rows that belong to an order whose first row stands elsewhere (Shopify line items that are apart). */
export type OrderContinuation = {
  readonly groupKey: string;
  readonly line: number;
  readonly record: number;
  readonly rowCount: number;
};

/** What mapping hands to intake: a bounded number of orders, and what could not be used. */
export type OrderBatch = {
  readonly orders: readonly StagedOrder[];
  readonly continuations: readonly OrderContinuation[];
  readonly rejected: readonly RejectedRow[];
  /** Records consumed for this batch = Σ rowCount of orders, continuations and rejected rows. */
  readonly rowsRead: number;
};

/** By what a file's orders are named. */
export type OrderIdColumn = {
  /** Its header, lower case, letters and digits alone; null when it is not known. */
  readonly name: string | null;
  /** The layout prefers another column, which this file lacks or leaves blank. */
  readonly isFallback: boolean;
};
