import type { CustomerHash } from '../../core/customer.ts';
import type { Database } from '../../db/connect.ts';
import type { FileRead } from '../files/fence.ts';
import { addCustomers } from './add-customers.ts';
import type { BatchedCustomer } from './batched-customer.ts';
import { NOTED, noteKnownCustomers } from './note-known-customers.ts';

export type StageCustomersOptions = FileRead & {
  readonly brandId: string;
  /** Each customer occurs once. */
  readonly placed: readonly BatchedCustomer[];
  /** Customers who were submitted or refused at least this many days ago are submitted again. Null: never. */
  readonly recheckAfterDays: number | null;
  /** A hint that none of the customers is in the database yet. */
  readonly areLikelyNew: boolean;
};

export type StagedCustomers = {
  /** Decisions about known customers. All others are new, and are submitted unless their consent is no. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Customers who were waiting to be submitted and whose consent has become no. */
  readonly withdrawn: number;
};

/**
 * `submit`: submit the customer. `known`: do nothing, because the customer was or will be submitted.
 * `unsubscribed`: do not submit the customer, whose consent is no.
 */
export type Decision = 'submit' | 'known' | 'unsubscribed';

/**
 * Stores customers in intake.customers, once for each brand and with the batch that they belong to, and
 * decides which of them to submit. Sends no address to the database: the addresses of customers to submit are
 * stored later.
 *
 * A no holds whatever another file says, unless that has a yes with a later date.
 *
 * @returns null if another reader has taken over the file. Rows stored until then are removed with everything
 * else that this reader staged.
 */
export async function stageCustomers(
  db: Database,
  options: StageCustomersOptions,
): Promise<StagedCustomers | null> {
  const known = new Map<CustomerHash, Decision>();
  let withdrawn = 0;
  let left = await addCustomers(db, options);
  while (left !== null && left.length > 0) {
    const answer = await noteKnownCustomers(db, { ...options, placed: left });
    if (answer === null) return null;
    withdrawn += answer.withdrawn;
    const gone: BatchedCustomer[] = [];
    for (const [place, one] of left.entries()) {
      const decision = DECISIONS[answer.noted[place] ?? NOTED.gone];
      if (decision === undefined) gone.push(one);
      else known.set(one.customer.hash, decision);
    }
    // The reader of another file has died since, and the customers that it staged were removed with it. They
    // are new again.
    left =
      gone.length === 0 ? gone : await addCustomers(db, { ...options, placed: gone, areLikelyNew: false });
  }
  return left === null ? null : { known, withdrawn };
}

const DECISIONS: Readonly<Record<string, Decision | undefined>> = {
  [NOTED.submit]: 'submit',
  [NOTED.known]: 'known',
  [NOTED.unsubscribed]: 'unsubscribed',
};
