import type { LayoutField, ReadFor } from '../../core/layout.ts';
import type { Layout } from './to-layout.ts';

/**
 * Fields that describe a customer, or that show that a row is an order's first. All other fields describe
 * only orders.
 */
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
/** Fields that are read only if the source asks for them (`layoutForOrders`). */
const IF_ASKED: readonly LayoutField[] = [...OF_CUSTOMERS_ALONE, 'changed_at'];

/**
 * Reduces a layout to the fields of orders. Keeps the e-mail column, the order lines and the time of the last change only
 * if the source asks for them. A file must have the column of the last change then.
 *
 * @returns null if it is not a layout of orders.
 */
export function layoutForOrders(
  layout: Layout,
  asked: { readonly customerKey: boolean; readonly lines: boolean; readonly changes: boolean },
): Layout | null {
  const ofOrders = forOrders(layout);
  if (ofOrders === null) return null;
  const { email, changed_at: changedAt } = layout.columns;
  return {
    ...ofOrders,
    columns: {
      ...ofOrders.columns,
      ...(asked.customerKey && email !== undefined ? { email } : {}),
      ...(asked.changes && changedAt !== undefined ? { changed_at: changedAt } : {}),
    },
    required: asked.changes ? [...ofOrders.required, 'changed_at'] : ofOrders.required,
    lines: asked.lines ? layout.lines : null,
  };
}

/**
 * Reduces a layout to the fields of one purpose, so that a column that only another purpose needs can be
 * missing or ambiguous.
 *
 * @returns null if the layout does not support the purpose: customers without an e-mail column, or orders in
 * an export of customers or clicks.
 */
export function layoutFor(layout: Layout, readFor: ReadFor): Layout | null {
  if (readFor === 'orders') return forOrders(layout);
  return readFor === 'customers' ? forCustomers(layout) : forRows(layout, OF_ROWS[readFor]);
}

/**
 * Purposes for which each row is independent: the field that identifies such a layout, and the fields that
 * are read.
 */
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
  { mark, fields }: { mark: LayoutField; fields: readonly LayoutField[] },
): Layout | null {
  if (!layout.required.includes(mark)) return null;
  return { ...layout, lines: null, columns: keep(layout.columns, (field) => fields.includes(field)) };
}

function forOrders(layout: Layout): Layout | null {
  if (!layout.required.includes('order_id')) return null;
  return {
    ...layout,
    columns: keep(layout.columns, (field) => !IF_ASKED.includes(field)),
    required: layout.required.filter((field) => !IF_ASKED.includes(field)),
    lines: null,
    consent: { columns: [], given: [], refused: [], neither: [], givenAt: [], refusedAt: [] },
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
    joinedColumns: [],
    refundList: null,
    refundedOf: [],
    leftAfterRefund: [],
    times: { ...layout.times, zoneColumn: [] },
    timeOfDay: [],
    grouping: { lineItems: layout.grouping.lineItems, sum: {}, item: [], addsNothing: [] },
    lines: null,
    exclusions: [],
  };
}

function keep(columns: Layout['columns'], isKept: (field: LayoutField) => boolean): Layout['columns'] {
  return Object.fromEntries(Object.entries(columns).filter(([field]) => isKept(field as LayoutField)));
}
