import { isDeepStrictEqual } from 'node:util';
import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import type { CustomerHash, RekeyedHash } from '../../src/core/customer.ts';
import { FileHeld } from '../../src/core/held/file-held.ts';
import type { OrderIdColumn, StagedOrder } from '../../src/core/order.ts';
import type { CsvChunk, FooterRow } from '../../src/core/record.ts';
import type { SourceFile } from '../../src/core/source.ts';
import { fileName } from '../../src/core/text/file-name.ts';
import { basisOf, describeBasis } from '../../src/core/time/file-age.ts';
import { bindCustomerKey } from '../../src/intake/customers/bind-customer-key.ts';
import { readTombstones } from '../../src/intake/customers/forgotten-customers.ts';
import { customerHasher } from '../../src/intake/customers/map/customer-hash.ts';
import { rekeyOrders } from '../../src/intake/customers/rekey-customers.ts';
import type { SealedRead } from '../../src/intake/files/seal-read.ts';
import { createStager } from '../../src/intake/orders/create-stager.ts';
import type { SealedTotals, Thresholds } from '../../src/intake/orders/find-hold-reason.ts';
import type { CustomerKeyOf } from '../../src/intake/orders/map/customer-key.ts';
import { mapOrders } from '../../src/intake/orders/map/map-orders.ts';
import { sealFile } from '../../src/intake/orders/seal-file.ts';
import { sealTogether, type WholeFile } from '../../src/intake/orders/seal-together.ts';
import type { FileContent, Intake, SourceReading, WholeContent } from '../../src/intake/read/intake-file.ts';
import { stageBatches } from '../../src/intake/read/stage-batches.ts';
import { watchDates } from '../../src/intake/values/date-order.ts';
import { watchMarks } from '../../src/intake/values/decimal-mark.ts';
import { type Run, sourcesOf, throwIfDraining } from '../../src/ops/run.ts';
import { findForgotten, fingerprintsOf } from '../../src/privacy/customer-keys.ts';
import { thresholdsOf } from './previewed-job.ts';
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
  const anyStatus = include === 'any';
  const keepsNotes = job.orderNotes !== 'ours';
  const keys = sourcesOf(run).some(({ customerKey }) => customerKey) ? await openCustomerKeys(run) : null;
  return {
    purpose: { readFor: 'orders', job: { revenue, include } },
    take: (run, reading, content) => take(run, toOrderReading(reading), content),
    takeTogether: (run, reading, files) => takeTogether(run, toOrderReading(reading), files),
  };

  function toOrderReading(reading: SourceReading): OrderReading {
    const customerKeys = reading.source.customerKey ? keys : null;
    return { ...reading, thresholds: thresholdsOf(job, reading), anyStatus, keepsNotes, customerKeys };
  }
}

/**
 * Computes the same customer keys as identify-customers does for the customers of the job's brand. No
 * customer is forgotten while the job runs, because the job sets `customersOf`.
 */
