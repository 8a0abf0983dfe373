import { attributeOrders } from './attribute-orders.ts';
import { identifyCustomers } from './identify-customers.ts';
import { mirrorAccount } from './mirror-account.ts';

/**
 * Every kind of job that `pipeline.yaml` may name. A new kind is one file here and one line in this list: a strict object with the
 * literal `kind` that ends in a function from its context to its settings.
 */
export const jobKinds = [attributeOrders, identifyCustomers, mirrorAccount] as const;

/** What `kind` may say. */
export function jobKindNames(): readonly string[] {
  return jobKinds.map((job) => job.in.shape.kind.value);
}
