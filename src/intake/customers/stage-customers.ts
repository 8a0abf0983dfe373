import type { Database } from '../../db/connect.ts';
import type { CustomerHash } from '../../model/customer.ts';
import type { FileRead } from '../files/fence.ts';
import { addCustomers } from './add-customers.ts';
import { NOTED, noteKnownCustomers } from './note-known-customers.ts';
import { type CustomerRows, type PlacedCustomer, toCustomerRows } from './placed-customer.ts';

export type StageCustomersOptions = FileRead & {
  readonly brandId: string;
  readonly rows: CustomerRows;
  /** A customer who was submitted or refused so many days ago is again; null: never. */
  readonly recheckAfterDays: number | null;
  /** Nobody is likely to be known. */
  readonly areLikelyNew: boolean;
};

export type StagedCustomers = {
  /** What is to be done with those who were known. All others are new: submitted, unless they have unsubscribed. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
};

/** Submit it; nothing, because that was or will be done; nothing ever, because it has unsubscribed. */
export type Decision = 'submit' | 'known' | 'unsubscribed';

/**
 * Notes customers in intake.customers, each once a brand and with the batch that it goes into, and tells which of them are to be
 * submitted. Sends no address to the database: those of the ones to be submitted are staged after.
 *
 * An unsubscribed customer stays so, whatever another file says: files do not tell which of them is newer.
 *
 * @returns null when another reader has taken the file over: what was noted until then goes with what it has staged.
 */
export async function stageCustomers(
  db: Database,
  { rows, ...options }: StageCustomersOptions,
): Promise<StagedCustomers | null> {
  const known = new Map<CustomerHash, Decision>();
  let withdrawn = 0;
  let left = await addCustomers(db, { ...options, rows });
  while (left !== null && left.length > 0) {
    const answer = await noteKnownCustomers(db, { ...options, rows: toCustomerRows(left) });
    if (answer === null) return null;
    withdrawn += answer.withdrawn;
    const gone: PlacedCustomer[] = [];
    for (const [place, one] of left.entries()) {
      const decision = DECISIONS[answer.noted[place] ?? NOTED.gone];
      if (decision === undefined) gone.push(one);
      else known.set(one.customer.hash, decision);
    }
    // The reader of another file has died since, and what it brought went with it: new after all.
    left =
      gone.length === 0
        ? gone
        : await addCustomers(db, { ...options, rows: toCustomerRows(gone), areLikelyNew: false });
  }
  return left === null ? null : { known, withdrawn };
}

const DECISIONS: Readonly<Record<string, Decision | undefined>> = {
  [NOTED.submit]: 'submit',
  [NOTED.known]: 'known',
  [NOTED.unsubscribed]: 'unsubscribed',
};
