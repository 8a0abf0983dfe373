import { sql, type Transaction } from 'kysely';
import type { OrderIdColumn, StagedOrder } from '../../core/order.ts';
import type { SourceFile } from '../../core/source.ts';
import { agedAt, basisOf, type FileAge } from '../../core/time/file-age.ts';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { settingsForLargeStatements } from '../../db/large-statements.ts';
import { execute, rowOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import {
  describeFile,
  type FileCheck,
  isUnusual,
  type JudgedFile,
  storeStatistics,
} from '../checks/check-file.ts';
import { measureNewOrders } from '../checks/order-statistics.ts';
import { ORDER_KEY_NO } from '../customers/rekey-customers.ts';
import { countNewOrders, type NewOrders } from './count-staged.ts';
import { findHoldReason, type Thresholds } from './find-hold-reason.ts';
import { otherIdColumn } from './judge-order-ids.ts';
import { columnNames, toOrderRow } from './order-columns.ts';
import { columnValues, sentRows } from './stage-orders.ts';

/*
 * A small file takes eight statements and two commits, however few orders it has, and a source may have
 * thousands of them. So consecutive small files are read together: they are begun, staged, counted, judged and
 * sealed by the statements of one file, in one transaction.
 *
 * Only files about which there is nothing to decide are read so: no version of theirs is known, each of their
 * rows belongs to a new order that is stated once, and nothing about them is unusual. If anything else turns
 * up, the transaction is rolled back, and the files are read one by one (`sealFile`), which gives each the same
 * result as if nothing had been tried. So the rules for everything else exist only once.
 *
 * No other reader sees anything of the files before all are sealed. If one begins a file of theirs at the same
 * time, whoever comes second finds that it is known.
 */

/** A small file that was read completely. All of its rows belong to these orders. */
export type WholeFile = {
  readonly file: SourceFile;
  /** Stored with the file. Unknown if omitted. */
  readonly age?: FileAge;
  /** At least one. Each occurs once among all of the files. */
  readonly orders: readonly StagedOrder[];
  readonly rowsRead: number;
  /** SHA-256 of the decoded content. No two of the files have the same. */
  readonly contentSha256: string;
  readonly check: FileCheck;
};

export type SealTogetherOptions = {
  /** Name of the source. The caller holds its lease, so no other process reads its files. */
  readonly source: string;
  readonly layout: string;
  /** Digest of the layout and of the source's settings. */
  readonly layoutHash: string;
  readonly runId: string;
  readonly thresholds: Thresholds;
  /** The column that identifies the orders of each of the files. */
  readonly orderIdColumn: OrderIdColumn;
  /** In the order in which they are to be read. */
  readonly files: readonly WholeFile[];
};

/** Something about one of the files has to be decided. */
class Undecided extends Error {}

/**
 * Begins, stages and seals several small files in one transaction (T1 in docs/ledger.md, for each of them).
 *
 * @returns the ids of the files. Null if they must be read one by one; nothing was changed then.
 */
export async function sealTogether(
  db: Database,
  options: SealTogetherOptions,
): Promise<readonly string[] | null> {
  try {
    return await inTransaction(db, (trx) => seal(trx, options));
  } catch (error) {
    if (error instanceof Undecided || isRefused(error)) return null;
    throw error;
  }
}

/**
 * True if Postgres refused the rows themselves: SQLSTATE classes data_exception and
 * integrity_constraint_violation. The rows of one file cause this, and the other files are good.
 */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}

async function seal(trx: Transaction<DB>, options: SealTogetherOptions): Promise<readonly string[]> {
  const { files, thresholds } = options;
  const ids = await stage(trx, options);
  const counted = (await countNewOrders(trx, ids, thresholds.expected)).filter((file) => file !== undefined);
  if (counted.length < files.length) throw new Undecided();
  const measured = await measureNewOrders(
    trx,
    counted.map(({ new: ordersNew }, place) => ({ sourceFileId: ids[place] ?? '', ordersNew })),
    thresholds.expected.revenue,
  );
  const judged: JudgedFile[] = [];
  for (const [place, { check, rowsRead }] of files.entries()) {
    const sourceFileId = ids[place];
    const [staged, statistics] = [counted[place], measured[place]];
    if (sourceFileId === undefined || staged === undefined || statistics === undefined) throw new Undecided();
    const { new: ordersNew, stagedRows: orderRows, cancelled } = staged;
    const totals = {
      ...{ ordersNew, ordersChanged: 0, ordersUnchanged: 0, ordersOlder: 0 },
      ...{ orderRows, rejectedRows: 0, cancelled, alike: staged },
    };
    const reason = await findHoldReason(trx, { sourceFileId, rowsRead, totals, thresholds });
    if (reason !== null) throw new Undecided();
    const seen = describeFile(
      check,
      { sourceFileId, rowsRead },
      { rejectedRows: 0, orders: statistics, consent: null },
    );
    const results = check.judge(seen, { isReread: false });
    if (results.some(isUnusual)) throw new Undecided();
    judged.push({ seen, results });
  }
  await insertSealed(trx, options, { ids, counted });
  await storeStatistics(trx, judged);
  return ids;
}

/**
 * Stages the orders of all files, and sets up the transaction. Does nothing if a file is known, a reading was
 * left behind, a content was read under another name, a row about one of the orders was rejected, or earlier files identified their orders otherwise. An
 * order that is known is not stored, so the rows of its file do not add up.
 *
 * @returns the ids of the files.
 */
