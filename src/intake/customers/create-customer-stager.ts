import { sql } from 'kysely';
import {
  type CustomerBatch,
  type CustomerHash,
  type CustomersSeen,
  consentOf,
  IS_RECORDED,
  mergeConsent,
  NOBODY_PASSED_OVER,
  NOTHING_SEEN,
  PASSED_OVER,
  type PassedOverCounts,
  type StatedCustomer,
} from '../../core/customer.ts';
import type { RejectedRow } from '../../core/record.ts';
import { toUuidArrayParameter } from '../../db/array-parameters.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { stageRejected } from '../files/stage-leftovers.ts';
import { createStagingQueue } from '../files/staging-queue.ts';
import { type BatchedCustomer, createCustomerBatcher } from './batched-customer.ts';
import { findLookedUp } from './lookups.ts';
import { CURRENT_KEY_NO, rekeyCustomers } from './rekey-customers.ts';
import { type Decision, stageCustomers } from './stage-customers.ts';

export type CustomerStagerOptions = FileRead & {
  readonly runId: string;
  readonly job: string;
  readonly brandId: string;
  /** Number of addresses in one call to the service. */
  readonly batchSize: number;
  readonly recheckAfterDays: number | null;
  /** Selects the customers that the job would look up. Null if it looks up none. */
  readonly isWanted: ((customer: StatedCustomer) => boolean) | null;
  /** Maximum number of customers of this file to look up. */
  readonly lookupBudget: number;
  /**
   * Computes the hash of an address under the previous key. Null if no customer is known under a previous
   * key.
   */
  readonly previousHashOf: ((address: string) => CustomerHash) | null;
  /** Customers whom this run looks up already, because they occur in another file. */
  readonly lookedUpAlready: ReadonlySet<CustomerHash>;
};

export type CustomerTotals = {
  /** Rows of customers, including those that were skipped. */
  readonly customerRows: number;
  readonly passedOver: PassedOverCounts;
  readonly seen: CustomersSeen;
  readonly new: number;
  /** Customers whose addresses were stored for submission. */
  readonly toSubmit: number;
  /** Customers who were waiting to be submitted and whose consent has become no. */
  readonly withdrawn: number;
  /** Customers of rejected rows, whose consent is a word that the layout does not list. */
  readonly doubts: readonly BatchedCustomer[];
  readonly lookups: { readonly within: readonly CustomerHash[]; readonly beyond: number };
};

/** Stages the customers of one file while the next ones are being read, like `Stager` does for orders. */
export type CustomerStager = {
  add(batch: CustomerBatch): Promise<boolean>;
  finish(): Promise<CustomerTotals | null>;
};

const STATEMENT_CUSTOMERS = 10_000;

export function createCustomerStager(db: Database, options: CustomerStagerOptions): CustomerStager {
  const placer = createCustomerBatcher(options.batchSize);
  const packs = createCustomerPacks(options);
  const passedOver = { ...NOBODY_PASSED_OVER };
  const totals = { customerRows: 0, new: 0, withdrawn: 0 };
  let known = 0;
  let seen: CustomersSeen = NOTHING_SEEN;
  const queue = createStagingQueue();
  let storing: Promise<boolean> = Promise.resolve(true);
  let gathered: StatedCustomer[] = [];
  let rejected: RejectedRow[] = [];
  const doubtful: StatedCustomer[] = [];

  async function stage(placed: readonly BatchedCustomer[], bad: readonly RejectedRow[]): Promise<boolean> {
    await rekey(placed);
    const wanted = await findWanted(placed);
    // In a plan's transaction a wrong guess cannot be detected: the inserted rows conflict with no live row,
    // and only the count would be wrong.
    const areLikelyNew = !db.isTransaction && totals.new > 0 && known === 0;
    const staged =
      placed.length === 0 ? NOTHING : await stageCustomers(db, { ...options, placed, areLikelyNew });
    if (staged === null || !(await stageRejected(db, options, bad))) return false;
    packs.add(placed, { known: staged.known, wanted });
    known += staged.known.size;
    totals.new += placed.length - staged.known.size;
    totals.withdrawn += staged.withdrawn;
    // Batches are stored while the next customers are staged.
    const isStored = await storing;
    storing = store(packs.take(false));
    storing.catch(() => {});
    return isStored;
  }

  /**
   * Moves customers to the current key. Must run first, so that each is found by the hash that the file's
   * customers have.
   */
  async function rekey(placed: readonly BatchedCustomer[]): Promise<void> {
    const { previousHashOf } = options;
    if (previousHashOf === null) return;
    const hashes = placed.map(({ customer: { address, hash: current } }) => ({
      previous: previousHashOf(address),
      current,
    }));
    await rekeyCustomers(db, hashes);
  }

  async function findWanted(placed: readonly BatchedCustomer[]): Promise<ReadonlySet<CustomerHash>> {
    const { isWanted, recheckAfterDays } = options;
    if (isWanted === null) return NOBODY;
    const hashes = placed.filter(({ customer }) => isWanted(customer)).map(({ customer }) => customer.hash);
    const lookedUp = await findLookedUp(db, { hashes, recheckAfterDays });
    return new Set(hashes.filter((hash) => !lookedUp.has(hash)));
  }

  async function store(batches: readonly CustomersToStore[]): Promise<boolean> {
    return batches.length === 0 || storeCustomerBatches(db, { ...options, batches });
  }

  async function stageGathered(): Promise<boolean> {
    const [customers, bad] = [unite(gathered), rejected];
    totals.customerRows += gathered.length;
    gathered = [];
    rejected = [];
    const batchIds = await reserveBatches(db, placer.toBegin(customers.length));
    const placed = placer.place(customers, batchIds);
    return queue.add(() => stage(placed, bad));
  }

  return {
    async add(batch) {
      seen = batch.seen;
      for (const customer of batch.customers) gathered.push(customer);
      for (const row of batch.rejected) rejected.push(row);
      for (const customer of batch.doubtful) doubtful.push(customer);
      for (const reason of PASSED_OVER) {
        passedOver[reason] += batch.passedOver[reason];
        if (!IS_RECORDED[reason]) totals.customerRows += batch.passedOver[reason];
      }
      if (gathered.length + rejected.length < STATEMENT_CUSTOMERS) return !queue.isLost();
      return stageGathered();
    },
    async finish() {
      await stageGathered();
      const isStaged = await queue.settle();
      if (!(await storing) || !isStaged || !(await store(packs.take(true)))) return null;
      // They count only if the file does, so they are staged when it is sealed.
      const doubts = unite(doubtful).map((customer) => ({ customer, batchId: NO_BATCH }));
      await rekey(doubts);
      const { submitted, lookedUp } = packs;
      return { ...totals, passedOver, seen, doubts, toSubmit: submitted(), lookups: lookedUp() };
    },
  };
}

