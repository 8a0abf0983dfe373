import { type CustomerHash, consentOf, type StatedCustomer } from '../../core/customer.ts';
import type { BatchedCustomer } from './batched-customer.ts';
import type { Decision } from './stage-customers.ts';
import type { CustomersToStore } from './store-customer-batches.ts';

/** Number of look-ups stored together in one batch. Each is sent and recorded separately. */
const LOOKUPS_A_PACK = 100;

/** Collects the addresses of customers to be sent, batch by batch. */
export type CustomerPacks = {
  /** Adds customers in the order in which they were placed, with a decision for each. */
  add(placed: readonly BatchedCustomer[], decisions: Decisions): void;
  /**
   * Returns the batches that are complete because a later one has begun; with `all`, the incomplete ones too.
   */
  take(all: boolean): readonly CustomersToStore[];
  /** Number of customers to submit so far. */
  submitted(): number;
  /** Customers to look up so far, and the number of customers beyond the budget. */
  lookedUp(): { readonly within: readonly CustomerHash[]; readonly beyond: number };
};

export type Decisions = {
  /** Decisions for known customers. All others are new. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Customers whom the job wants to look up and has not looked up yet. */
  readonly wanted: ReadonlySet<CustomerHash>;
};

export type CustomerPacksOptions = {
  /** Maximum number of customers to look up. */
  readonly lookupBudget: number;
  /** Customers whom this run looks up already, because they occur in another file. */
  readonly lookedUpAlready: ReadonlySet<CustomerHash>;
};

export function createCustomerPacks({ lookupBudget, lookedUpAlready }: CustomerPacksOptions): CustomerPacks {
  let full: CustomersToStore[] = [];
  let submit: Pack | null = null;
  let lookup = newPack('lookup', null);
  let submitted = 0;
  // Also prevents a second look-up of a customer who occurs twice in a file. The budget limits its size.
  const asked = new Set<CustomerHash>();
  let beyond = 0;

  function close(pack: Pack): void {
    if (pack.addresses.length > 0) full.push(pack);
  }

  function packOf(batchId: string): Pack {
    if (submit?.batchId === batchId) return submit;
    if (submit !== null) close(submit);
    submit = newPack('submit', batchId);
    return submit;
  }

  function lookUp(customer: StatedCustomer): void {
    if (asked.has(customer.hash) || lookedUpAlready.has(customer.hash)) return;
    if (asked.size >= lookupBudget) {
      beyond += 1;
      return;
    }
    asked.add(customer.hash);
    put(lookup, customer);
    if (lookup.addresses.length < LOOKUPS_A_PACK) return;
    close(lookup);
    lookup = newPack('lookup', null);
  }

  return {
    add(placed, { known, wanted }) {
      for (const { customer, batchId } of placed) {
        const pack = packOf(batchId);
        const decision =
          known.get(customer.hash) ?? (consentOf(customer) === 'no' ? 'unsubscribed' : 'submit');
        if (decision === 'submit') {
          put(pack, customer);
          submitted += 1;
        }
        if (decision !== 'unsubscribed' && wanted.has(customer.hash)) lookUp(customer);
      }
    },
    take(all) {
      if (all) {
        if (submit !== null) close(submit);
        submit = null;
        close(lookup);
        lookup = newPack('lookup', null);
      }
      const taken = full;
      full = [];
      return taken;
    },
    submitted: () => submitted,
    lookedUp: () => ({ within: [...asked], beyond }),
  };
}

type Pack = CustomersToStore & { readonly addresses: string[]; readonly hashes: CustomerHash[] };

function newPack(purpose: Pack['purpose'], batchId: string | null): Pack {
  return { purpose, batchId, addresses: [], hashes: [] };
}

function put(pack: Pack, { address, hash }: StatedCustomer): void {
  pack.addresses.push(address);
  pack.hashes.push(hash);
}
