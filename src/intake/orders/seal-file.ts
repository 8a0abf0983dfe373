import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { OrderIdColumn } from '../../core/order.ts';
import { countOf, countsOf, type Database, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { measureOrders } from '../checks/order-statistics.ts';
import { type SealedRead, type SealReadOptions, sealRead } from '../files/seal-read.ts';
import { NEWEST, type OtherAges } from '../files/source-ages.ts';
import { countStaged, type StagedFile } from './count-staged.ts';
import type { Stager } from './create-stager.ts';
import { type FileTotals, findHoldReason, type SealedTotals, type Thresholds } from './find-hold-reason.ts';
import { judgeOrderIds } from './judge-order-ids.ts';
import {
  doubtOtherOrders,
  doubtOutdated,
  doubtRefunds,
  keepRestated,
  NONE_OUT_OF_ORDER,
  OTHER_ORDER,
  type OutOfOrder,
  orderByAge,
  rangesOf,
  stageOutdated,
} from './order-by-age.ts';
import { KEPT_COLUMNS } from './order-columns.ts';
import { NO_REPEATS, settleContinuations, settleMissing, settleRepeats } from './settle-leftovers.ts';
import { assignItems, meaningOf } from './summed-orders.ts';

export type SealFileOptions = SealReadOptions & {
  /** The same value as given to the stager. */
  readonly sums: boolean;
  readonly thresholds: Thresholds;
  /** The column that identifies the file's orders, as reported by `mapOrders`. Unknown if omitted. */
  readonly orderIdColumn?: OrderIdColumn;
  /** The stager of the file, whose batches on their way have been staged (`settle`). All rows are staged if omitted. */
  readonly stager?: Pick<Stager, 'stageRest'>;
  /** Files that this one does not follow. It is newer than all others if omitted. */
  readonly others?: OtherAges;
};

const UNKNOWN_COLUMN: OrderIdColumn = { name: null, isFallback: false };

export type SealedFile = SealedRead<SealedTotals>;

/**
 * Seals a file that was read for its orders, or holds it if its rows do not add up or a threshold is
 * exceeded.
 */
export function sealFile(db: Database, options: SealFileOptions): Promise<SealedFile> {
  const { sourceFileId, stager, orderIdColumn = UNKNOWN_COLUMN } = options;
  return sealRead<OrderTotals>(db, options, {
    stageRest: stager?.stageRest,
    settle: (trx, isReread) => settle(trx, options, isReread),
    findHoldReason: async (trx, totals) =>
      (await findHoldReason(trx, { ...options, totals })) ??
      (await judgeOrderIds(trx, { sourceFileId, orderIdColumn, before: totals.otherIdColumn })),
    measure: async (trx, totals) => ({
      rejectedRows: totals.rejectedRows,
      orders: await measureOrders(trx, {
        sourceFileId,
        revenue: options.thresholds.expected.revenue,
        ...totals,
      }),
      consent: null,
    }),
    publish: async (trx, totals) => {
      if (totals.ordersChanged > 0) await switchVersions(trx, sourceFileId);
      await clearLeftovers(trx, sourceFileId, totals.leftovers);
      const { name } = orderIdColumn;
      return {
        ...(name === null ? {} : { order_id_column: name }),
        orders_new: totals.ordersNew,
        orders_changed: totals.ordersChanged,
        orders_unchanged: totals.ordersUnchanged,
        orders_older: totals.ordersOlder,
        orders_conflicting: totals.conflicting,
        order_rows: totals.orderRows,
        rejected_rows: totals.rejectedRows,
      };
    },
  });
}

type OrderTotals = FileTotals &
  Pick<StagedFile, 'otherIdColumn'> &
  Pick<OutOfOrder, 'conflicting'> & { readonly leftovers: Leftovers };

/** Resolves what can be decided only once the whole file has been read, and counts the rows. */
async function settle(
  trx: Transaction<DB>,
  options: SealFileOptions,
  isReread: boolean,
): Promise<OrderTotals> {
  const { sourceFileId, rowsRead, orderIdColumn = UNKNOWN_COLUMN, others = NEWEST } = options;
  const { expected } = options.thresholds;
  const count = () => countStaged(trx, { sourceFileId, rowsRead, expected, orderIdColumn });
  let staged = await count();
  const { hasContinuations, hasMissing } = staged;
  const leftovers = { hasContinuations, hasMissing, hasUnchanged: staged.unchanged > 0 };
  const knownRows = hasContinuations ? await settleContinuations(trx, options) : 0;
  const repeats = leftovers.hasUnchanged ? await settleRepeats(trx, options) : NO_REPEATS;
  const lacking = hasMissing ? await settleMissing(trx, options) : NO_REPEATS;
  if (hasContinuations || repeats.orders > 0 || lacking.orders > 0) staged = await count();
  const contradictions =
    staged.conflicting > 0
      ? await rejectContradictions(trx, options)
      : { new: 0, changed: 0, cancelled: 0, rows: 0 };
  const changed = staged.changed - contradictions.changed;
  const reused = changed > 0 ? await doubtOtherOrders(trx, sourceFileId) : 0;
  if (changed > 0 && options.sums) await settleSplits(trx, sourceFileId);
  const dropped = changed > 0 ? await dropEqualVersions(trx, sourceFileId) : 0;
  const { older, conflicting } =
    changed > dropped ? await orderByAge(trx, { sourceFileId, others }) : NONE_OUT_OF_ORDER;
  const lowered = changed > dropped ? await doubtRefunds(trx, sourceFileId) : 0;
  const doubted = await doubtOutdated(trx, { sourceFileId, others });
  const hasRejected = staged.rejectedRows + contradictions.rows > 0;
  const outdated = hasRejected || isReread ? await stageOutdated(trx, { sourceFileId, others }) : 0;
  return {
    leftovers,
    otherIdColumn: staged.otherIdColumn,
    ordersNew: staged.new - contradictions.new,
    ordersChanged: changed - dropped - older + outdated,
    ordersUnchanged: staged.unchanged - repeats.orders - lacking.orders + dropped,
    ordersOlder: older,
    conflicting: conflicting + doubted + reused + lowered,
    cancelled: staged.cancelled - contradictions.cancelled,
    alike: staged,
    orderRows:
      staged.stagedRows -
      contradictions.rows +
      staged.unchangedRows -
      repeats.rows -
      lacking.rows +
      knownRows,
    rejectedRows: contradictions.rows === 0 ? staged.rejectedRows : await countRejected(trx, sourceFileId),
  };
}

function countRejected(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  return countOf(trx)`
    select coalesce(sum(row_count), 0) as rows
    from intake.rejected_rows
    where source_file_id = ${sourceFileId}::bigint`;
}

/** What the batches of a file left to be settled. Most files leave nothing. */
type Leftovers = {
  readonly hasContinuations: boolean;
  readonly hasMissing: boolean;
  readonly hasUnchanged: boolean;
};

async function clearLeftovers(
  trx: Transaction<DB>,
  sourceFileId: string,
  { hasContinuations, hasMissing, hasUnchanged }: Leftovers,
): Promise<void> {
  if (hasContinuations)
    await trx.deleteFrom('intake.order_continuations').where('source_file_id', '=', sourceFileId).execute();
  if (hasMissing)
    await trx.deleteFrom('intake.missing_rows').where('source_file_id', '=', sourceFileId).execute();
  if (hasUnchanged) await keepRestated(trx, sourceFileId);
}

/**
 * Drops staged versions that equal the current version, either after summing or because only columns that are
 * not stored differ. A third order with the same id differs, although the known one stays in force. If the staged version
 * may not be whole, the current one shows that it is. The current one is as new as the newest row that states it.
 */
async function dropEqualVersions(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  return countOf(trx)`
    with dropped as (
      delete from intake.orders o using intake.orders c
      where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
        and c.order_version_id = o.replaces and c.order_version_id = any (${replacedBy(sourceFileId)})
        and row(${meaningOf('o')}) is not distinct from row(${meaningOf('c')})
        and (o.doubt is not distinct from c.doubt or (c.doubt is null and starts_with(o.doubt, 'may_be_')))
        and (o.lines is null or o.lines is not distinct from c.lines)
        and (o.content_hash = c.content_hash or o.doubt is distinct from ${OTHER_ORDER})
      returning c.order_version_id, o.changed_at
    ),
    aged as (
      update intake.orders c set changed_at = greatest(c.changed_at, d.changed_at)
      from dropped d where c.order_version_id = d.order_version_id and d.changed_at is not null
        and c.order_version_id = any (array(select order_version_id from dropped
            where changed_at is not null))
    ),
    restated as (
      insert into intake.restated_orders (source_file_id, order_version_ids)
      select ${sourceFileId}::bigint, ${rangesOf(sql`order_version_id`)} from dropped having count(*) > 0
    )
    select count(*) as dropped from dropped`;
}

/** SQL for the current versions that the staged versions of a file replace. */
function replacedBy(sourceFileId: string): RawBuilder<unknown> {
  return sql`array(select s.replaces from intake.orders s where s.source_file_id = ${sourceFileId}::bigint and not s.is_current)`;
}

/**
 * Makes the staged versions current, except those that replace none (`orderByAge`). Two statements, because an order
 * has at most one current version at any time.
 */
async function switchVersions(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  await execute(trx)`
    update intake.orders c set is_current = false from intake.orders o
    where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
      and c.order_version_id = o.replaces and c.order_version_id = any (${replacedBy(sourceFileId)})`;
  await execute(trx)`
    update intake.orders set is_current = true
    where source_file_id = ${sourceFileId}::bigint and not is_current and replaces is not null`;
}

const HELP = 'Keep the correct rows, remove the others, and put the file back.';

export type Contradictions = {
  readonly new: number;
  readonly changed: number;
  readonly cancelled: number;
  readonly rows: number;
};

/**
 * Rejects orders that the file states twice with different content: the file does not show which of the two
 * is right.
 */
async function rejectContradictions(
  trx: Transaction<DB>,
  options: { readonly sourceFileId: string; readonly runId: string },
): Promise<Contradictions> {
  return countsOf<keyof Contradictions>(trx)`
    with taken as (
      delete from intake.orders
      where source_file_id = ${options.sourceFileId}::bigint and conflicting_line_no is not null
      returning *
    ),
    rejected as (
      insert into intake.rejected_rows
        (source_file_id, line_no, record_no, code, reason, help, row_count, run_id, order_id, order_name,
          changed_at)
      select source_file_id, line_no, record_no, 'conflicting_rows',
        'The file states this order again on line ' || conflicting_line_no || ', with other content.',
        ${HELP},
        row_count, ${options.runId}::bigint, order_id, coalesce(order_name, nullif(group_key, order_id)),
        changed_at
      from taken
    )
    select count(*) filter (where is_current) as new, count(*) filter (where not is_current) as changed,
      count(*) filter (where cancelled_at is not null or exclusion = 'cancelled') as cancelled,
      coalesce(sum(row_count), 0) as rows
    from taken`;
}

/**
 * Settles orders whose amounts add up and of which several files state different rows. If the items have ids, the
 * order has the items of all files, each as it was stated last. Otherwise a file with fewer rows may be a newer state or
 * only a part, and so may another single row: the order is in doubt until one file has more rows than the others. Rows
 * that come to less than zero are refunds, and only a part of an order: the whole has at least as many rows as the last
 * whole state and all refunds together. There is no doubt if nothing is left of the order either way, as after one refund
 * of everything. Call it only if orders have changed, before equal versions are dropped.
 */
async function settleSplits(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  const changed = changedIn(sourceFileId);
  await execute(trx)`
    with joined as materialized (
      select o.order_version_id, o.replaces, intake.join_items(c.items, o.items) as items, o.items as own_items,
        -- A part of the order does not show what was rejected. A decision about that doubt holds for one row only.
        case when o.doubt is null and c.doubt = 'newer_row_rejected' then c.content_hash
          else '' end as doubted
      from ${changed} where o.items is not null and c.items is not null
    )
    update intake.orders o
    set ${assignItems(sql`j.items`, 'o')}, doubt = coalesce(o.doubt, c.doubt), ${keep(sql`true`)},
      content_hash = 'sum:' || md5(o.content_hash || j.items::text || j.doubted
        || row(${meaningOf('c', (column) => KEPT_COLUMNS.some((kept) => kept.column === column))})::text)
    from joined j ${replacedVersion(sql`j.replaces`)}
    where o.order_version_id = j.order_version_id
      and o.order_version_id = any (array(select order_version_id from joined))
      and jsonb_array_length(j.items) > jsonb_array_length(j.own_items)`;
  await execute(trx)`
    with split as materialized (
      select o.order_version_id, o.replaces, o.amount < 0 as is_part
      from ${changed}
      cross join lateral (${statedBefore}) b
      where o.doubt is null and (o.amount + b.most > 0) is not false
        and (o.amount < 0
          or ((o.items is null or c.items is null)
            and case
              when b.has_parts then o.row_count <= b.part_rows or o.row_count < b.whole_rows + b.refund_rows
              else c.doubt is distinct from 'may_be_repeated' and o.amount <> c.amount
                and (o.row_count < c.row_count or (o.row_count = 1 and c.row_count = 1 and c.amount <> 0))
            end))
    )
    update intake.orders o
    set doubt = 'may_be_split', content_hash = o.content_hash || ':may_be_split', ${keep(sql`s.is_part`)}
    from split s ${replacedVersion(sql`s.replaces`)}
    where o.order_version_id = s.order_version_id
      and o.order_version_id = any (array(select order_version_id from split))`;
}

/** SQL that assigns to version `o` what it leaves blank, of version `c` (`KEPT_COLUMNS`). */
function keep(isPart: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join(
    KEPT_COLUMNS.map(({ column, type, isKeptByStates }) => {
      const [own, known] = [sql.ref(`o.${column}`), sql.ref(`c.${column}`)];
      const stated = type === 'text[]' ? sql`nullif(${own}, '{}')` : own;
      const isKept = isKeptByStates ? sql`true` : isPart;
      return sql`${sql.ref(column)} = case when ${isKept} then coalesce(${stated}, ${known}) else ${own} end`;
    }),
  );
}

/** SQL that joins version `c`, which a staged one replaces. */
function replacedVersion(id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`cross join lateral (select c.* from intake.orders c where c.order_version_id = ${id} limit 1) c`;
}

const AMOUNT = sql`coalesce(total, subtotal)`;

/**
 * SQL for what is known of the order of staged version `o`, from the versions back to the last whole one, of which all
 * later ones are parts: the amount before refunds (`most`), and the rows of the whole, of the refunds, and of the longest
 * other part. The amount is null, unknown, if a version states none, or the whole one was removed (`prune`). An order without
 * a whole version has at least one row.
 */
const statedBefore = sql`
        with recursive earlier as (
          select v.*
          from (${partOrWhole(sql`o.replaces`)}) v
          union all
          select v.*
          from earlier e cross join lateral (${partOrWhole(sql`e.replaces`)}) v
          where e.is_part
        )
        select bool_or(is_part) as has_parts,
          case when bool_and(amount is not null) and (not bool_and(is_part) or bool_and(doubt is null))
            then sum(greatest(amount, 0)) end as most,
          coalesce(max(row_count) filter (where not is_part), 1) as whole_rows,
          coalesce(sum(row_count) filter (where amount < 0), 0) as refund_rows,
          coalesce(max(row_count) filter (where is_part and amount >= 0), 0) as part_rows
        from (select distinct on (stated_hash) * from earlier) stated`;

/** SQL for a version of an order, and whether it is only a part of the order. */
function partOrWhole(versionId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
            select replaces, row_count, doubt, ${AMOUNT} as amount, coalesce(stated_hash, content_hash) as stated_hash,
              coalesce(doubt = 'may_be_split', false) or coalesce(${AMOUNT} < 0, false) as is_part
            from intake.orders where order_version_id = ${versionId} limit 1`;
}

/** SQL for the staged versions `o` of a file, each with the version `c` that it replaces. */
function changedIn(sourceFileId: string): RawBuilder<unknown> {
  const columns = sql`order_version_id, content_hash, items, doubt, row_count, ${AMOUNT} as amount`;
  return sql`
    (select ${columns}, replaces from intake.orders
      where source_file_id = ${sourceFileId}::bigint and not is_current) o
    cross join lateral (select ${columns} from intake.orders where order_version_id = o.replaces limit 1) c`;
}
