import type { CustomerHash, StatedCustomer } from '../../model/customer.ts';
import type { PlacedCustomer } from './placed-customer.ts';
import type { Decision } from './stage-customers.ts';
import type { CustomersToStore } from './store-customer-batches.ts';

/** So many questions are stored together; each is asked and recorded by itself. */
const LOOKUPS_A_PACK = 100;

/** Gathers the addresses of customers who are to be sent, batch by batch. */
export type CustomerPacks = {
  /** Takes customers who were placed, in their order, with what is to be done with each. */
  add(placed: readonly PlacedCustomer[], decisions: Decisions): void;
  /** Those behind which another has begun; with `all`, the begun ones too. */
  take(all: boolean): readonly CustomersToStore[];
  /** Customers to submit so far. */
  submitted(): number;
  /** Customers to look up so far, and how many there are for whom the budget did not suffice. */
  lookedUp(): { readonly within: readonly CustomerHash[]; readonly beyond: number };
};

export type Decisions = {
  /** Of those who were known; all others are new. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Whom the job would look up, and has not. */
  readonly wanted: ReadonlySet<CustomerHash>;
};

export type CustomerPacksOptions = {
  /** Customers to look up at most. */
  readonly lookupBudget: number;
  /** Whom the run looks up anyway, because another file named them. */
  readonly lookedUpAlready: ReadonlySet<CustomerHash>;
};

export function createCustomerPacks({ lookupBudget, lookedUpAlready }: CustomerPacksOptions): CustomerPacks {
  let full: CustomersToStore[] = [];
  let submit: Pack | null = null;
  let lookup = newPack('lookup', null);
  let submitted = 0;
  // Also what keeps a customer who stands in a file twice from being asked about twice; bounded by the budget.
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
        const decision = known.get(customer.hash) ?? (customer.isUnsubscribed ? 'unsubscribed' : 'submit');
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