/** Nobody among the doubtful is put into a batch. */
const NO_BATCH = '0';
const NOTHING = { known: new Map(), withdrawn: 0 };
const NOBODY: ReadonlySet<CustomerHash> = new Set();

/**
 * Merges rows of the same customer, because a statement does not see the rows that it inserts itself. */
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
    ...mergeConsent(one, other),
    ordersCount: other.ordersCount ?? one.ordersCount,
    spent: other.spent ?? one.spent,
    currency: other.spent === null ? one.currency : other.currency,
    boughtWithCode: one.boughtWithCode || other.boughtWithCode,
  };
}

/** Number of look-ups stored together in one batch. Each is sent and recorded separately. */
const LOOKUPS_A_PACK = 100;

type Decisions = {
  /** Decisions for known customers. All others are new. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Customers whom the job wants to look up and has not looked up yet. */
  readonly wanted: ReadonlySet<CustomerHash>;
};

/** Collects the addresses of customers to be sent, batch by batch. */
function createCustomerPacks({
  lookupBudget,
  lookedUpAlready,
}: Pick<CustomerStagerOptions, 'lookupBudget' | 'lookedUpAlready'>) {
  let full: CustomersToStore[] = [];
  let submit: Pack | null = null;
  let lookup = newPack('lookup', null);
  let submitted = 0;
  // Also prevents a second look-up of a customer who occurs twice in a file. The budget limits its size.
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
    /** Adds customers in the order in which they were placed, with a decision for each. */
    add(placed: readonly BatchedCustomer[], { known, wanted }: Decisions): void {
      for (const { customer, batchId } of placed) {
        const pack = packOf(batchId);
        const decision =
          known.get(customer.hash) ?? (consentOf(customer) === 'no' ? 'unsubscribed' : 'submit');
        if (decision === 'submit') {
          put(pack, customer);
          submitted += 1;
        }
        if (decision !== 'unsubscribed' && wanted.has(customer.hash)) lookUp(customer);
      }
    },
    /** Returns the batches that are complete because a later one has begun; with `all`, the incomplete ones too. */
    take(all: boolean): readonly CustomersToStore[] {
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
    /** Number of customers to submit so far. */
    submitted: () => submitted,
    /** Customers to look up so far, and the number of customers beyond the budget. */
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

/** A batch to be stored, with plain addresses. */
type CustomersToStore = {
  readonly purpose: 'submit' | 'lookup';
  /** The batch that its customers refer to. Null if it gets a new number. */
  readonly batchId: string | null;
  readonly addresses: readonly string[];
  readonly hashes: readonly CustomerHash[];
};

/** Reserves batch numbers. @returns the numbers in ascending order. */
async function reserveBatches(db: Database, count: number): Promise<readonly string[]> {
  if (count === 0) return [];
  const rows = await rowsOf<{ batch_id: string }>(db)`
    select nextval('intake.waiting_batches_batch_id_seq') as batch_id
    from generate_series(1, ${count}::integer)`;
  return rows.map(({ batch_id }) => batch_id);
}

/**
 * Stores batches until they are sent. @returns false if another reader has taken over the file; then nothing
 * was stored.
 */
async function storeCustomerBatches(
  db: Database,
  options: FileRead & {
    readonly job: string;
    readonly brandId: string;
    readonly batches: readonly CustomersToStore[];
  },
): Promise<boolean> {
  const { job, brandId, batches } = options;
  const rows = batches.map(
    ({ purpose, batchId, addresses, hashes }) =>
      sql`(${purpose}::text, ${batchId}::bigint, ${JSON.stringify(addresses)}::text, ${toUuidArrayParameter(hashes)}::uuid[])`,
  );
  const answer = await rowsOf<{ fenced: string }>(db)`
    with fence as materialized (${fenceOf(options)}),
    inserted as (
      insert into intake.waiting_batches (batch_id, job, brand_id, source_file_id, purpose, influencer_list,
        customer_hashes, key_no)
      overriding system value
      select coalesce(g.batch_id, nextval('intake.waiting_batches_batch_id_seq')), ${job}, ${brandId},
        f.source_file_id, g.purpose, g.influencer_list, g.customer_hashes, ${CURRENT_KEY_NO}
      from fence f
        cross join (values ${sql.join(rows)}) as g(purpose, batch_id, influencer_list, customer_hashes)
    )
    select (select count(*) from fence) as fenced, ${NOT_AWAITING_DISK}`;
  return answer[0]?.fenced === '1';
}
