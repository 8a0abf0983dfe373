import type { ConsentRule } from './customer.ts';

/** The fields that a layout can find in an export. `group` identifies the rows of one order. */
export const LAYOUT_FIELDS = [
  'group',
  'order_id',
  'order_name',
  'status',
  'currency',
  'total',
  'subtotal',
  'refunded',
  'codes',
  'links',
  'notes',
  'other_ids',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'brand_id',
  'placed_at',
  'paid_at',
  'cancelled_at',
  'changed_at',
  'email',
  'orders_count',
  'spent',
  'day',
  'clicks',
  'country',
  'platform',
  'dealflow_id',
  'stage',
  'is_active',
  'note',
  'code',
  'code_percent',
  'commission_percent',
  'custom_link',
  'custom_link_target',
] as const;
export type LayoutField = (typeof LAYOUT_FIELDS)[number];

/**
 * What a file is read for. Exports of orders also contain customers, so a file may be read for both, each
 * time separately.
 */
export type ReadFor = Purpose['readFor'];

/**
 * What a file is read for, and the requirements of the job that reads it. A change here changes what the file
 * means.
 */
export type Purpose =
  | { readonly readFor: 'orders'; readonly job?: OrderReading }
  | { readonly readFor: 'customers'; readonly consent: ConsentRule }
  | { readonly readFor: 'clicks' }
  | { readonly readFor: 'creators' };

/**
 * Whether a file is read again after a change of settings that changes what its rows mean. Reading customers
 * twice is safe, because each customer is submitted only once. Orders are not read again: what was posted can no longer
 * be changed, so a person decides which files are worth it.
 */
export const IS_READ_ANEW: Readonly<Record<ReadFor, boolean>> = {
  orders: false,
  customers: true,
  clicks: false,
  creators: false,
};

/** The settings of a job that affect how its orders are read. */
export type OrderReading = {
  /** The amount of an order that counts as its revenue. */
  readonly revenue: 'total' | 'subtotal' | 'total_less_refunds';
  /** Statuses that are credited, in lower case. `any`: every status, and none. Null: those of the layout. */
  readonly include: readonly string[] | 'any' | null;
};

/** Which statuses of the orders of a source count (`statusRules`). */
export type StatusRules = {
  /** Statuses that are credited, folded. `any`: every status, and none. */
  readonly credited: readonly string[] | 'any';
  /** Statuses that are known and not credited, folded. Orders with any other status, or a blank one, are held. */
  readonly notCredited: readonly string[];
  /** True if an order of a file without the column counts, because layout or source say why it may be missing. */
  readonly mayLackColumn: boolean;
};

/** Amounts that a layout may add up over the rows of an order. */
export type SummedField = 'total' | 'subtotal' | 'refunded';

/**
 * Information that a format does not contain. The source must provide `currency` and `time_zone`, and declare
 * that `consent` is not recorded. `codes` and `status` cannot be provided.
 */
export type LayoutLack = 'currency' | 'time_zone' | 'codes' | 'status' | 'consent';

/** How amounts are written. */
export type MoneyFormat = {
  readonly decimal: '.' | ',';
  /** Separator between groups of digits. Null: no separator is allowed. */
  readonly thousands: ',' | '.' | ' ' | "'" | null;
  /** True if a currency symbol or code may stand next to the digits. */
  readonly symbols: boolean;
};

/** A test on the cells of one column. Exactly one of the four conditions is set. */
export type CellTest = {
  /** Spellings of the column's header. The test never matches in a file without the column. */
  readonly columns: readonly string[];
  /** Matches any of these words, ignoring case and outer blanks. */
  readonly equals: readonly string[] | null;
  /** Matches any word except these, ignoring case and outer blanks. A blank cell matches. */
  readonly noneOf: readonly string[] | null;
  /** If true, matches any cell that is not blank. */
  readonly notBlank: boolean;
  /** Source of a case-insensitive regular expression. */
  readonly matches: string | null;
};

/**
 * A rule for orders that are never posted. Orders with the reason `draft` are posted if the job credits
 * drafts, and those with the reason `renewal` unless the job excludes renewals.
 */
export type ExclusionRule = CellTest & {
  /** Stable machine name: `test`, `draft`, `cancelled`. */
  readonly reason: string;
  /**
   * The only words that let an order pass; an empty word stands for a blank. An order with any other word that
   * the test does not match is excluded as `unknown_<reason>`. Undefined: every other word lets it pass.
   */
  readonly unless?: readonly string[];
};

