import type { StatedContact } from '../model/contact.ts';
import { VERDICTS } from './stage-contacts.ts';
import type { ContactsToStore } from './store-contact-batches.ts';

/** So many questions are stored together; each is asked and recorded by itself. */
const LOOKUPS_A_PACK = 100;

/** Gathers the addresses of customers who are to be sent, until there are enough for a batch. */
export type ContactPacks = {
  add(contact: StatedContact, verdict: string): void;
  /** Those that are full; with `all`, the begun ones too. */
  take(all: boolean): readonly ContactsToStore[];
  /** Customers to submit so far. */
  submitted(): number;
  /** Customers to look up so far, and those for whom the budget did not suffice. */
  lookedUp(): { readonly within: number; readonly beyond: number };
};

/** @param lookupBudget customers to look up at most. */
export function createContactPacks(options: {
  readonly batchSize: number;
  readonly lookupBudget: number;
}): ContactPacks {
  const { batchSize, lookupBudget } = options;
  const sizes = { submit: batchSize, lookup: LOOKUPS_A_PACK };
  let full: ContactsToStore[] = [];
  const begun = { submit: newPack('submit'), lookup: newPack('lookup') };
  let submitted = 0;
  // Also what keeps a customer who stands in a file twice from being asked about twice; bounded by the budget.
  const asked = new Set<string>();
  let beyond = 0;

  function put(purpose: 'submit' | 'lookup', { address, hash }: StatedContact): void {
    const pack = begun[purpose];
    pack.addresses.push(address);
    pack.hashes.push(hash);
    if (pack.addresses.length < sizes[purpose]) return;
    full.push(pack);
    begun[purpose] = newPack(purpose);
  }

  return {
    add(contact, verdict) {
      if (verdict === VERDICTS.submit || verdict === VERDICTS.both) {
        put('submit', contact);
        submitted += 1;
      }
      if (verdict !== VERDICTS.lookUp && verdict !== VERDICTS.both) return;
      if (asked.has(contact.hash)) return;
      if (asked.size >= lookupBudget) beyond += 1;
      else {
        asked.add(contact.hash);
        put('lookup', contact);
      }
    },
    take(all) {
      const taken = full;
      full = [];
      if (!all) return taken;
      for (const purpose of ['submit', 'lookup'] as const) {
        if (begun[purpose].addresses.length > 0) taken.push(begun[purpose]);
        begun[purpose] = newPack(purpose);
      }
      return taken;
    },
    submitted: () => submitted,
    lookedUp: () => ({ within: asked.size, beyond }),
  };
}

type Pack = { purpose: 'submit' | 'lookup'; addresses: string[]; hashes: string[] };

function newPack(purpose: Pack['purpose']): Pack {
  return { purpose, addresses: [], hashes: [] };
}
