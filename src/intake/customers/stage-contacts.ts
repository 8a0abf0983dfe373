import type { Database } from '../../db/connect.ts';
import type { ContactHash } from '../../model/contact.ts';
import type { FileRead } from '../files/fence.ts';
import { addContacts } from './add-contacts.ts';
import { NOTED, noteKnownContacts } from './note-known-contacts.ts';
import { type ContactRows, type PlacedContact, toContactRows } from './placed-contact.ts';

export type StageContactsOptions = FileRead & {
  readonly brandId: string;
  readonly rows: ContactRows;
  /** A customer who was submitted or refused so many days ago is again; null: never. */
  readonly recheckAfterDays: number | null;
  /** Nobody is likely to be known. */
  readonly areLikelyNew: boolean;
};

export type StagedContacts = {
  /** What is to be done with those who were known. All others are new: submitted, unless they have unsubscribed. */
  readonly known: ReadonlyMap<ContactHash, Decision>;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
};

/** Submit it; nothing, because that was or will be done; nothing ever, because it has unsubscribed. */
export type Decision = 'submit' | 'known' | 'unsubscribed';

/**
 * Notes customers in ledger.contacts, each once a brand and with the batch that it goes into, and tells which of them are to be
 * submitted. Sends no address to the database: those of the ones to be submitted are staged after.
 *
 * An unsubscribed customer stays so, whatever another file says: files do not tell which of them is newer.
 *
 * @returns null when another reader has taken the file over: what was noted until then goes with what it has staged.
 */
export async function stageContacts(
  db: Database,
  { rows, ...options }: StageContactsOptions,
): Promise<StagedContacts | null> {
  const known = new Map<ContactHash, Decision>();
  let withdrawn = 0;
  let left = await addContacts(db, { ...options, rows });
  while (left !== null && left.length > 0) {
    const answer = await noteKnownContacts(db, { ...options, rows: toContactRows(left) });
    if (answer === null) return null;
    withdrawn += answer.withdrawn;
    const gone: PlacedContact[] = [];
    for (const [place, one] of left.entries()) {
      const decision = DECISIONS[answer.noted[place] ?? NOTED.gone];
      if (decision === undefined) gone.push(one);
      else known.set(one.contact.hash, decision);
    }
    // The reader of another file has died since, and what it brought went with it: new after all.
    left =
      gone.length === 0
        ? gone
        : await addContacts(db, { ...options, rows: toContactRows(gone), areLikelyNew: false });
  }
  return left === null ? null : { known, withdrawn };
}

const DECISIONS: Readonly<Record<string, Decision | undefined>> = {
  [NOTED.submit]: 'submit',
  [NOTED.known]: 'known',
  [NOTED.unsubscribed]: 'unsubscribed',
};
