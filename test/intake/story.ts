import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import type { OrderBatch, OrderContinuation, OrderIdColumn, StagedOrder } from '../../src/core/order.ts';
import type { RejectedRow } from '../../src/core/record.ts';
import { connect, type Database } from '../../src/db/connect.ts';
import { beginFile } from '../../src/intake/files/begin-file.ts';
import type { OtherAges } from '../../src/intake/files/source-ages.ts';
import type { ExpectedOrders } from '../../src/intake/orders/count-staged.ts';
import { createStager } from '../../src/intake/orders/create-stager.ts';
import { type SealedFile, sealFile } from '../../src/intake/orders/seal-file.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { createEmbeddedDatabase } from '../support/embedded-database.ts';
import { createTestDatabase } from '../support/test-database.ts';

type Engine = 'a Postgres server' | 'the embedded database';
export const ALL_ENGINES = ['a Postgres server', 'the embedded database'] as const;

/**
 * The engines that tests of statements ask: the server only, since the embedded one takes longer and is the same code.
 * `TEST_ENGINES=all`, as before a release (`.ci/variations`), asks both.
 */
export const ENGINES: readonly [Engine, ...Engine[]] =
  process.env.TEST_ENGINES === 'all' ? ALL_ENGINES : ['a Postgres server'];

/** Creates one migrated database for a test file. Each test has its own source and job. */
export function useDatabase(engine: Engine): () => Database {
  let db: Database;
  let drop = async () => {};
  beforeAll(async () => {
    if (engine === 'the embedded database') {
      ({ db, drop } = await createEmbeddedDatabase('migrated'));
      return;
    }
    const databases = inject('databases');
    if (databases === null) return;
    const database = await createTestDatabase(databases);
    db = await connect({ url: database.url, embeddedFolder: '' });
    drop = async () => {
      await db.destroy();
      await database.drop();
    };
  });
  beforeEach(() => {
    if (engine === 'a Postgres server') suiteDatabases();
  });
  afterAll(() => drop());
  return () => db;
}

export type Shop = {
  readonly db: Database;
  readonly source: string;
  readonly runId: string;
  /** Reads a new file from start to end. */
  read(given: Partial<OrderBatch>[] | Partial<OrderBatch>, options?: ReadOptions): Promise<SealedFile>;
};

export type ReadOptions = {
  readonly uri?: string;
  readonly content?: string;
  readonly sums?: boolean;
  readonly rowsRead?: number;
  readonly maxRejectedShare?: number;
  readonly maxCancelledShare?: number;
  readonly maxZeroRevenueShare?: number;
  readonly maxUnlistedShare?: number;
  readonly expected?: Partial<ExpectedOrders>;
  readonly orderIdColumn?: OrderIdColumn;
  readonly others?: OtherAges;
};

/** Creates a source that has never been read and a run that reads it. */
export async function openShop(db: Database): Promise<Shop> {
  const source = `shop-${randomUUID()}`;
  const { rows } = await sql<{ run_id: string }>`
    insert into ops.runs (job, kind, host, pid) values (${source}, 'attribute-orders', 'test', 1) returning run_id`.execute(
    db,
  );
  const runId = rows[0]?.run_id ?? '';
  return {
    db,
    source,
    runId,
    read: (given, options = {}) => readFile({ db, source, runId }, given, options),
  };
}

async function readFile(
  { db, source, runId }: { db: Database; source: string; runId: string },
  given: Partial<OrderBatch>[] | Partial<OrderBatch>,
  options: ReadOptions,
): Promise<SealedFile> {
  const reader = randomUUID();
  const sums = options.sums ?? false;
  const sourceFileId = await open({
    db,
    source,
    runId,
    reader,
    ...(options.uri === undefined ? {} : { uri: options.uri }),
  });
  const stager = createStager(db, { sourceFileId, reader, runId, sums });
  const batches = (Array.isArray(given) ? given : [given]).map(toBatch);
  for (const batch of batches) await stager.add(batch);
  await stager.settle();
  return sealFile(db, {
    stager,
    sourceFileId,
    reader,
    runId,
    sums,
    rowsRead: options.rowsRead ?? batches.reduce((sum, batch) => sum + batch.rowsRead, 0),
    contentSha256: options.content ?? randomUUID(),
    thresholds: {
      maxRejectedShare: options.maxRejectedShare ?? 1,
      maxCancelledShare: options.maxCancelledShare ?? 1,
      maxZeroRevenueShare: options.maxZeroRevenueShare ?? 1,
      maxUnlistedShare: options.maxUnlistedShare ?? 1,
      source: 'shop',
      expected: {
        revenue: 'total',
        credited: null,
        listed: null,
        mayLackStatus: false,
        currency: null,
        ...options.expected,
      },
    },
    ...(options.orderIdColumn === undefined ? {} : { orderIdColumn: options.orderIdColumn }),
    ...(options.others === undefined ? {} : { others: options.others }),
  });
}

