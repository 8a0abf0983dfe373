import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { OrderBatch, StagedOrder } from '../../core/order.ts';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import { canCopy } from '../../db/connect.ts';
import { copyInto, TextRows, toCopyCell } from '../../db/copy-rows.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type Database, rowOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { ORDER_KEY_NO } from '../customers/rekey-customers.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { stageContinuations, stageMissing, stageRejected } from '../files/stage-leftovers.ts';
import { createStagingQueue } from '../files/staging-queue.ts';
import { SENT_COLUMNS, saysNothingNew, toOrderRow } from './order-columns.ts';
import { knownWithin, type StagedCounts, type StageOrdersOptions, stageOrders } from './stage-orders.ts';

export type StagerOptions = FileRead & Pick<StageOrdersOptions, 'sums'> & { readonly runId: string };

/** Stages the batches of one file while the next ones are being read. */
export type Stager = {
  /**
   * Passes on a batch. Resolves when there is room for the next one.
   *
   * @returns false once another reader has taken over the file: the caller can stop reading.
   * @throws the error of the database for this batch or an earlier one.
   */
  add(batch: OrderBatch): Promise<boolean>;
  /**
   * Resolves when the batches on their way are staged. The last ones stay for `stageRest`.
   *
   * @returns false if another reader has taken over the file.
   */
  settle(): Promise<boolean>;
  /**
   * Stages the last batches in the transaction that seals the file, so that a small file takes one commit. Call
   * `settle` before that transaction begins: it locks the file's row, for which a batch on its way would wait.
   *
   * @returns false if another reader has taken over the file.
   */
  readonly stageRest: (trx: Transaction<DB>) => Promise<boolean>;
};

/**
 * Number of orders in one statement. Smaller statements spend their time on round trips; with larger ones, orders
 * outlive the garbage collector's young generation.
 */
const STATEMENT_ORDERS = 4_000;

export function createStager(db: Database, options: StagerOptions): Stager {
  const queue = createStagingQueue();
  let gathered = NOTHING;

  /** Takes what was gathered. @returns the step that stages it. */
  function takeGathered(within: Database): () => Promise<boolean> {
    const batch = gathered;
    gathered = NOTHING;
    return async () => (await stageBatch(within, { ...options, batch })) !== null;
  }

  return {
    async add(batch) {
      gathered = join(gathered, batch);
      if (gathered.orders.length + gathered.rejected.length < STATEMENT_ORDERS) return !queue.isLost();
      return queue.add(takeGathered(db));
    },
    settle: queue.settle,
    stageRest: (trx) => queue.stage(takeGathered(trx)),
  };
}

/** Batches that are staged together. */
type Gathered = Omit<OrderBatch, 'rowsRead'>;

const NOTHING: Gathered = { orders: [], continuations: [], rejected: [], missing: [] };

function join(first: Gathered, second: Gathered): Gathered {
  return {
    orders: [...first.orders, ...second.orders],
    continuations: [...first.continuations, ...second.continuations],
    rejected: [...first.rejected, ...second.rejected],
    missing: [...first.missing, ...second.missing],
  };
}

export type StageBatchOptions = StagerOptions & { readonly batch: Gathered };

/**
 * Number of complete orders in one statement. This many fit into Postgres' default `work_mem`; more would
 * spill to disk.
 */
const MAX_IN_FULL = 3_000;

/** Fewer orders are sent in full at once: two more statements cost more than they could save. */
const MIN_TO_COMPARE = 500;

/**
 * Stages a batch of a file that was opened by `beginFile`, in one transaction. The batches of a file must be staged
 * one after the other, in the file's order.
 *
 * @returns null if another reader has taken over the file. Nothing was staged then: the first statement locks the
 * row of the file until the end.
 */
