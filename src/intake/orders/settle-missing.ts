import type { Transaction } from 'kysely';
import { countsOf, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { columnNames, columnsInDoubt } from './order-columns.ts';
import { NO_REPEATS, type SettledRepeats, type SettleRepeatsOptions } from './settle-repeats.ts';

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
          select from intake.orders where source_file_id = ${sourceFileId}::bigint and content_hash like 'sum:%')) as may_lack
    ),
    lacking as materialized (
      select order_version_id, case when is_certain then 'incomplete' else 'may_be_incomplete' end as doubt
      from (
        select order_version_id, bool_or(is_certain) over (partition by group_key) as is_certain
        from (
          select group_key, null::bigint as order_version_id, is_certain from missing where group_key is not null
          union all
          select group_key, order_version_id, null from intake.orders where source_file_id = ${sourceFileId}::bigint
        ) both_kinds
      ) grouped
      where order_version_id is not null and (is_certain is not null or (select may_lack from anywhere))
    )
    update intake.orders o
    set lines = null,
      doubt = case when ${sums}::boolean and (o.doubt is null or l.doubt = 'incomplete') then l.doubt else o.doubt end,
      content_hash = o.content_hash || case when ${sums}::boolean then ':' || l.doubt else '' end
    from lacking l
    where o.order_version_id = l.order_version_id and o.order_version_id = any (array(select order_version_id from lacking))`;
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
      select distinct group_key from intake.missing_rows where source_file_id = ${sourceFileId}::bigint and is_certain
    ),
    seen as materialized (
      select v.order_version_id, min(v.line_no) as line_no, min(v.record_no) as record_no, sum(v.row_count)::integer as row_count
      from intake.unchanged_orders s
      cross join lateral unnest(s.order_version_ids, s.line_nos, s.record_nos, s.row_counts)
        as v(order_version_id, line_no, record_no, row_count)
      where s.source_file_id = ${sourceFileId}::bigint and exists (select from named)
      group by v.order_version_id
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, line_no, record_no, row_count, replaces,
        customer_key, customer_key_no, similar_to, items, changed_at, note)
      select c.source, ${sourceFileId}::bigint, false, c.content_hash || ':incomplete', ${columnsInDoubt('incomplete')}, s.line_no, s.record_no,
        s.row_count, c.order_version_id, c.customer_key, c.customer_key_no, c.similar_to, c.items, c.changed_at, c.note
      from seen s
      cross join lateral (select c.* from intake.orders c where c.order_version_id = s.order_version_id limit 1) c
      where c.doubt is null and c.group_key in (select group_key from named)
        and not exists (
          select from intake.orders o
          where o.source_file_id = ${sourceFileId}::bigint and o.order_id collate "C" = c.order_id)
      returning row_count
    )
    select count(*) as orders, coalesce(sum(row_count), 0) as rows from inserted`;
}
