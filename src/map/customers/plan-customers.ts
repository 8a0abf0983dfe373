import type { Layout, LayoutField } from '../../model/layout.ts';
import type { Column, ResolvedHeader } from '../layout/resolve-header.ts';
import { type ConsentPlan, planConsent } from './plan-consent.ts';

/** What reading a file for its customers touches; all other columns are never looked at. */
export type CustomerPlan = {
  /** By preference: the first that is not blank counts. */
  readonly email: readonly Column[];
  readonly ordersCount: readonly Column[];
  readonly spent: readonly Column[];
  readonly currency: readonly Column[];
  readonly codes: readonly Column[];
  /** Where one row is a line item: what an order's first row fills. Later rows may repeat the address, but not the consent. */
  readonly marks: readonly Column[];
  readonly consent: ConsentPlan;
};

/** Decides which columns of a file are read for its customers. */
export function planCustomers(layout: Layout, header: ResolvedHeader): CustomerPlan {
  const field = (name: LayoutField): readonly Column[] => header.fields[name];
  return {
    email: field('email'),
    ordersCount: field('orders_count'),
    spent: field('spent'),
    currency: field('currency'),
    codes: field('codes'),
    marks: layout.grouping.lineItems ? [...field('status'), ...field('total')] : [],
    consent: planConsent(layout, header),
  };
}
