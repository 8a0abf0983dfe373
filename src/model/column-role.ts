import type { LayoutField } from './layout.ts';

/**
 * The roles that a person may give to a column. `excludes`: an order is never posted if its cell says anything
 * but no.
 */
export const COLUMN_ROLES = [
  ...([
    'order_id',
    'status',
    'currency',
    'total',
    'subtotal',
    'refunded',
    'codes',
    'links',
    'notes',
  ] as const),
  ...(['influencer_handle', 'placed_at', 'paid_at', 'cancelled_at', 'email', 'excludes', 'unused'] as const),
] as const satisfies readonly (LayoutField | 'excludes' | 'unused')[];
export type ColumnRole = (typeof COLUMN_ROLES)[number];

/** The roles that a person has given to columns, by `foldHeader` of their names. */
export type StatedRoles = ReadonlyMap<string, ColumnRole>;