/**
 * Begins a file that must be read.
 * @returns its id.
 */
export async function open(options: {
  db: Database;
  source: string;
  runId: string;
  reader: string;
  uri?: string;
}): Promise<string> {
  const uri = options.uri ?? `file:///${randomUUID()}.csv`;
  const begun = await beginFile(options.db, {
    source: options.source,
    file: { uri, version: 'v1', sizeBytes: 1 },
    layout: 'test',
    layoutHash: 'h1',
    runId: options.runId,
    reader: options.reader,
  });
  if (begun.kind !== 'read') throw new Error(`${uri} is known`);
  return begun.sourceFileId;
}

export function toBatch(given: Partial<OrderBatch>): OrderBatch {
  const { orders = [], continuations = [], rejected = [], missing = [] } = given;
  const rowsRead = [...orders, ...continuations, ...rejected].reduce(
    (sum, { rowCount }) => sum + rowCount,
    0,
  );
  return { orders, continuations, rejected, missing, rowsRead };
}

let nextLine = 2;
function takeLines(count: number): number {
  nextLine += count;
  return nextLine - count;
}

/** Creates an order on its own lines. Its digest is computed from its content. */
export function order(orderId: string, given: Partial<StagedOrder> = {}): StagedOrder {
  const rowCount = given.rowCount ?? 1;
  const line = takeLines(rowCount);
  const meaning = {
    groupKey: `#${orderId}`,
    orderId,
    orderName: `#${orderId}`,
    status: 'paid',
    currency: 'EUR',
    total: '10.00',
    subtotal: '8.00',
    refunded: null,
    codes: [],
    links: [],
    otherIds: [],
    influencerHandle: null,
    dealId: null,
    collabId: null,
    brandId: null,
    placedAt: '2026-04-10T09:00:00Z',
    paidAt: null,
    cancelledAt: null,
    exclusion: null,
    doubt: null,
    customerKey: null,
    note: null,
    lines: null,
    items: null,
    changedAt: null,
    ...given,
  };
  const {
    line: _line,
    record: _record,
    rowCount: _rows,
    contentHash: _hash,
    customerKey: _key,
    note: _note,
    lines: _lines,
    items: _items,
    changedAt: _changedAt,
    ...said
  } = meaning as StagedOrder;
  return { ...meaning, line, record: line - 1, rowCount, contentHash: JSON.stringify(said) };
}

export function continuation(orderId: string, rowCount = 1): OrderContinuation {
  const line = takeLines(rowCount);
  return { groupKey: `#${orderId}`, line, record: line - 1, rowCount };
}

export function rejection(rowCount = 1): RejectedRow {
  const line = takeLines(rowCount);
  return {
    code: 'bad_money',
    line,
    record: line - 1,
    column: 'Total',
    value: '1,2,3',
    reason: 'No amount.',
    help: 'Mend it.',
    rowCount,
  };
}

/** Returns the orders that count for a source: its current orders of sealed files, as `id total`, sorted. */
export async function currentOrders({ db, source }: Pick<Shop, 'db' | 'source'>): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select o.order_id || ' ' || coalesce(trim_scale(o.total)::text, '-') as said
    from intake.orders o join intake.source_files f using (source_file_id)
    where o.source = ${source} and o.is_current and f.state = 'sealed' order by o.order_id`.execute(db);
  return rows.map(({ said }) => said);
}

/** Returns the rejected rows of a source as `code line rowCount`, in order. */
export async function rejectedRows({ db, source }: Pick<Shop, 'db' | 'source'>): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select r.code || ' ' || r.line_no || ' ' || r.row_count as said
    from intake.rejected_rows r join intake.source_files f using (source_file_id)
    where f.source = ${source} order by r.source_file_id, r.line_no`.execute(db);
  return rows.map(({ said }) => said);
}

/** Returns the orders in force as `id doubt`. */
export async function doubtsOf({ db, source }: Shop): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select order_id || ' ' || coalesce(doubt, '-') as said from intake.orders
    where source = ${source} and is_current order by order_id`.execute(db);
  return rows.map(({ said }) => said);
}
