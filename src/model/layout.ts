import type { ConsentRule } from './customer.ts';

/** What a layout can find in an export. `group` holds the rows of one order together. */
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
  'influencer_handle',
  'deal_id',
  'collab_id',
  'brand_id',
  'placed_at',
  'paid_at',
  'cancelled_at',
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

/** What a file is read for. Exports of orders name customers too, so a file may be read for both, each time by itself. */
export type ReadFor = Purpose['readFor'];

/** What a file is read for, and what the job that reads it asks of it. What changes here makes a file mean something else. */
export type Purpose =
  | { readonly readFor: 'orders'; readonly job?: OrderReading }
  | { readonly readFor: 'customers'; readonly consent: ConsentRule }
  | { readonly readFor: 'clicks' }
  | { readonly readFor: 'creators' };

/**
 * Whether a file is read again when its rows mean something else under the settings of today. Customers are submitted once, whatever is
 * read twice. Orders are not read again: of two files that state an order the one read last counts, and reading an older one again would
 * bring its state back.
 */
export const IS_READ_ANEW: Readonly<Record<ReadFor, boolean>> = {
  orders: false,
  customers: true,
  clicks: false,
  creators: false,
};

/** What a job takes of the orders that it reads. */
export type OrderReading = {
  /** Which amount of an order is its revenue. */
  readonly revenue: 'total' | 'subtotal' | 'total_less_refunds';
  /** Status words that are credited, lower case; null: those of the layout. */
  readonly include: readonly string[] | null;
};

/** Amounts that a layout may add up over the rows of an order. */
export type SummedField = 'total' | 'subtotal' | 'refunded';

/**
 * What a format does not carry. The source must give `currency` and `time_zone`, and say that `consent` is not recorded; `codes` and
 * `status` nobody can give.
 */
export type LayoutLack = 'currency' | 'time_zone' | 'codes' | 'status' | 'consent';

/** How amounts are written. */
export type MoneyFormat = {
  readonly decimal: '.' | ',';
  /** Between groups of digits; null: no separator is allowed. */
  readonly thousands: ',' | '.' | ' ' | "'" | null;
  /** Whether a currency symbol or code may stand beside the digits. */
  readonly symbols: boolean;
};

/** A test on the cells of one column. One of the four is set. */
export type CellTest = {
  /** Spellings of the column's header; a file without the column never matches. */
  readonly columns: readonly string[];
  /** Any of these words, case and outer blanks folded. */
  readonly equals: readonly string[] | null;
  /** None of these words, case and outer blanks folded; a blank cell is none of them. */
  readonly noneOf: readonly string[] | null;
  /** True: anything at all. */
  readonly notBlank: boolean;
  /** Source of a case-insensitive regular expression. */
  readonly matches: string | null;
};

/** Orders that are never posted; those with the reason `draft` unless the job credits drafts. */
export type ExclusionRule = CellTest & {
  /** Stable machine name: `test`, `draft`, `cancelled`. */
  readonly reason: string;
};