async function openCustomerKeys({ db, job, config }: Run<AttributeOrdersSettings>): Promise<CustomerKeys> {
  const keys = requireCustomerKeys(config);
  await bindCustomerKey(db, fingerprintsOf(keys));
  const { isForgotten } = findForgotten(await readTombstones(db), keys);
  const currentOf = customerHasher(keys.current, job.brandId);
  const previousOf = keys.previous === null ? null : customerHasher(keys.previous, job.brandId);
  let seen = new Map<CustomerHash, RekeyedHash>();
  return {
    isRekeying: previousOf !== null,
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
  /** True if there is a previous key. */
  readonly isRekeying: boolean;
  /**
   * Customers since the last call, if there is a previous key, because their earlier orders are stored under
   * that key.
   */
  takeSeen(): readonly RekeyedHash[];
};

type OrderReading = SourceReading & {
  readonly thresholds: Thresholds;
  /** True if the job credits orders of every status. */
  readonly anyStatus: boolean;
  /** True if the job sends the notes of the shop. */
  readonly keepsNotes: boolean;
  readonly customerKeys: CustomerKeys | null;
};

async function take(
  run: Run,
  reading: OrderReading,
  { file, chunks, digest, footer, others, ...read }: FileContent,
): Promise<SealedRead<unknown>> {
  const { db, runId, progress } = run;
  const { source, customerKeys } = reading;
  const sums = Object.keys(reading.layout.grouping.sum).length > 0;
  const stager = createStager(db, { ...read, runId, sums });
  const { batches, dates, marks, orderIdColumn } = mapFile(reading, { file, chunks, footer });
  const rowsRead = await stageBatches(run, source, {
    batches,
    async add(batch) {
      if (!(await stager.add(batch))) return false;
      const hashes = customerKeys?.takeSeen() ?? [];
      if (hashes.length === 0) return true;
      // A batch that is being staged could write back the earlier key of an order that moves meanwhile.
      if (!(await stager.settle())) return false;
      await rekeyOrders(db, { source: source.name, hashes });
      return true;
    },
  });
  if (rowsRead === null) return { kind: 'lost' };
  if (!(await stager.settle())) return { kind: 'lost' };
  dates?.require();
  marks?.require();
  const sealed = await sealFile(db, {
    ...read,
    runId,
    rowsRead,
    contentSha256: digest(),
    footer,
    sums,
    thresholds: reading.thresholds,
    orderIdColumn: orderIdColumn(),
    stager,
    others,
  });
  if (sealed.kind === 'sealed' && sealed.ordersOlder > 0) progress.note(olderNote(reading, file, sealed));
  return sealed;
}

function olderNote(
  { ages, layout }: OrderReading,
  file: SourceFile,
  { ordersOlder }: Pick<SealedTotals, 'ordersOlder'>,
): string {
  const basis = basisOf(ages.ageOf(file));
  const by = describeBasis(basis, layout.columns.changed_at?.join(' or ') ?? null);
  if (basis === 'column')
    return `${fileName(file.uri)}: ${ordersOlder} of its orders changed nothing, because the states that were read before are newer ${by}.`;
  return `${fileName(file.uri)} is older than a file that was read before, ${by}: ${ordersOlder} of its orders changed nothing.`;
}

/**
 * Maximum number of orders that are staged together. The time for a statement is then that of its orders, and
 * more would gain nothing.
 */
const MAX_TOGETHER = 1_000;

/** Seals the first of these files together, as far as there is nothing to decide about them. */
async function takeTogether(
  run: Run,
  reading: OrderReading,
  contents: readonly WholeContent[],
): Promise<readonly string[] | null> {
  // Orders of known customers may have to move to the current key, which is done for each file.
  if (reading.customerKeys?.isRekeying === true) return [];
  const files: WholeFile[] = [];
  const orderIds = new Set<string>();
  const digests = new Set<string>();
  let orderIdColumn: OrderIdColumn | null = null;
  for (const content of contents) {
    const mapped = await mapWhole(reading, content);
    if (mapped === null || orderIds.size + mapped.orders.length > MAX_TOGETHER) break;
    orderIdColumn ??= mapped.orderIdColumn;
    const isSameColumn = isDeepStrictEqual(orderIdColumn, mapped.orderIdColumn);
    if (!isSameColumn || digests.has(content.digest)) break;
    if (!mapped.orders.every(({ orderId }) => !orderIds.has(orderId) && orderIds.add(orderId))) break;
    digests.add(content.digest);
    const { orders, rowsRead } = mapped;
    const { file, age, check } = content;
    files.push({ file, age, orders, rowsRead, contentSha256: content.digest, check });
  }
  if (files.length < 2 || orderIdColumn === null) return [];
  throwIfDraining(run);
  const { db, runId } = run;
  const { source, layout, layoutHash } = reading;
  return sealTogether(db, {
    source: source.name,
    layout: layout.name,
    layoutHash,
    runId,
    orderIdColumn,
    files,
    thresholds: reading.thresholds,
  });
}

type MappedWhole = {
  readonly orders: readonly StagedOrder[];
  readonly rowsRead: number;
  readonly orderIdColumn: OrderIdColumn;
};

/** Maps a small file. Null if something about it has to be decided, or its orders are none. */
async function mapWhole(
  reading: OrderReading,
  { file, chunks }: Pick<WholeContent, 'file' | 'chunks'>,
): Promise<MappedWhole | null> {
  const footer: FooterRow[] = [];
  const { batches, dates, marks, orderIdColumn } = mapFile(reading, { file, chunks: inTurn(chunks), footer });
  const orders: StagedOrder[] = [];
  let rowsRead = 0;
  try {
    for await (const batch of batches) {
      if (batch.rejected.length > 0 || batch.continuations.length > 0) return null;
      orders.push(...batch.orders);
      rowsRead += batch.rowsRead;
    }
    dates?.require();
    marks?.require();
  } catch (error) {
    if (error instanceof FileHeld) return null;
    throw error;
  }
  if (footer.length > 0 || chunks.some((chunk) => chunk.footer !== undefined)) return null;
  return orders.length === 0 ? null : { orders, rowsRead, orderIdColumn: orderIdColumn() };
}

async function* inTurn<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

function mapFile(
  { source: given, layout, otherLayouts, customerKeys, anyStatus, keepsNotes }: OrderReading,
  { file, chunks, footer }: { file: SourceFile; chunks: AsyncIterable<CsvChunk>; footer: FooterRow[] },
) {
  const dates = watchDates(layout, given);
  const marks = watchMarks(layout, given);
  let orderIdColumn: OrderIdColumn = { name: null, isFallback: false };
  const batches = mapOrders(chunks, {
    layout,
    source: { ...given, keepsNotes },
    otherLayouts,
    modifiedAt: file.modifiedAt ?? null,
    dates,
    marks,
    customerKeyOf: customerKeys?.keyOf ?? null,
    onIdColumn(column) {
      orderIdColumn = column;
    },
    onFooter: (row) => void footer.push(row),
    anyStatus,
  });
  return { batches, dates, marks, orderIdColumn: () => orderIdColumn };
}