/**
 * A column that the layout derives from another: its cells in rows that pass the test, and blanks in all
 * other rows.
 */
export type ConditionalColumn = {
  /** The name by which `columns`, sums and tests of the layout refer to it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly when: CellTest;
};

/**
 * Two columns from which the refunded amount follows: an amount, and what is left of it. If the second is
 * blank or zero, nothing was refunded.
 */
export type RefundPair = { readonly before: readonly string[]; readonly after: readonly string[] };

/**
 * A rule that adds up amounts of an order's rows: Σ plus − Σ minus. Columns that a file lacks count as zero.
 */
export type SumRule = {
  readonly plus: readonly string[];
  readonly minus: readonly string[];
};

/**
 * Columns from which the product of each row and its amount after discounts are read: Σ plus × times − Σ
 * minus.
 */
export type LinesRule = SumRule & {
  readonly sku: readonly string[];
  /**
   * Column of the quantity, by which the unit price is multiplied. Empty: the amount is already that of the
   * whole line.
   */
  readonly times: readonly string[];
};

/** How one kind of export is read: the content of `config/layouts/<name>.yaml`, with defaults filled in. */
export type Layout = {
  readonly name: string;
  /** Name for people: `Shopify orders export`. */
  readonly title: string;
  /** `auto`: the most frequent of comma, semicolon, tab and bar in the header row. */
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Null: quotes have no special meaning in this format. */
  readonly quote: '"' | null;
  /** A WHATWG or iconv label. */
  readonly encoding: string;
  /**
   * Number of physical lines before the header. `search`: the header is the first row with all required
   * columns. Blank lines and a `sep=;` line are not counted.
   */
  readonly preambleLines: number | 'search';
  /**
   * Beginnings of rows between the header and the first order, in their first filled cell: descriptions of
   * the columns.
   */
  readonly belowHeader: readonly string[];
  /**
   * Beginnings of rows after the last order, in their first or second filled cell: `Seller ID`, `record(s)
   * downloaded`.
   */
  readonly footer: readonly string[];
  /** True if files of this format end without a line break. Otherwise a last row without one may be cut. */
  readonly endsWithoutLineBreak: boolean;
  readonly lacks: readonly LayoutLack[];
  /** ISO 4217 currency of all amounts, if the format has only one (`Sale Price ($)`). Null: a column or the source says it. */
  readonly currency: string | null;
  /**
   * Spellings of each field's column, in order of preference. For `group` and `order_id`, the first column
   * that any row fills is used for the whole file. For the other fields, the first column that is filled is
   * used, for each order separately.
   */
  readonly columns: Readonly<Partial<Record<LayoutField, readonly string[]>>>;
  /** Columns that the header must contain. */
  readonly required: readonly LayoutField[];
  /** The header must contain at least one column of each of these lists. */
  readonly requiredAny: readonly (readonly LayoutField[])[];
  /** Sets of columns, each of which proves that a file is this kind of export. Empty: no columns prove it. */
  readonly signature: readonly (readonly string[])[];
  /**
   * Why files may lack a column that can only lower an amount, exclude an order or take permission away, by any
   * spelling of its header. A file without any other such column is held.
   */
  readonly mayBeMissing: Readonly<Record<string, string>>;
  readonly conditionalColumns: readonly ConditionalColumn[];
  /**
   * Regular expression whose first group is the order id, for formats that wrap it (`gid://shopify/Order/5601`). Ids
   * that it does not match are rejected. Null: the cell is the id.
   */
  readonly orderIdPattern: string | null;
  /** Fields in which a zero counts as blank if another of their columns has a value. */
  readonly zeroFallsThrough: readonly LayoutField[];
  /**
   * Columns that list the refunds of an order in one cell, and the pattern whose first group is the amount of one.
   * They are added up if no other column contains the refunded amount. Null: the format has no such column.
   */
  readonly refundList: { readonly columns: readonly string[]; readonly pattern: string } | null;
  /**
   * Columns of the total that `refunded` is a part of, if it may be in another currency than `total` (Magento: what the
   * customer paid, beside what the shop books). Empty: the refund is a part of `total`.
   */
  readonly refundedOf: readonly string[];
  /** If no column contains the refunded amount, it is added up over these pairs. */
  readonly leftAfterRefund: readonly RefundPair[];
  /** Columns with the time of day, for example `Order Time`, if the date has its own column. */
  readonly timeOfDay: readonly string[];
  readonly grouping: {
    /** True if later rows of an order (line items) leave the order's own columns blank. */
    readonly lineItems: boolean;
    /**
     * Amounts that are added up over an order's rows. If there are any, intake adds up separate parts of an
     * order.
     */
    readonly sum: Readonly<Partial<Record<SummedField, SumRule>>>;
    /**
     * Spellings of the column that identifies an item among all items. Rows with the same id are one item. Empty if the
     * format has none: equal rows of an order are then different items, unless they stand apart.
     */
    readonly item: readonly string[];
    /** Tests for rows that belong to their order but add nothing to a sum: cancelled items. */
    readonly addsNothing: readonly CellTest[];
  };
  /** Columns of the purchased products. Null if the format does not contain them, or if they are not read. */
  readonly lines: LinesRule | null;
  readonly money: MoneyFormat;
  readonly times: {
    /** Patterns, tried in order: `YYYY-MM-DD HH:mm:ss Z`, `M/D/YYYY H:mm`, `iso`. */
    readonly formats: readonly string[];
    /**
     * IANA zone of all times of the format that contain none (`Created (UTC)`). It overrides the source's
     * zone. Null: the source's zone.
     */
    readonly zone: string | null;
    /** Column with the time zone of the row: an IANA name, an offset or an abbreviation. */
    readonly zoneColumn: readonly string[];
  };
  readonly codes: {
    /** Separators between several codes in one cell. Empty: a cell is one code. */
    readonly split: readonly string[];
    /**
     * Regular expression whose first group is a code, for cells that contain more than codes. Null: the cell
     * is the code.
     */
    readonly pattern: string | null;
  };
  readonly links: {
    /** Keys of `key: value` lines in the notes whose value may name an influencer. */
    readonly keys: readonly string[];
    /** Query parameters of links in the notes whose value may name an influencer. */
    readonly parameters: readonly string[];
  };
  readonly status: {
    /** Maps normalised translations and spellings to the status that is used here. */
    readonly words: Readonly<Record<string, string>>;
    /**
     * Statuses of the format that are neither credited nor translated. A file full of other words is held.
     */
    readonly known: readonly string[];
    /**
     * Statuses that are credited unless a job says otherwise. Null only if the format has no column of the
     * status: every order is then credited.
     */
    readonly credited: readonly string[] | null;
  };
  readonly exclusions: readonly ExclusionRule[];
  readonly consent: {
    /**
     * Spellings of the consent columns. A file with none of them is held. Empty: the format does not record
     * consent.
     */
    readonly columns: readonly string[];
    /** Tests that show that a customer has consented. `refused` shows that a customer has not. */
    readonly given: readonly CellTest[];
    readonly refused: readonly CellTest[];
    /**
     * Tests for values that mean neither. The row is rejected if a cell in one of `columns` has any other
     * value.
     */
    readonly neither: readonly CellTest[];
    /** Columns with the time of the yes. Without a time, a yes never replaces a no. */
    readonly givenAt: readonly string[];
    /** Columns with the time of the no. Any text in them is a no. */
    readonly refusedAt: readonly string[];
  };
  /** Tests that show that a customer has unsubscribed, bounced or was blacklisted: a no as well. */
  readonly unsubscribed: readonly CellTest[];
};

/**
 * Other layouts that may fit a file better. Called only if a header does not fit, because reading all layouts
 * takes longer than reading a small file.
 */
export type OtherLayouts = () => readonly Layout[];

/**
 * The roles that a person may give to a column. `excludes`: an order is never posted, or a customer never submitted,
 * if the cell says anything but no. `consent`: a customer is submitted if the cell has a word that is known to mean yes.
 */
export const COLUMN_ROLES = [
  'order_id',
  'status',
  'currency',
  'total',
  'subtotal',
  'refunded',
  'codes',
  'links',
  'notes',
  'influencer_handle',
  'placed_at',
  'paid_at',
  'cancelled_at',
  'email',
  'consent',
  'excludes',
  'unused',
] as const satisfies readonly (LayoutField | 'consent' | 'excludes' | 'unused')[];
export type ColumnRole = (typeof COLUMN_ROLES)[number];

/** The roles that columns of customers may have. */
export const CUSTOMER_ROLES = [
  'email',
  'consent',
  'excludes',
  'unused',
] as const satisfies readonly ColumnRole[];

/** The roles that a person has given to columns, by `foldHeader` of their names. */
export type StatedRoles = ReadonlyMap<string, ColumnRole>;
