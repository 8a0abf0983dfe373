import type { LayoutField } from './layout.ts';

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
