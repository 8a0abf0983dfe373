import type { Keeper } from './keeper.ts';

/** What the contacts of one call have in common. */
export type Enquiry = {
  readonly brandId: number;
  readonly sourceType: string | null;
  readonly queuedAt: number;
  /** Instant in milliseconds from which the result is there. */
  readonly dueAt: number;
};

/** A contact that was sent to be identified. */
export type Customer = Enquiry & { readonly email: string };

/** Contacts that were sent to be identified, each once a brand. */
export type Customers = {
  /** @returns how many of them were not queued for this brand before. */
  queue(emails: readonly string[], enquiry: Enquiry): number;
  /** In the order in which they came, brand by brand. */
  all(): Iterable<Customer>;
};

/** By brand and address, with no object of its own for each: there may be millions. */
export function createCustomers(keeper: Keeper | null): Customers {
  const brands = new Map<number, Map<string, Enquiry>>();

  function customersOf(brandId: number): Map<string, Enquiry> {
    const known = brands.get(brandId);
    if (known !== undefined) return known;
    const customers = new Map<string, Enquiry>();
    brands.set(brandId, customers);
    return customers;
  }

  for (const [, kept] of keeper?.all('customer') ?? []) {
    const { email, ...enquiry } = kept as Customer;
    customersOf(enquiry.brandId).set(email, enquiry);
  }

  return {
    queue(emails, enquiry) {
      const customers = customersOf(enquiry.brandId);
      let queued = 0;
      for (const text of emails) {
        const email = text.trim().toLowerCase();
        if (email === '' || customers.has(email)) continue;
        customers.set(email, enquiry);
        keeper?.put('customer', `${enquiry.brandId} ${email}`, { email, ...enquiry });
        queued += 1;
      }
      return queued;
    },
    *all() {
      for (const customers of brands.values())
        for (const [email, enquiry] of customers) yield { email, ...enquiry };
    },
  };
}
