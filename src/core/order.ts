import type { CustomerHash } from './customer.ts';
import type { DecimalText } from './money.ts';
import type { RejectedRow } from './record.ts';

/** An instant in UTC, ISO 8601 with `Z`. */
export type InstantText = string;

/**
 * The age of a row that does not say its own: it may be newer than any other. Postgres compares it so, and a state of
 * this age replaces none and is replaced by none.
 */
export const UNKNOWN_AGE = 'infinity';

/** One order as an export states it, with all its line items combined. Intake stores this. */
export type StagedOrder = {
  /** Identifies the rows of one order in the file (Shopify: `Name`). */
  readonly groupKey: string;
  /** Id of the order at the shop platform, as NFC text and never as a number. */
  readonly orderId: string;
  /** The order's name for people (`#1001`), if the export contains it. */
  readonly orderName: string | null;
  /**
   * Ids of orders at other channels that its tags and notes name, as `foldOrderId` returns them: the order may be one of
   * them. Part of the digest only if there are any.
   */
  readonly otherIds: readonly string[];
  /**
   * The shop's own status in lower case, with underscores instead of blanks: `paid`, `partially_refunded`,
   * `completed`.
   */
  readonly status: string | null;
  /** ISO 4217, upper case. */
  readonly currency: string;
  readonly total: DecimalText | null;
  readonly subtotal: DecimalText | null;
  readonly refunded: DecimalText | null;
  /** Discount codes as written, in their order, without duplicates. */
  readonly codes: readonly string[];
  /** Candidates for codes or handles from links and UTM lines in the notes, as written. */
  readonly links: readonly string[];
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly brandId: string | null;
  readonly placedAt: InstantText | null;
  readonly paidAt: InstantText | null;
  readonly cancelledAt: InstantText | null;
  /**
   * Set by an exclusion rule of the layout (`test`, `cancelled`, …). Such an order is never posted, except
   * `draft` if its job credits drafts, and `renewal` unless its job excludes renewals. `unknown_test:Mode=trial`
   * (`unknownWord`) holds it.
   */
  readonly exclusion: string | null;
  /**
   * Why this may not be the whole order. Null if nothing is in doubt. An order in doubt is held. Part of the
   * digest only if it is set.
   */
  readonly doubt: OrderDoubt | null;
  /** Physical line of the order's first row, 1-based. */
  readonly line: number;
  readonly record: number;
  /** Number of rows of the file that were combined into this order. */
  readonly rowCount: number;
  /**
   * Digest of every field above except line, record and rowCount. Two orders with equal hashes have the same
   * meaning.
   */
  readonly contentHash: string;
  /**
   * When the order last changed, as its own row says. `UNKNOWN_AGE` if the source goes by the column and the cell cannot be
   * read; null if the source does not go by it. Not part of the digest: a row that says the same later is no other order.
   */
  readonly changedAt: InstantText | typeof UNKNOWN_AGE | null;
  /**
   * Identifies the customer in the same way as identify-customers does within the brand. Null if the source
   * does not request it or the export does not contain it. It is not part of the order's meaning: storing it
   * for the first time, rotating its key or forgetting a customer does not change an order.
   */
  readonly customerKey: CustomerHash | null;
  /**
   * What the shop's notes say, masked and cut. Null if the job does not ask for it or there is none. Not part of the digest:
   * another note is no other order, and its note is that with which it was first read.
   */
  readonly note: string | null;
  /**
   * The order lines, by SKU. Null if the source does not ask for them, the export does not have them, or a line
   * cannot be read. Not part of the digest, because rows of an order that are far apart each have some of them.
   */
  readonly lines: readonly OrderLine[] | null;
  /**
   * The items whose amounts add up to those of the order. Null if amounts are not added up, or the export does not
   * identify its items. Not part of the digest, like `lines`.
   */
  readonly items: readonly OrderItem[] | null;
};

/** The id of an item and its amounts. Null for an amount that is not added up. */
export type OrderItem = readonly [
  id: string,
  total: DecimalText | null,
  subtotal: DecimalText | null,
  refunded: DecimalText | null,
];

/**
 * Why what a file states may not be the whole order. A row of it cannot be read; a row cannot be read that may belong
 * to it; its last row may be cut, because the text ends there; rows of it may occur twice, because files were joined;
 * another file may have more of its rows; two files of unknown age state it otherwise; a row of it was rejected that
 * may be newer; another order was stated with its id; its total fell by just what was refunded. An earlier statement
 * that is otherwise equal disproves a doubt that begins with `may_be`.
 */
export type OrderDoubt =
  | 'incomplete'
  | 'may_be_incomplete'
  | 'may_be_cut'
  | 'may_be_repeated'
  | 'may_be_split'
  | 'conflicting_states'
  | 'newer_row_rejected'
  | 'other_order_same_id'
  | 'refund_in_total';

/**
 * Hours by which the time at which an order was placed may differ between two statements of it. Zones and clocks explain
 * less; beyond, a shop has used the number again for another order.
 */
