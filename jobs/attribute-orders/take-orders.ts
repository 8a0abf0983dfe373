import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import { bindCustomerKey } from '../../src/intake/customers/bind-customer-key.ts';
import { readTombstones } from '../../src/intake/customers/forgotten-customers.ts';
import { rekeyOrders } from '../../src/intake/customers/rekey-customers.ts';
import { RejectedSoFar } from '../../src/intake/files/rejected-so-far.ts';
import type { SealedRead } from '../../src/intake/files/seal-read.ts';
import type { ExpectedOrders } from '../../src/intake/orders/count-staged.ts';
import { createStager } from '../../src/intake/orders/create-stager.ts';
import { sealFile } from '../../src/intake/orders/seal-file.ts';
import { customerHasher } from '../../src/map/customers/customer-hash.ts';
import type { CustomerKeyOf } from '../../src/map/orders/customer-key.ts';
import { watchDates } from '../../src/map/orders/date-order.ts';
import { mapOrders } from '../../src/map/orders/map-orders.ts';
import { foldWord } from '../../src/map/values/clean-text.ts';
import type { CustomerHash, RekeyedHash } from '../../src/model/customer.ts';
import type { Layout } from '../../src/model/layout.ts';
import type { OrderIdColumn } from '../../src/model/order.ts';
import { inSpan } from '../../src/observe/spans.ts';
import type { FileContent, Intake, Reading } from '../../src/pipeline/intake-file.ts';
import { fingerprintsOf, tombstonesUnder } from '../../src/pipeline/privacy/customer-keys.ts';
import { type Run, sourcesOf, throwIfDraining } from '../../src/pipeline/run.ts';
import type { AttributeOrdersSettings } from './settings.ts';

/**
 * Turns the rows of a file into orders: group → map → stage → seal.
 *
 * @throws KnownError (exit 2) if a source needs customer keys, and the key is missing, too short, or not the
 * key of this database.
 */
export async function createOrderIntake(run: Run<AttributeOrdersSettings>): Promise<Intake> {
  const { job } = run;
  const { revenue, include } = job;
  const keys = sourcesOf(run).some(({ customerKey }) => customerKey) ? await openCustomerKeys(run) : null;
  return {
    purpose: { readFor: 'orders', job: { revenue, include } },
    take(run, reading, content) {
      const customerKeys = reading.source.customerKey ? keys : null;
      return take(run, { ...reading, expected: expectedBy(job, reading), customerKeys }, content);
    },
  };
}

/**
 * Computes the same customer keys as identify-customers does for the customers of the job's brand. No
 * customer is forgotten while the job runs, because the job sets `customersOf`.
 */
async function openCustomerKeys({ db, job, config }: Run<AttributeOrdersSettings>): Promise<CustomerKeys> {
  const keys = requireCustomerKeys(config);
  await bindCustomerKey(db, fingerprintsOf(keys));
  const tombstones = await readTombstones(db);
  const isForgotten = (address: string): boolean =>
    tombstones.size > 0 && tombstonesUnder(keys, address).some((one) => tombstones.has(one));
  const currentOf = customerHasher(keys.current, job.brandId);
  const previousOf = keys.previous === null ? null : customerHasher(keys.previous, job.brandId);
  let seen = new Map<CustomerHash, RekeyedHash>();
  return {
    keyOf(address) {
      if (isForgotten(address)) return null;
      const current = currentOf(address);
      if (previousOf !== null) seen.set(current, { previous: previousOf(address), current });
      return current;
    },
    takeSeen() {
      const hashes = [...seen.values()];
      seen = new Map();
      return hashes;
    },
  };
}

type CustomerKeys = {
  readonly keyOf: CustomerKeyOf;
  /**
   * Customers since the last call, if there is a previous key, because their earlier orders are stored under
   * that key.
   */
  takeSeen(): readonly RekeyedHash[];
};

type OrderReading = Reading & {
  readonly expected: ExpectedOrders;
  readonly customerKeys: CustomerKeys | null;
};

async function take(
  run: Run,
  { source, layout, otherLayouts, expected, customerKeys }: OrderReading,
  { chunks, digest, ...read }: FileContent,
): Promise<SealedRead<unknown>> {
  const { db, runId, progress } = run;
  const sums = Object.keys(layout.grouping.sum).length > 0;
  const stager = createStager(db, { ...read, runId, sums });
  const rejectedSoFar = new RejectedSoFar({ source: source.name, ...source.limits });
  let rowsRead = 0;
  const dates = watchDates(layout, source);
  let orderIdColumn: OrderIdColumn = { name: null, isFallback: false };
  const onIdColumn = (column: OrderIdColumn): void => {
    orderIdColumn = column;
  };
  const customerKeyOf = customerKeys?.keyOf ?? null;
  const mapping = { layout, source, otherLayouts, dates, customerKeyOf, onIdColumn };
  for await (const batch of mapOrders(chunks, mapping)) {
    throwIfDraining(run);
    rejectedSoFar.take(batch);
    const attributes = { 'influencer_sync.rows': batch.rowsRead };
    if (!(await inSpan({ name: 'batch', attributes }, () => stager.add(batch)))) return { kind: 'lost' };
    await rekeyOrders(db, { source: source.name, hashes: customerKeys?.takeSeen() ?? [] });
    rowsRead += batch.rowsRead;
    progress.advance(0, batch.rowsRead);
  }
  if (!(await stager.settle())) return { kind: 'lost' };
  dates?.require();
  const { maxRejectedShare, maxCancelledShare, maxZeroRevenueShare, maxUnlistedShare } = source.limits;
  const limits = { maxRejectedShare, maxCancelledShare, maxZeroRevenueShare, maxUnlistedShare };
  const thresholds = { source: source.name, ...limits, expected };
  const sealing = { runId, rowsRead, contentSha256: digest(), sums, thresholds, orderIdColumn, stager };
  return sealFile(db, { ...read, ...sealing });
}

function expectedBy(
  { revenue, include }: AttributeOrdersSettings,
  { layout, source }: Reading,
): ExpectedOrders {
  const credited = include ?? layout.status.credited;
  return {
    // Refunds only reduce the revenue. They do not change which column it is read from.
    revenue: revenue === 'subtotal' ? 'subtotal' : 'total',
    credited,
    listed: credited === null ? null : listedStatuses(layout, credited),
    currency: source.currency,
  };
}

/**
 * Every status that an order of the file may have without a warning: the statuses that the layout knows,
 * translates to or excludes, and those that are credited.
 */
function listedStatuses(layout: Layout, credited: readonly string[]): readonly string[] {
  const { status, exclusions, columns } = layout;
  const isOfStatus = (names: readonly string[]): boolean =>
    names.some((name) => columns.status?.includes(name) === true);
  const excluded = exclusions.flatMap((rule) => (isOfStatus(rule.columns) ? (rule.equals ?? []) : []));
  const words = [...status.known, ...Object.values(status.words), ...credited, ...excluded];
  return [...new Set(words.map(foldWord))];
}
