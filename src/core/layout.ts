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
 * The roles that a person may give to a column. `excludes`: an order is never posted, or a customer never submitted,
 * if the cell says anything but no. `other_status`: an order counts only if this column says so, too. `consent`: a
 * customer is submitted if the cell has a word that is known to mean yes.
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
  'other_status',
  'quantity',
  'renewals',
  'consent',
  'excludes',
  'unused',
] as const satisfies readonly (
  | LayoutField
  | 'other_status'
  | 'quantity'
  | 'renewals'
  | 'consent'
  | 'excludes'
  | 'unused'
)[];
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
