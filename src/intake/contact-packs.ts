import type { ContactHash, StatedContact } from '../model/contact.ts';
import { VERDICTS } from './stage-contacts.ts';
import type { ContactsToStore } from './store-contact-batches.ts';

/** So many questions are stored together; each is asked and recorded by itself. */
const LOOKUPS_A_PACK = 100;

/** Gathers the addresses of customers who are to be sent, batch by batch. */
export type ContactPacks = {
  /** The batch into which the next customers go, and how many it has been given; null: a new one. */
  open(): OpenBatch | null;
  /** Takes the customers of a statement, in their order. */
  add(
    contacts: readonly StatedContact[],
    staged: { readonly verdicts: string; readonly batchIds: readonly string[] },
  ): void;
  /** Those that are full; with `all`, the begun ones too. */
  take(all: boolean): readonly ContactsToStore[];
  /** Customers to submit so far. */
  submitted(): number;
  /** Customers to look up so far, and how many there are for whom the budget did not suffice. */
  lookedUp(): { readonly within: readonly ContactHash[]; readonly beyond: number };
};

/** A batch is given customers until it is full; those of them who are known already leave their places empty. */
export type OpenBatch = { readonly batchId: string; readonly given: number };

export type ContactPacksOptions = {
  readonly batchSize: number;
  /** Customers to look up at most. */
  readonly lookupBudget: number;
  /** Whom the run looks up anyway, because another file named them. */
  readonly lookedUpAlready: ReadonlySet<ContactHash>;
};

export function createContactPacks({
  batchSize,
  lookupBudget,
  lookedUpAlready,
}: ContactPacksOptions): ContactPacks {
  let full: ContactsToStore[] = [];
  let submit: Pack | null = null;
  let lookup = newPack('lookup', null);
  let submitted = 0;
  // Also what keeps a customer who stands in a file twice from being asked about twice; bounded by the budget.
  const asked = new Set<ContactHash>();
  let beyond = 0;

  function close(pack: Pack): void {
    if (pack.addresses.length > 0) full.push(pack);
  }

  function packOf(batchIds: Iterator<string>): Pack {
    if (submit !== null && submit.given < batchSize) return submit;
    if (submit !== null) close(submit);
    submit = newPack('submit', batchIds.next().value ?? null);
    return submit;
  }

  function lookUp(contact: StatedContact): void {
    if (asked.has(contact.hash) || lookedUpAlready.has(contact.hash)) return;
    if (asked.size >= lookupBudget) {
      beyond += 1;
      return;
    }
    asked.add(contact.hash);
    put(lookup, contact);
    if (lookup.addresses.length < LOOKUPS_A_PACK) return;
    close(lookup);
    lookup = newPack('lookup', null);
  }

  return {
    open: () => (submit?.batchId == null ? null : { batchId: submit.batchId, given: submit.given }),
    add(contacts, { verdicts, batchIds }) {
      const newIds = batchIds[Symbol.iterator]();
      for (const [place, contact] of contacts.entries()) {
        const verdict = verdicts[place];
        const pack = packOf(newIds);
        pack.given += 1;
        if (verdict === VERDICTS.submit || verdict === VERDICTS.both) {
          put(pack, contact);
          submitted += 1;
        }
        if (verdict === VERDICTS.lookUp || verdict === VERDICTS.both) lookUp(contact);
      }
    },
    take(all) {
      if (submit !== null && (all || submit.given >= batchSize)) {
        close(submit);
        submit = null;
      }
      if (all) {
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

type Pack = ContactsToStore & { readonly addresses: string[]; readonly hashes: ContactHash[]; given: number };

function newPack(purpose: Pack['purpose'], batchId: string | null): Pack {
  return { purpose, batchId, addresses: [], hashes: [], given: 0 };
}

function put(pack: Pack, { address, hash }: StatedContact): void {
  pack.addresses.push(address);
  pack.hashes.push(hash);
}
