import type { Layout, LayoutField } from '../../../core/layout.ts';
import type { Column, ResolvedHeader } from '../../layout/resolve-header.ts';
import type { ReadColumns } from '../../map/cut-row.ts';
import type { MapCustomersOptions } from './customer-reader.ts';
import { type ConsentPlan, planConsent } from './plan-consent.ts';

/** The columns that are read for customers. All other columns are ignored. */
export type CustomerPlan = {
  /** In order of preference: the first column that is not blank counts. */
  readonly email: readonly Column[];
  readonly ordersCount: readonly Column[];
  readonly spent: readonly Column[];
  readonly currency: readonly Column[];
  readonly codes: readonly Column[];
  /**
   * If rows are line items: columns that only an order's first row fills. Later rows may repeat the address
   * but not the consent.
   */
  readonly marks: readonly Column[];
  readonly consent: ConsentPlan;
};

/** Selects the columns of a file that are read for its customers. */
export function planCustomers(
  layout: Layout,
  header: ResolvedHeader,
  { layout: whole, source, names, asOf }: MapCustomersOptions & { readonly names: readonly string[] },
): CustomerPlan {
  const field = (name: LayoutField): readonly Column[] => header.fields[name];
  return {
    email: field('email'),
    ordersCount: field('orders_count'),
    spent: field('spent'),
    currency: field('currency'),
    codes: field('codes'),
    marks: layout.grouping.lineItems ? [...field('status'), ...field('total')] : [],
    consent: planConsent(header, {
      ...{ layout, source, names, asOfMs: asOf.getTime() },
      isOfCustomers: !whole.required.includes('order_id'),
    }),
  };
}

/** The columns that may not be cut. */
export function columnsOf({ consent, ...fields }: CustomerPlan): ReadColumns {
  const has = (columns: readonly Column[], at: number) => columns.some(({ index }) => index === at);
  return {
    isRead: (at) => consent.isRead(at) || Object.values(fields).some((columns) => has(columns, at)),
    isCurrency: (at) => has(fields.currency, at),
  };
}