/** A column that the layout makes of another: its cells where the row passes the test, and blanks in all other rows. */
export type ConditionalColumn = {
  /** By which `columns`, sums and tests of the layout name it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly when: CellTest;
};

/** Two columns that tell what was refunded: an amount, and what is left of it. Nothing was, while the second is blank or zero. */
export type RefundPair = { readonly before: readonly string[]; readonly after: readonly string[] };

/** Amounts of an order's rows that are added up: Σ plus − Σ minus. Columns that a file lacks count as nothing. */
export type SumRule = {
  readonly plus: readonly string[];
  readonly minus: readonly string[];
};

/** How one kind of export is read: the content of `config/layouts/<name>.yaml`, defaults filled in. */
export type Layout = {
  readonly name: string;
  /** For people: `Shopify orders export`. */
  readonly title: string;
  /** `auto`: whichever of comma, semicolon, tab and bar the header row has most of. */
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Null: quotes mean nothing in this format. */
  readonly quote: '"' | null;
  /** A WHATWG or iconv label. */
  readonly encoding: string;
  /**
   * Physical lines before the header; `search`: the header is the first row that has all required columns. Blank lines and a `sep=;` line
   * need no mention.
   */
  readonly preambleLines: number | 'search';
  /** What rows between the header and the first order begin with, in their first filled cell: descriptions of the columns. */
  readonly belowHeader: readonly string[];
  /** What rows after the last order begin with, in their first or second filled cell: `Seller ID`, `record(s) downloaded`. */
  readonly footer: readonly string[];
  readonly lacks: readonly LayoutLack[];
  /**
   * Spellings of each field's column, in order of preference. For `group` and `order_id` the first that is not blank in every row is used,
   * for the whole file; for the others the first that is not blank, order by order.
   */
  readonly columns: Readonly<Partial<Record<LayoutField, readonly string[]>>>;
  /** Columns that a header must have. */
  readonly required: readonly LayoutField[];
  /** Of each of these lists a header must have one column at least. */
  readonly requiredAny: readonly (readonly LayoutField[])[];
  /** Sets of columns, any of which proves that a file is this kind of export. Empty: no columns prove it. */
  readonly signature: readonly (readonly string[])[];
  readonly conditionalColumns: readonly ConditionalColumn[];
  /** Fields in which zero says as little as a blank while another column of theirs says more. */
  readonly zeroFallsThrough: readonly LayoutField[];
  /** Where no column has what was refunded: added up over these pairs. */
  readonly leftAfterRefund: readonly RefundPair[];
  /** `Order Time` where the date stands in a column of its own. */
  readonly timeOfDay: readonly string[];
  readonly grouping: {
    /** Whether later rows of an order (line items) leave the order's own columns blank. */
    readonly lineItems: boolean;
    /** Amounts that are added up over an order's rows. When there are any, intake adds up parts of one order that stand apart. */
    readonly sum: Readonly<Partial<Record<SummedField, SumRule>>>;
    /** Rows that belong to their order but add nothing to a sum: cancelled items. */
    readonly addsNothing: readonly CellTest[];
  };
  readonly money: MoneyFormat;
  readonly times: {
    /** Patterns, tried in order: `YYYY-MM-DD HH:mm:ss Z`, `M/D/YYYY H:mm`, `iso`. */
    readonly formats: readonly string[];
    /** IANA zone of all times of the format that say none (`Created (UTC)`), whatever the source says; null: the source's. */
    readonly zone: string | null;
    /** Column with the zone of the row's times: an IANA name, an offset or an abbreviation. */
    readonly zoneColumn: readonly string[];
  };
  readonly codes: {
    /** Any of these stands between several codes in one cell; empty: a cell is one code. */
    readonly split: readonly string[];
    /** Regular expression whose first group is a code, for cells that hold more than codes; null: the cell is the code. */
    readonly pattern: string | null;
  };
  readonly links: {
    /** `key: value` lines of the notes whose value may name an influencer. */
    readonly keys: readonly string[];
    /** Query parameters of links in the notes whose value may name one. */
    readonly parameters: readonly string[];
  };
  readonly status: {
    /** Translations and spellings, normalised, to the word that is used here. */
    readonly words: Readonly<Record<string, string>>;
    /** Words of the format that are neither credited nor in need of a translation: a file full of other words is held. */
    readonly known: readonly string[];
    /** Words that are credited unless a job says otherwise; null: every order, the format has no status to go by. */
    readonly credited: readonly string[] | null;
  };
  readonly exclusions: readonly ExclusionRule[];
  readonly consent: {
    /** Spellings of the columns where consent stands. A file that has none of them is held. Empty: the format does not record consent. */
    readonly columns: readonly string[];
    /** What tells that a customer has said yes, or no. */
    readonly given: readonly CellTest[];
    readonly refused: readonly CellTest[];
    /** Values that say neither. Any other value in one of `columns` is not understood, and its row is rejected. */
    readonly neither: readonly CellTest[];
  };
  /** What tells that a customer has unsubscribed, or was blacklisted. */
  readonly unsubscribed: readonly CellTest[];
};

/** Layouts that may fit a file better. They are asked for only when a header does not fit: reading all of them takes longer than a small file. */
export type OtherLayouts = () => readonly Layout[];
