import type { Account, Enquiry } from './account.ts';

/** A contact that was sent to be identified. */
export type Customer = Omit<Enquiry, 'emails'> & { readonly email: string };

/** Those of all calls, in the order in which they came, each once a brand. */
export function* listCustomers({ enquiries }: Account): Generator<Customer> {
  const listed = new Set<string>();
  for (const { emails, ...enquiry } of enquiries.items.values()) {
    for (const text of emails) {
      const email = text.trim().toLowerCase();
      const id = `${enquiry.brandId} ${email}`;
      if (email === '' || listed.has(id)) continue;
      listed.add(id);
      yield { email, ...enquiry };
    }
  }
}