export function stageBatch(db: Database, options: StageBatchOptions): Promise<StagedCounts | null> {
  const { batch } = options;
  return inTransaction(db, async (trx) => {
    if (!db.isTransaction) await sql`select ${NOT_AWAITING_DISK}`.execute(trx);
    const counts = { new: 0, changed: 0, unchanged: 0, repeated: 0 };
    for (const orders of splitRepeats(batch.orders))
      if (!(await stageOnce(trx, { ...options, orders, counts, canCopy: canCopy(db) }))) return null;
    const isStaged =
      (await stageContinuations(trx, options, batch.continuations)) &&
      (await stageRejected(trx, options, batch.rejected)) &&
      (await stageMissing(trx, options, batch.missing));
    return isStaged ? counts : null;
  });
}

type Counting = StageBatchOptions & {
  readonly orders: readonly StagedOrder[];
  readonly counts: { -readonly [Key in keyof StagedCounts]: number };
  readonly canCopy: boolean;
};

/** Stages orders, each of which occurs once. @returns false if another reader has taken over the file. */
async function stageOnce(
  trx: Transaction<DB>,
  { orders, counts, canCopy, ...options }: Counting,
): Promise<boolean> {
  let rest = orders;
  if (orders.length >= MIN_TO_COMPARE) {
    const compared = await compareOrders(trx, options, orders);
    if (compared === null) return false;
    counts.unchanged += compared.unchanged;
    rest = compared.rest;
    if (canCopy && compared.areNew) {
      if (rest.length > 0) await copyNewOrders(trx, compared.origin, rest);
      counts.new += rest.length;
      return true;
    }
  }
  const statements = Math.ceil(rest.length / MAX_IN_FULL);
  const size = Math.ceil(rest.length / Math.max(1, statements));
  for (let start = 0; start < rest.length; start += size) {
    const part = { ...options, orders: rest.slice(start, start + size).map(toOrderRow) };
    const staged = await stageOrders(trx, { files: [part], sums: options.sums });
    if (staged === null) return false;
    for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) counts[key] += staged[key];
  }
  return true;
}

/**
 * Splits orders into groups in which each order occurs once, because a statement does not see the rows that
 * it inserts itself. There is nearly always one group.
 */
function splitRepeats(orders: readonly StagedOrder[]): readonly (readonly StagedOrder[])[] {
  if (new Set(orders.map(({ orderId }) => orderId)).size === orders.length) return [orders];
  const groups: StagedOrder[][] = [];
  const places = new Map<string, number>();
  for (const order of orders) {
    const place = places.get(order.orderId) ?? 0;
    places.set(order.orderId, place + 1);
    const group = groups[place];
    if (group === undefined) groups[place] = [order];
    else group.push(order);
  }
  return groups;
}

type Compared = {
  readonly origin: OrderOrigin;
  /** Number of orders that are known with the same content. */
  readonly unchanged: number;
  /** Orders that are new, changed, or occur for the second time in the file. They must be sent in full. */
  readonly rest: readonly StagedOrder[];
  /** True if all of `rest` are new. */
  readonly areNew: boolean;
};

/**
 * Finds the orders that are known with the same content, by sending only ids, digests and order lines (if the
 * source keeps them), and records that the file contains them. Most orders of an export were already in the
 * export before it. Sealing needs these records for orders that occur twice in the file. For `limit 1`, see
 * stage-orders.ts.
 *
 * @param orders each order occurs once.
 * @returns null if another reader has taken over the file; then nothing was recorded.
 */