async function stage(
  trx: Transaction<DB>,
  { source, files, orderIdColumn }: SealTogetherOptions,
): Promise<readonly string[]> {
  const stated = files.flatMap((file) => file.orders);
  const orders = stated.map(toOrderRow);
  const nameOf = ({ orderName, groupKey }: StagedOrder): string => orderName ?? groupKey;
  const places = files.flatMap((file, place) => file.orders.map(() => place + 1));
  const uris = toTextArrayParameter(files.map(({ file }) => file.uri));
  const versions = toTextArrayParameter(files.map(({ file }) => file.version));
  const digests = toTextArrayParameter(files.map(({ contentSha256 }) => contentSha256));
  const staged = await rowOf<{ ids: readonly string[] | null }>(trx)`
    with given as materialized (
      select * from unnest(${uris}::text[], ${versions}::text[], ${digests}::text[]) with ordinality as g(uri, version, digest, place)
    ),
    undecided as materialized (
      select 1 from intake.source_files
      where source = ${source} and read_for = 'orders' and state = 'reading' and superseded_by is null
      union all
      select 1 from given g cross join lateral (
        select 1 from intake.source_files
        where source = ${source} and read_for = 'orders' and uri = g.uri and version = g.version and superseded_by is null
        limit 1) known
      union all
      select 1 from given g cross join lateral (
        select 1 from intake.source_files
        where source = ${source} and read_for = 'orders' and content_sha256 = g.digest and state = 'sealed'
          and superseded_by is null
        limit 1) original
      union all
      select 1 from intake.rejected_rows r join intake.source_files f on f.source_file_id = r.source_file_id
      where f.source = ${source} and (r.order_id = any(${toTextArrayParameter(stated.map(({ orderId }) => orderId))}::text[])
        or (r.order_id is null and r.order_name = any(${toTextArrayParameter(stated.map(nameOf))}::text[])))
      union all
      select 1 where ${otherIdColumn(sql`select ${source}::text as source`, orderIdColumn)} is not null
    ),
    opened as materialized (
      select nextval('intake.source_files_source_file_id_seq') as source_file_id, place
      from (select place from given where not exists (select from undecided) order by place) g
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, line_no, record_no, row_count,
        customer_key, customer_key_no, lines, similar_to, items, changed_at, note)
      select ${source}, f.source_file_id, true, content_hash, ${columnValues}, line_no, record_no, row_count,
        customer_key, case when customer_key is null then null else ${ORDER_KEY_NO} end, lines, similar_to, items, changed_at, note
      from (${sentRows(orders, places)}) g join opened f on f.place = g.place
      order by f.place, g.line_no, g.record_no
      on conflict do nothing
    )
    select ${settingsForLargeStatements({ isDurable: true })},
      (select array_agg(source_file_id::text order by place) from opened) as ids ${keepsPlan}`;
  if (staged === undefined || staged.ids === null) throw new Undecided();
  return staged.ids;
}

/** Inserts the files as sealed. No other session could see them before. */
async function insertSealed(
  trx: Transaction<DB>,
  { source, layout, layoutHash, runId, orderIdColumn, files }: SealTogetherOptions,
  { ids, counted }: { readonly ids: readonly string[]; readonly counted: readonly NewOrders[] },
): Promise<void> {
  const sealed = await execute(trx)`
    insert into intake.source_files (source_file_id, source, read_for, uri, version, size_bytes, layout, layout_hash, state, sealed_at,
      run_id, content_sha256, order_id_column, rows_read, orders_new, order_rows, modified_at, aged_at, age_basis)
    overriding system value
    select g.source_file_id, ${source}, 'orders', g.uri, g.version, g.size_bytes, ${layout}, ${layoutHash}, 'sealed', now(),
      ${runId}::bigint, g.content_sha256, ${orderIdColumn.name}, g.rows_read, g.orders_new, g.order_rows, g.modified_at, g.aged_at,
      g.age_basis
    from unnest(${toArrayParameter(ids)}::bigint[], ${toTextArrayParameter(files.map(({ file }) => file.uri))}::text[],
      ${toTextArrayParameter(files.map(({ file }) => file.version))}::text[],
      ${toArrayParameter(files.map(({ file }) => file.sizeBytes))}::bigint[],
      ${toTextArrayParameter(files.map(({ contentSha256 }) => contentSha256))}::text[],
      ${toArrayParameter(files.map(({ rowsRead }) => rowsRead))}::bigint[],
      ${toArrayParameter(counted.map((staged) => staged.new))}::bigint[],
      ${toArrayParameter(counted.map(({ stagedRows }) => stagedRows))}::bigint[],
      ${toTextArrayParameter(files.map(({ file }) => file.modifiedAt?.toISOString() ?? null))}::timestamptz[],
      ${toTextArrayParameter(files.map(({ age }) => (age && agedAt(age))?.toISOString() ?? null))}::timestamptz[],
      ${toTextArrayParameter(files.map(({ age }) => (age && basisOf(age)) ?? null))}::text[])
      as g(source_file_id, uri, version, size_bytes, content_sha256, rows_read, orders_new, order_rows, modified_at, aged_at, age_basis)
    on conflict do nothing ${keepsPlan}`;
  // Another reader has begun one of them since.
  if (sealed !== files.length) throw new Undecided();
}
