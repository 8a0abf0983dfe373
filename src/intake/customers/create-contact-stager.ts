import type { Database } from '../../db/connect.ts';
import {
  type ContactBatch,
  type ContactHash,
  type ContactsSeen,
  NOTHING_SEEN,
  type PassedOver,
  type StatedContact,
} from '../../model/contact.ts';
import type { RejectedRow } from '../../model/record.ts';
import type { FileRead } from '../files/fence.ts';
import { stageRejected } from '../files/stage-leftovers.ts';
import { createContactPacks } from './contact-packs.ts';
import { findLookedUp } from './lookups.ts';
import {
  type ContactRows,
  createContactPlacer,
  type PlacedContact,
  toContactRows,
} from './placed-contact.ts';
import { stageContacts } from './stage-contacts.ts';
import { type ContactsToStore, reserveBatches, storeContactBatches } from './store-contact-batches.ts';

export type ContactStagerOptions = FileRead & {
  readonly runId: string;
  readonly job: string;
  readonly brandId: string;
  /** Addresses of one call. */
  readonly batchSize: number;
  readonly recheckAfterDays: number | null;
  /** Whom the job would look up; null: nobody. */
  readonly isWanted: ((contact: StatedContact) => boolean) | null;
  /** Customers of this file to look up at most. */
  readonly lookupBudget: number;
  /** Whom the run looks up anyway, because another file named them. */
  readonly lookedUpAlready: ReadonlySet<ContactHash>;
};

/** What a file's customers came to. */
export type ContactTotals = {
  /** Rows of customers, those passed over included. */
  readonly contactRows: number;
  readonly passedOver: Readonly<Record<PassedOver, number>>;
  readonly seen: ContactsSeen;
  readonly new: number;
  /** Whose addresses were stored, to be submitted. */
  readonly toSubmit: number;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
  readonly lookups: { readonly within: readonly ContactHash[]; readonly beyond: number };
};

/** Stages the customers of one file while the next ones are being read. As `Stager` of orders. */
export type ContactStager = {
  add(batch: ContactBatch): Promise<boolean>;
  finish(): Promise<ContactTotals | null>;
};

/** As in create-stager.ts: one statement at work, one waiting, one being read. */
const MAX_WAITING = 2;
const STATEMENT_CONTACTS = 10_000;

export function createContactStager(db: Database, options: ContactStagerOptions): ContactStager {
  const placer = createContactPlacer(options.batchSize);
  const packs = createContactPacks(options);
  const passedOver = { no_address: 0, no_consent: 0, unsubscribed: 0 };
  const totals = { contactRows: 0, new: 0, withdrawn: 0 };
  let known = 0;
  let seen: ContactsSeen = NOTHING_SEEN;
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let storing: Promise<void> = Promise.resolve();
  let isLost = false;
  let gathered: StatedContact[] = [];
  let rejected: RejectedRow[] = [];

  async function stage(rows: ContactRows, bad: readonly RejectedRow[]): Promise<void> {
    if (isLost) return;
    const { placed } = rows;
    const wanted = await findWanted(placed);
    // Within a plan's transaction a wrong guess shows as nothing but a wrong count: what it inserts meets no live row.
    const areLikelyNew = !db.isTransaction && totals.new > 0 && known === 0;
    const staged =
      placed.length === 0 ? NOTHING : await stageContacts(db, { ...options, rows, areLikelyNew });
    if (staged === null || (bad.length > 0 && !(await stageRejected(db, options, bad)))) {
      isLost = true;
      return;
    }
    packs.add(placed, { known: staged.known, wanted });
    known += staged.known.size;
    totals.new += placed.length - staged.known.size;
    totals.withdrawn += staged.withdrawn;
    // Batches are stored while the next customers are noted.
    await storing;
    storing = store(packs.take(false));
    storing.catch(() => {});
  }

  async function findWanted(placed: readonly PlacedContact[]): Promise<ReadonlySet<ContactHash>> {
    const { isWanted, recheckAfterDays } = options;
    if (isWanted === null) return NOBODY;
    const hashes = placed.filter(({ contact }) => isWanted(contact)).map(({ contact }) => contact.hash);
    const lookedUp = await findLookedUp(db, { hashes, recheckAfterDays });
    return new Set(hashes.filter((hash) => !lookedUp.has(hash)));
  }

  async function store(batches: readonly ContactsToStore[]): Promise<void> {
    if (batches.length === 0) return;
    if (!(await storeContactBatches(db, { ...options, batches }))) isLost = true;
  }

  async function stageGathered(): Promise<void> {
    const [contacts, bad] = [unite(gathered), rejected];
    totals.contactRows += gathered.length;
    gathered = [];
    rejected = [];
    const batchIds = await reserveBatches(db, placer.toBegin(contacts.length));
    // Written now, so that the database does not wait for it.
    const rows = toContactRows(placer.place(contacts, batchIds));
    last = last.then(() => stage(rows, bad));
    // Reported by the await of this or a later call; without this a failure in between would end the process.
    last.catch(() => {});
    waiting.push(last);
  }

  return {
    async add(batch) {
      seen = batch.seen;
      for (const contact of batch.contacts) gathered.push(contact);
      for (const row of batch.rejected) rejected.push(row);
      for (const reason of ['no_address', 'no_consent', 'unsubscribed'] as const)
        passedOver[reason] += batch.passedOver[reason];
      totals.contactRows += batch.passedOver.no_address + batch.passedOver.no_consent;
      if (gathered.length + rejected.length < STATEMENT_CONTACTS) return !isLost;
      await stageGathered();
      if (waiting.length > MAX_WAITING) await waiting.shift();
      return !isLost;
    },
    async finish() {
      await stageGathered();
      await last;
      await storing;
      if (!isLost) await store(packs.take(true));
      if (isLost) return null;
      return { ...totals, passedOver, seen, toSubmit: packs.submitted(), lookups: packs.lookedUp() };
    },
  };
}

const NOTHING = { known: new Map(), withdrawn: 0 };
const NOBODY: ReadonlySet<ContactHash> = new Set();

/** Each customer once, because a statement does not see what it inserts itself: whoever has unsubscribed in one row has. */
function unite(contacts: readonly StatedContact[]): readonly StatedContact[] {
  if (new Set(contacts.map(({ hash }) => hash)).size === contacts.length) return contacts;
  const byHash = new Map<ContactHash, StatedContact>();
  for (const contact of contacts) {
    const known = byHash.get(contact.hash);
    byHash.set(contact.hash, known === undefined ? contact : merge(known, contact));
  }
  return [...byHash.values()];
}

function merge(one: StatedContact, other: StatedContact): StatedContact {
  return {
    ...one,
    isUnsubscribed: one.isUnsubscribed || other.isUnsubscribed,
    ordersCount: other.ordersCount ?? one.ordersCount,
    spent: other.spent ?? one.spent,
    currency: other.spent === null ? one.currency : other.currency,
    boughtWithCode: one.boughtWithCode || other.boughtWithCode,
  };
}
