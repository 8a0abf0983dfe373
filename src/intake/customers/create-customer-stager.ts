import type { Database } from '../../db/connect.ts';
import {
  type CustomerBatch,
  type CustomerHash,
  type CustomersSeen,
  NOBODY_PASSED_OVER,
  NOTHING_SEEN,
  PASSED_OVER,
  type PassedOverCounts,
  type StatedCustomer,
} from '../../model/customer.ts';
import type { RejectedRow } from '../../model/record.ts';
import type { FileRead } from '../files/fence.ts';
import { stageRejected } from '../files/stage-leftovers.ts';
import { createCustomerPacks } from './customer-packs.ts';
import { findLookedUp } from './lookups.ts';
import {
  type CustomerRows,
  createCustomerPlacer,
  type PlacedCustomer,
  toCustomerRows,
} from './placed-customer.ts';
import { rekeyCustomers } from './rekey-customers.ts';
import { stageCustomers } from './stage-customers.ts';
import { type CustomersToStore, reserveBatches, storeCustomerBatches } from './store-customer-batches.ts';

export type CustomerStagerOptions = FileRead & {
  readonly runId: string;
  readonly job: string;
  readonly brandId: string;
  /** Addresses of one call. */
  readonly batchSize: number;
  readonly recheckAfterDays: number | null;
  /** Whom the job would look up; null: no customer. */
  readonly isWanted: ((customer: StatedCustomer) => boolean) | null;
  /** Customers of this file to look up at most. */
  readonly lookupBudget: number;
  /** Digest of an address under the previous key; null: no customer is known under one. */
  readonly previousHashOf: ((address: string) => CustomerHash) | null;
  /** Whom the run looks up anyway, because another file named them. */
  readonly lookedUpAlready: ReadonlySet<CustomerHash>;
};

/** What a file's customers came to. */
export type CustomerTotals = {
  /** Rows of customers, those passed over included. */
  readonly customerRows: number;
  readonly passedOver: PassedOverCounts;
  readonly seen: CustomersSeen;
  readonly new: number;
  /** Whose addresses were stored, to be submitted. */
  readonly toSubmit: number;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
  readonly lookups: { readonly within: readonly CustomerHash[]; readonly beyond: number };
};

/** Stages the customers of one file while the next ones are being read. As `Stager` of orders. */
export type CustomerStager = {
  add(batch: CustomerBatch): Promise<boolean>;
  finish(): Promise<CustomerTotals | null>;
};

/** As in create-stager.ts: one statement at work, one waiting, one being read. */
const MAX_WAITING = 2;
const STATEMENT_CUSTOMERS = 10_000;

export function createCustomerStager(db: Database, options: CustomerStagerOptions): CustomerStager {
  const placer = createCustomerPlacer(options.batchSize);
  const packs = createCustomerPacks(options);
  const passedOver = { ...NOBODY_PASSED_OVER };
  const totals = { customerRows: 0, new: 0, withdrawn: 0 };
  let known = 0;
  let seen: CustomersSeen = NOTHING_SEEN;
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let storing: Promise<void> = Promise.resolve();
  let isLost = false;
  let gathered: StatedCustomer[] = [];
  let rejected: RejectedRow[] = [];

  async function stage(rows: CustomerRows, bad: readonly RejectedRow[]): Promise<void> {
    if (isLost) return;
    const { placed } = rows;
    await rekey(placed);
    const wanted = await findWanted(placed);
    // Within a plan's transaction a wrong guess shows as nothing but a wrong count: what it inserts meets no live row.
    const areLikelyNew = !db.isTransaction && totals.new > 0 && known === 0;
    const staged =
      placed.length === 0 ? NOTHING : await stageCustomers(db, { ...options, rows, areLikelyNew });
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

  /** First of all, so that each is found by the hash that the file's customers have. */
  async function rekey(placed: readonly PlacedCustomer[]): Promise<void> {
    const { previousHashOf } = options;
    if (previousHashOf === null) return;
    const hashes = placed.map(({ customer: { address, hash: current } }) => ({
      previous: previousHashOf(address),
      current,
    }));
    await rekeyCustomers(db, hashes);
  }

  async function findWanted(placed: readonly PlacedCustomer[]): Promise<ReadonlySet<CustomerHash>> {
    const { isWanted, recheckAfterDays } = options;
    if (isWanted === null) return NOBODY;
    const hashes = placed.filter(({ customer }) => isWanted(customer)).map(({ customer }) => customer.hash);
    const lookedUp = await findLookedUp(db, { hashes, recheckAfterDays });
    return new Set(hashes.filter((hash) => !lookedUp.has(hash)));
  }

  async function store(batches: readonly CustomersToStore[]): Promise<void> {
    if (batches.length === 0) return;
    if (!(await storeCustomerBatches(db, { ...options, batches }))) isLost = true;
  }

  async function stageGathered(): Promise<void> {
    const [customers, bad] = [unite(gathered), rejected];
    totals.customerRows += gathered.length;
    gathered = [];
    rejected = [];
    const batchIds = await reserveBatches(db, placer.toBegin(customers.length));
    // Written now, so that the database does not wait for it.
    const rows = toCustomerRows(placer.place(customers, batchIds));
    last = last.then(() => stage(rows, bad));
    // Reported by the await of this or a later call; without this a failure in between would end the process.
    last.catch(() => {});
    waiting.push(last);
  }

  return {
    async add(batch) {
      seen = batch.seen;
      for (const customer of batch.customers) gathered.push(customer);
      for (const row of batch.rejected) rejected.push(row);
      for (const reason of PASSED_OVER) {
        passedOver[reason] += batch.passedOver[reason];
        // Who has unsubscribed is among the customers.
        if (reason !== 'unsubscribed') totals.customerRows += batch.passedOver[reason];
      }
      if (gathered.length + rejected.length < STATEMENT_CUSTOMERS) return !isLost;
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
const NOBODY: ReadonlySet<CustomerHash> = new Set();

/** Each customer once, because a statement does not see what it inserts itself: a customer who has unsubscribed in one row has. */
function unite(customers: readonly StatedCustomer[]): readonly StatedCustomer[] {
  if (new Set(customers.map(({ hash }) => hash)).size === customers.length) return customers;
  const byHash = new Map<CustomerHash, StatedCustomer>();
  for (const customer of customers) {
    const known = byHash.get(customer.hash);
    byHash.set(customer.hash, known === undefined ? customer : merge(known, customer));
  }
  return [...byHash.values()];
}

function merge(one: StatedCustomer, other: StatedCustomer): StatedCustomer {
  return {
    ...one,
    isUnsubscribed: one.isUnsubscribed || other.isUnsubscribed,
    ordersCount: other.ordersCount ?? one.ordersCount,
    spent: other.spent ?? one.spent,
    currency: other.spent === null ? one.currency : other.currency,
    boughtWithCode: one.boughtWithCode || other.boughtWithCode,
  };
}
