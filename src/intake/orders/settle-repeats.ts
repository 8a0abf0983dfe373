import { type RawBuilder, sql, type Transaction } from 'kysely';
import { countsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { columnNames, columnsMergedBy, STORED_COLUMNS } from './order-columns.ts';
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
                                or (isfinite(o.changed_at) and isfinite(r.changed_at) and o.changed_at <> r.changed_at) then o.conflicting_line_no
                              else coalesce(o.conflicting_line_no, r.line_no) end
      from (
        select r.*, c.content_hash, c.changed_at from repeats r
        cross join lateral (select c.content_hash, c.changed_at from intake.orders c where c.order_version_id = r.order_version_id limit 1) c
      ) r
      where o.order_version_id = r.staged_id and o.order_version_id = any (array(select staged_id from repeats))
    )`;

/**
 * SQL for layouts whose rows add up. Separate rows that each equal the known order are not repetitions. They
 * are added to the staged version. If the file contains only such rows, they become a new version.
 */
function addSums(sourceFileId: string): RawBuilder<unknown> {
  return sql`
    known as materialized (
      select c.source, c.content_hash, c.items, ${timesOver}, c.similar_to, c.changed_at, c.note, r.line_no, r.record_no, r.row_count, r.staged_id, r.order_version_id
      from repeats r
      cross join lateral (select c.* from intake.orders c where c.order_version_id = r.order_version_id limit 1) c
    ),
    added as (
      update intake.orders o set ${assignSummed(sql`m.known_line_no`)}
      from (
        select o.order_version_id, k.line_no as known_line_no, ${summedColumns('k', 'o')}
        from known k
        cross join lateral (select o.* from intake.orders o where o.order_version_id = k.staged_id limit 1) o
      ) m
      where o.order_version_id = m.order_version_id and o.order_version_id = any (array(select staged_id from known))
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, items, line_no, record_no, row_count, replaces,
        similar_to, changed_at, note)
      select source, ${sourceFileId}::bigint, false, ${summedHash('k')}, ${columnNames}, items, line_no, record_no, row_count, order_version_id,
        similar_to, changed_at, note
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