async function compareOrders(
  db: Database,
  read: FileRead,
  orders: readonly StagedOrder[],
): Promise<Compared | null> {
  const row = await rowOf<OrderOrigin & { unchanged: string; known: string; rest: string | null }>(db)`
    with fence as materialized (${fenceOf(read)}),
    ${knownWithin(orders.map(({ orderId }) => orderId))},
    compared as materialized (
      select g.place, f.source_file_id, g.line_no, g.record_no, g.row_count, c.order_version_id,
        h.order_version_id is null and ${saysNothingNew} is true as is_unchanged,
        h.order_version_id is null and c.order_version_id is null as is_new,
        c.cancelled_at is not null or c.exclusion = 'cancelled' as is_cancelled
      from fence f join known k on k.in_file or k.in_source
      cross join lateral unnest(${sql.join(toColumns(orders))})
        with ordinality as g(order_id, content_hash, line_no, record_no, row_count, lines, changed_at, place)
      left join lateral (
        select o.order_version_id from intake.orders o
        where o.source_file_id = f.source_file_id and o.order_id collate "C" = g.order_id limit 1) h on true
      left join lateral (
        select o.order_version_id, o.content_hash, o.lines, o.cancelled_at, o.exclusion, o.changed_at
        from intake.orders o
        where o.source = f.source and o.order_id = g.order_id and o.is_current limit 1) c on true
    ),
    noted as (
      insert into intake.unchanged_orders (source_file_id, order_version_ids, line_nos, record_nos,
        row_counts, cancelled)
      select source_file_id, array_agg(order_version_id), array_agg(line_no), array_agg(record_no),
        array_agg(row_count), count(*) filter (where is_cancelled)
      from compared where is_unchanged group by source_file_id
    )
    select f.source, f.source_file_id as "sourceFileId", ${ORDER_KEY_NO} as "keyNo", c.*
    from fence f cross join (
      select count(*) filter (where is_unchanged) as unchanged, count(*) filter (where not is_new) as known,
        string_agg((place - 1)::text, ',' order by place) filter (where not is_unchanged) as rest
      from compared
    ) c`;
  if (row === undefined) return null;
  const { unchanged, known, rest, ...origin } = row;
  const places = rest?.split(',') ?? [];
  return {
    origin,
    unchanged: Number(unchanged),
    rest: known === '0' ? orders : places.flatMap((place) => orders[Number(place)] ?? []),
    areNew: known === unchanged,
  };
}

/** Converts orders to the columns that are sent, each an array, as in stage-orders.ts. */
function toColumns(orders: readonly StagedOrder[]): readonly RawBuilder<unknown>[] {
  return [
    sql`${toTextArrayParameter(orders.map(({ orderId }) => orderId))}::text[]`,
    sql`${toTextArrayParameter(orders.map(({ contentHash }) => contentHash))}::text[]`,
    sql`${toArrayParameter(orders.map(({ line }) => line))}::bigint[]`,
    sql`${toArrayParameter(orders.map(({ record }) => record))}::bigint[]`,
    sql`${toArrayParameter(orders.map(({ rowCount }) => rowCount))}::integer[]`,
    sql`${toTextArrayParameter(orders.map(({ lines }) => lines && toJsonParameter(lines)))}::jsonb[]`,
    sql`${toTextArrayParameter(orders.map(({ changedAt }) => changedAt))}::timestamptz[]`,
  ];
}

/** What all orders of a file have in common. */
type OrderOrigin = {
  readonly source: string;
  readonly sourceFileId: string;
  /** Number of the key of `customerKey` (`ORDER_KEY_NO`). */
  readonly keyNo: number | null;
};

const COLUMNS = [
  'source',
  'source_file_id',
  'is_current',
  'customer_key_no',
  ...SENT_COLUMNS.map(({ column }) => column),
].join();

/** The cell of each column of an order that has no value. */
const BLANK_CELLS = SENT_COLUMNS.map(({ type }) => (type === 'text[]' ? '{}' : toCopyCell(null)));

/**
 * Stores complete new orders with COPY, which takes Postgres three quarters of the time of `stageOrders`. The rows
 * are the same.
 */
async function copyNewOrders(
  db: Database,
  { source, sourceFileId, keyNo }: OrderOrigin,
  orders: readonly StagedOrder[],
): Promise<void> {
  const rows = new TextRows();
  const before = `${toCopyCell(source)}\t${sourceFileId}\tt\t`;
  // One array serves all orders: a million of them would be most of the garbage of reading.
  const cells: string[] = [];
  for (const order of orders) {
    cells[0] = before + toCopyCell(order.customerKey === null ? null : keyNo);
    for (const [at, cell] of toOrderRow(order).entries())
      cells[at + 1] = cell === null ? (BLANK_CELLS[at] ?? '') : toCopyCell(cell);
    rows.add(cells);
  }
  await copyInto(db, `copy intake.orders (${COLUMNS}) from stdin`, rows.toCopyRows());
}
