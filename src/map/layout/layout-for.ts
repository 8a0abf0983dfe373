import type { Layout, LayoutField, ReadFor } from '../../model/layout.ts';

/** Fields that say something about a customer, or that a row is an order's first; all others are about orders alone. */
const OF_CUSTOMERS: readonly LayoutField[] = [
  'email',
  'orders_count',
  'spent',
  'currency',
  'codes',
  'status',
  'total',
];
const OF_CUSTOMERS_ALONE: readonly LayoutField[] = ['email', 'orders_count', 'spent'];

/**
 * A layout of orders with the column that says who ordered, where it has one, for sources whose orders get a customer key.
 *
 * @returns null when it is not a layout of orders.
 */
export function layoutForKeyedOrders(layout: Layout): Layout | null {
  const ofOrders = forOrders(layout);
  const { email } = layout.columns;
  return ofOrders === null || email === undefined
    ? ofOrders
    : { ...ofOrders, columns: { ...ofOrders.columns, email } };
}

/**
 * A layout reduced to what a file is read for, so that a column which the other reading needs can neither be missed nor be doubtful here.
 *
 * @returns null when the layout cannot be read for it: customers without an e-mail column, orders in an export of customers or clicks.
 */
export function layoutFor(layout: Layout, readFor: ReadFor): Layout | null {
  if (readFor === 'orders') return forOrders(layout);
  return readFor === 'customers' ? forCustomers(layout) : forRows(layout, OF_ROWS[readFor]);
}

/** Files in which each row stands for itself: which field marks them, and which fields say something about it. */
const OF_ROWS = {
  clicks: {
    mark: 'clicks',
    fields: ['day', 'clicks', 'country', 'codes', 'links', 'influencer_handle', 'deal_id', 'collab_id'],
  },
  creators: {
    mark: 'platform',
    fields: [
      ...[
        'influencer_handle',
        'platform',
        'brand_id',
        'dealflow_id',
        'deal_id',
        'stage',
        'is_active',
        'note',
      ],
      ...['code', 'code_percent', 'commission_percent', 'custom_link', 'custom_link_target'],
    ] as LayoutField[],
  },
} as const satisfies Record<string, { readonly mark: LayoutField; readonly fields: readonly LayoutField[] }>;

function forRows(
  layout: Layout,
  { mark, fields }: { readonly mark: LayoutField; readonly fields: readonly LayoutField[] },
): Layout | null {
  if (!layout.required.includes(mark)) return null;
  return { ...layout, columns: keep(layout.columns, (field) => fields.includes(field)) };
}

function forOrders(layout: Layout): Layout | null {
  if (!layout.required.includes('order_id')) return null;
  return {
    ...layout,
    columns: keep(layout.columns, (field) => !OF_CUSTOMERS_ALONE.includes(field)),
    required: layout.required.filter((field) => !OF_CUSTOMERS_ALONE.includes(field)),
    consent: { columns: [], given: [], refused: [], neither: [] },
    unsubscribed: [],
  };
}

function forCustomers(layout: Layout): Layout | null {
  if (layout.columns.email === undefined) return null;
  return {
    ...layout,
    columns: keep(layout.columns, (field) => OF_CUSTOMERS.includes(field)),
    required: ['email'],
    requiredAny: [],
    conditionalColumns: [],
    leftAfterRefund: [],
    times: { ...layout.times, zoneColumn: [] },
    timeOfDay: [],
    grouping: { lineItems: layout.grouping.lineItems, sum: {}, addsNothing: [] },
    exclusions: [],
  };
}

function keep(columns: Layout['columns'], isKept: (field: LayoutField) => boolean): Layout['columns'] {
  return Object.fromEntries(Object.entries(columns).filter(([field]) => isKept(field as LayoutField)));
}
