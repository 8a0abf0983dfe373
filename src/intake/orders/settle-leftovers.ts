import { type RawBuilder, sql, type Transaction } from 'kysely';
import { countOf, countsOf, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { columnNames, columnsInDoubt, columnsMergedBy, STORED_COLUMNS } from './order-columns.ts';
import { assignSummed, summedColumns, summedHash } from './summed-orders.ts';

/**
 * Orders that were recorded as unchanged but turned out to belong to another version, and the number of their
 * rows.
 */
export type SettledRepeats = { readonly orders: number; readonly rows: number };

export const NO_REPEATS: SettledRepeats = { orders: 0, rows: 0 };

export type SettleRepeatsOptions = { readonly sourceFileId: string; readonly sums: boolean };

/**
 * Settles orders that are unchanged in one place of a file and are stated again, or differently, in another.
 * Call it only if the file has unchanged orders.
 */
export async function settleRepeats(
  trx: Transaction<DB>,
  options: SettleRepeatsOptions,
): Promise<SettledRepeats> {
  const { sourceFileId } = options;
  return countsOf<'orders' | 'rows'>(trx)`
    with repeats as materialized (${repeatsOf(options)}),
    ${options.sums ? addSums(sourceFileId) : markContradictions}
    select count(*) as orders, coalesce(sum(row_count), 0) as rows from repeats`;
}

/**
 * SQL for the known versions that the file repeats and also states differently (`staged_id`) or, if rows add
 * up, several times. It uses grouping instead of a join, so that it takes one pass whatever the planner
 * assumes about a table that has just been filled.
 */
function repeatsOf({ sourceFileId, sums }: SettleRepeatsOptions): RawBuilder<unknown> {
  return sql`
    select order_version_id, max(staged_id) as staged_id, count(line_no) as times,
      min(line_no) as line_no, min(record_no) as record_no, sum(row_count)::integer as row_count
    from (
      select v.order_version_id, null::bigint as staged_id, v.line_no, v.record_no, v.row_count
      from intake.unchanged_orders s
      cross join lateral unnest(s.order_version_ids, s.line_nos, s.record_nos, s.row_counts)
        as v(order_version_id, line_no, record_no, row_count)
      where s.source_file_id = ${sourceFileId}::bigint
      union all
      select o.replaces, o.order_version_id, null, null, null from intake.orders o
      where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
    ) known_and_staged
    group by order_version_id
    having count(line_no) > 0 and (max(staged_id) is not null or (${sums}::boolean and count(line_no) > 1))`;
}

/**
 * The order is unchanged in one place and different in another: a contradiction. The unchanged rows are added
 * to the staged version. If only the order lines differ, it is no contradiction, but the lines are unknown; if both say when
 * the order last changed, and say different times, they are two states of it.
 */
const markContradictions = sql`
    marked as (
      update intake.orders o
      set row_count = o.row_count + r.row_count, lines = null,
        conflicting_line_no = case when o.content_hash = r.content_hash
                                or (isfinite(o.changed_at) and isfinite(r.changed_at)
                                  and o.changed_at <> r.changed_at)
                                  then o.conflicting_line_no
                              else coalesce(o.conflicting_line_no, r.line_no) end
      from (
        select r.*, c.content_hash, c.changed_at from repeats r
        cross join lateral (select c.content_hash, c.changed_at from intake.orders c
          where c.order_version_id = r.order_version_id limit 1) c
      ) r
      where o.order_version_id = r.staged_id
        and o.order_version_id = any (array(select staged_id from repeats))
    )`;

/**
 * SQL for layouts whose rows add up. Separate rows that each equal the known order are not repetitions. They
 * are added to the staged version. If the file contains only such rows, they become a new version.
 */
function addSums(sourceFileId: string): RawBuilder<unknown> {
  return sql`
    known as materialized (
      select c.source, c.content_hash, c.items, ${timesOver}, c.similar_to, c.changed_at, c.note, r.line_no,
        r.record_no, r.row_count, r.staged_id, r.order_version_id
      from repeats r
      cross join lateral (select c.* from intake.orders c where c.order_version_id = r.order_version_id
        limit 1) c
    ),
    added as (
      update intake.orders o set ${assignSummed(sql`m.known_line_no`)}
      from (
        select o.order_version_id, k.line_no as known_line_no, ${summedColumns('k', 'o')}
        from known k
        cross join lateral (select o.* from intake.orders o where o.order_version_id = k.staged_id limit 1) o
      ) m
      where o.order_version_id = m.order_version_id
        and o.order_version_id = any (array(select staged_id from known))
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, items,
        line_no, record_no, row_count, replaces, similar_to, changed_at, note)
      select source, ${sourceFileId}::bigint, false, ${summedHash('k')}, ${columnNames}, items, line_no,
        record_no, row_count, order_version_id, similar_to, changed_at, note
      from known k where staged_id is null
    )`;
}

/**
 * The columns of known order `c`, for `r.times` rows that each state it: amounts are multiplied, unless ids show that the
 * items are the same. Without ids, the rows may also be the same.
 */
const timesOver = sql.join(
  STORED_COLUMNS.map(({ column }) => {
    if (column === 'doubt')
      return sql`coalesce(c.doubt, case when r.times > 1 and c.items is null then 'may_be_repeated' end) as doubt`;
    return columnsMergedBy('sum').includes(column)
      ? sql`${sql.ref(`c.${column}`)} * case when c.items is null then r.times else 1 end as ${sql.ref(column)}`
      : sql.ref(`c.${column}`);
  }),
);

const REASON = 'The row belongs to an order whose first row is unknown and not in this file.';
const HELP = 'Export the order again with all its rows, or put its first row before this one.';

/**
 * Assigns rows whose order is elsewhere to that order: one that this file has staged, or else one that is
 * known. Rows without an order are rejected as `orphan_rows`. The statements use grouping instead of joins,
 * so that each table is read once whatever the planner assumes about tables that have just been filled. Call
 * it only if the file has such rows.
 *
 * @returns the number of rows assigned to known orders that this file has not staged.
 */
export async function settleContinuations(
  trx: Transaction<DB>,
  options: { readonly sourceFileId: string; readonly runId: string },
): Promise<number> {
  const { sourceFileId } = options;
  const left = await giveToStaged(trx, sourceFileId);
  return left === 0 ? 0 : giveToKnown(trx, options);
}

/**
 * Assigns rows to staged orders. @returns the number of orders that have rows in the file but were not
 * staged.
 */
async function giveToStaged(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  return countOf(trx)`
    with owners as materialized (
      select min(order_version_id) as order_version_id, sum(row_count)::integer as row_count
      from (
        select group_key, null::bigint as order_version_id, row_count from intake.order_continuations
        where source_file_id = ${sourceFileId}::bigint
        union all
        select group_key, order_version_id, null
        from intake.orders
        where source_file_id = ${sourceFileId}::bigint
      ) both_kinds
      group by group_key having count(row_count) > 0
    ),
    given as (
      update intake.orders o set row_count = o.row_count + w.row_count, lines = null from owners w
      where o.order_version_id = w.order_version_id
        and o.order_version_id = any (array(select order_version_id from owners
            where order_version_id is not null))
    )
    select count(*) as left from owners where order_version_id is null`;
}

async function giveToKnown(
  trx: Transaction<DB>,
  { sourceFileId, runId }: { sourceFileId: string; runId: string },
): Promise<number> {
  return countOf(trx)`
    with both_kinds as (
      select group_key, line_no, record_no, row_count, null::boolean as is_staged
      from intake.order_continuations
      where source_file_id = ${sourceFileId}::bigint
      union all
      select o.group_key, null, null, null, o.source_file_id = f.source_file_id
      from intake.source_files f join intake.orders o on o.source = f.source
      where f.source_file_id = ${sourceFileId}::bigint
        and (o.is_current or o.source_file_id = f.source_file_id)
    ),
    waiting as materialized (
      select * from (
        select group_key, line_no, record_no, row_count,
          bool_or(is_staged) over (partition by group_key) as has_staged
        from both_kinds
      ) grouped
      where row_count is not null and has_staged is not true
    ),
    rejected as (
      insert into intake.rejected_rows (source_file_id, line_no, record_no, code, reason, help, row_count,
        run_id, order_name)
      select ${sourceFileId}::bigint, line_no, record_no, 'orphan_rows', ${REASON}, ${HELP}, row_count,
        ${runId}::bigint, group_key
      from waiting where has_staged is null
    )
    select coalesce(sum(row_count), 0) as rows from waiting where has_staged is not null`;
}

/**
 * Marks the orders of which the file has a row that cannot be used. What was bought is then unknown. If rows add up,
 * the order is in doubt. If a row names no order, the orders beside it may lack it; if rows of an order do not stand
 * together, any order of the file may. Call it only if the file has such rows, after `settleRepeats`, which adds up
 * distant rows.
 *
 * @returns the orders that were recorded as unchanged and are in doubt, and the number of their rows.
 */
export async function settleMissing(
  trx: Transaction<DB>,
  options: SettleRepeatsOptions,
): Promise<SettledRepeats> {
  await markStaged(trx, options);
  return options.sums ? stageKnown(trx, options) : NO_REPEATS;
}

async function markStaged(trx: Transaction<DB>, { sourceFileId, sums }: SettleRepeatsOptions): Promise<void> {
  await execute(trx)`
    with missing as materialized (
      select group_key, is_certain from intake.missing_rows where source_file_id = ${sourceFileId}::bigint
    ),
    anywhere as materialized (
      select exists (select from missing where group_key is null)
        or (exists (select from missing where not is_certain) and exists (
          select from intake.orders
          where source_file_id = ${sourceFileId}::bigint and content_hash like 'sum:%')) as may_lack
    ),
    lacking as materialized (
      select order_version_id, case when is_certain then 'incomplete' else 'may_be_incomplete' end as doubt
      from (
        select order_version_id, bool_or(is_certain) over (partition by group_key) as is_certain
        from (
          select group_key, null::bigint as order_version_id, is_certain
          from missing
          where group_key is not null
          union all
          select group_key, order_version_id, null
          from intake.orders
          where source_file_id = ${sourceFileId}::bigint
        ) both_kinds
      ) grouped
      where order_version_id is not null and (is_certain is not null or (select may_lack from anywhere))
    )
    update intake.orders o
    set lines = null,
      doubt = case when ${sums}::boolean and (o.doubt is null or l.doubt = 'incomplete') then l.doubt
        else o.doubt end,
      content_hash = o.content_hash || case when ${sums}::boolean then ':' || l.doubt else '' end
    from lacking l
    where o.order_version_id = l.order_version_id
      and o.order_version_id = any (array(select order_version_id from lacking))`;
}

/**
 * Stages the known orders that the file repeats and of which it also has a row that cannot be used: the order has
 * changed since, and how is not known. That an order beside such a row equals the known one shows that it is whole.
 */
async function stageKnown(
  trx: Transaction<DB>,
  { sourceFileId }: SettleRepeatsOptions,
): Promise<SettledRepeats> {
  return countsOf<'orders' | 'rows'>(trx)`
    with named as materialized (
      select distinct group_key
      from intake.missing_rows
      where source_file_id = ${sourceFileId}::bigint and is_certain
    ),
    seen as materialized (
      select v.order_version_id, min(v.line_no) as line_no, min(v.record_no) as record_no,
        sum(v.row_count)::integer as row_count
      from intake.unchanged_orders s
      cross join lateral unnest(s.order_version_ids, s.line_nos, s.record_nos, s.row_counts)
        as v(order_version_id, line_no, record_no, row_count)
      where s.source_file_id = ${sourceFileId}::bigint and exists (select from named)
      group by v.order_version_id
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, line_no,
        record_no, row_count, replaces, customer_key, customer_key_no, similar_to, items, changed_at, note)
      select c.source, ${sourceFileId}::bigint, false, c.content_hash || ':incomplete',
        ${columnsInDoubt('incomplete')}, s.line_no, s.record_no,
        s.row_count, c.order_version_id, c.customer_key, c.customer_key_no, c.similar_to, c.items,
        c.changed_at, c.note
      from seen s
      cross join lateral (select c.* from intake.orders c where c.order_version_id = s.order_version_id
        limit 1) c
      where c.doubt is null and c.group_key in (select group_key from named)
        and not exists (
          select from intake.orders o
          where o.source_file_id = ${sourceFileId}::bigint and o.order_id collate "C" = c.order_id)
      returning row_count
    )
    select count(*) as orders, coalesce(sum(row_count), 0) as rows from inserted`;
}