export const SAME_ORDER_HOURS = 48;

/** Time zones differ by multiples of these minutes. Other differences are no zone's, so that they are of two moments. */
export const ZONE_MINUTES = 15;

/** Seconds by which the midnights of one zone differ in UTC, because of summer time, also across midnight in UTC. */
export const SUMMER_TIME_SECONDS: readonly number[] = [0, 1_800, 3_600, 82_800, 84_600];

/** No time zone is further from UTC than these hours. A time that was read in a wrong zone is not further off. */
export const ZONE_HOURS = 14;

/** A SKU (folded by `foldCode`; empty for lines without one) and its amount after the discounts of the lines. */
export type OrderLine = readonly [sku: string, amount: DecimalText];

/**
 * The columns that carry the meaning of an order. Staging and the adding up of rows follow from this list.
 * For speed, the digest is written out; a test compares it with this list. A new column needs a line here and
 * its field above, its name in `LAYOUT_FIELDS`, code that reads it (orders/map/build-order.ts), a migration, and
 * a column in `bi.orders`.
 */
export const ORDER_COLUMNS = [
  { field: 'groupKey', column: 'group_key', type: 'text', merge: 'same' },
  { field: 'orderId', column: 'order_id', type: 'text', merge: 'same' },
  { field: 'orderName', column: 'order_name', type: 'text', merge: 'first' },
  { field: 'otherIds', column: 'other_ids', type: 'text[]', merge: 'union' },
  { field: 'status', column: 'status', type: 'text', merge: 'first' },
  { field: 'currency', column: 'currency', type: 'text', merge: 'same' },
  { field: 'total', column: 'total', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'subtotal', column: 'subtotal', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'refunded', column: 'refunded', type: 'numeric(18,4)', merge: 'sum' },
  { field: 'codes', column: 'codes', type: 'text[]', merge: 'union', isMatched: true },
  { field: 'links', column: 'links', type: 'text[]', merge: 'union', isMatched: true },
  { field: 'influencerHandle', column: 'influencer_handle', type: 'text', merge: 'first' },
  { field: 'dealId', column: 'deal_id', type: 'text', merge: 'first' },
  { field: 'collabId', column: 'collab_id', type: 'text', merge: 'first' },
  { field: 'brandId', column: 'brand_id', type: 'text', merge: 'first' },
  { field: 'placedAt', column: 'placed_at', type: 'timestamptz', merge: 'first' },
  { field: 'paidAt', column: 'paid_at', type: 'timestamptz', merge: 'first' },
  { field: 'cancelledAt', column: 'cancelled_at', type: 'timestamptz', merge: 'first' },
  { field: 'exclusion', column: 'exclusion', type: 'text', merge: 'same' },
  { field: 'doubt', column: 'doubt', type: 'text', merge: 'first' },
] as const satisfies readonly {
  readonly field: keyof StagedOrder;
  readonly column: string;
  readonly type: string;
  /**
   * How two values are merged if rows of one order are added up: they must be the same, the first counts,
   * they are added, or they are united.
   */
  readonly merge: 'same' | 'first' | 'sum' | 'union';
  /** True if an additional column holds the texts as they are matched with codes and handles. */
  readonly isMatched?: true;
}[];

/** Rows that belong to an order whose first row is elsewhere in the file (separate Shopify line items). */
export type OrderContinuation = Pick<StagedOrder, 'groupKey' | 'line' | 'record' | 'rowCount'>;

/** An order that lacks a row of its file, because the row cannot be used. */
export type MissingRow = {
  /** Null: any order of the file may lack it. */
  readonly groupKey: string | null;
  /** True if the row itself names the order. Otherwise the order is beside the row in the file. */
  readonly isCertain: boolean;
};

/** A bounded number of orders that mapping passes to intake, with the rows that could not be used. */
export type OrderBatch = {
  readonly orders: readonly StagedOrder[];
  readonly continuations: readonly OrderContinuation[];
  readonly rejected: readonly RejectedRow[];
  /** Only if rows of an order add up, or say what was bought. */
  readonly missing: readonly MissingRow[];
  /**
   * Number of records consumed for this batch. Equals Σ rowCount of orders, continuations and rejected rows.
   */
  readonly rowsRead: number;
};

/** The column that identifies the orders of a file. */
export type OrderIdColumn = {
  /** Its header in lower case, with letters and digits only. Null if it is not known. */
  readonly name: string | null;
  /** True if the layout prefers another column, which this file lacks or leaves blank. */
  readonly isFallback: boolean;
};

/** Returns true if an order names a code, link or influencer, who may own it. Others are organic. */
export function namesOwner({ codes, links, influencerHandle, dealId, collabId }: StagedOrder): boolean {
  return codes.length + links.length > 0 || (influencerHandle ?? dealId ?? collabId) !== null;
}

/** How many orders several groups have together. */
export function sumOrders(groups: readonly { readonly orders: number }[]): number {
  return groups.reduce((sum, { orders }) => sum + orders, 0);
}
