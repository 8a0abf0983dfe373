import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';
import { assignItems } from './summed-orders.ts';

/**
 * Settles orders whose amounts add up and of which several files state different rows. If the items have ids, the
 * order has the items of all files, each as it was stated last. Otherwise a file with fewer rows may be a newer state or
 * only a part, and so may another single row: the order is in doubt until one file has more rows than the others.
 * Call it only if orders have changed, before equal versions are dropped.
 */
export async function settleSplits(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  const changed = changedIn(sourceFileId);
  await sql`
    with joined as materialized (
      select o.order_version_id, intake.join_items(c.items, o.items) as items, c.doubt, o.items as own_items
      from ${changed} where o.items is not null and c.items is not null
    )
    update intake.orders o
    set ${assignItems(sql`j.items`, 'o')}, doubt = coalesce(o.doubt, j.doubt),
      content_hash = 'sum:' || md5(o.content_hash || j.items::text)
    from joined j
    where o.order_version_id = j.order_version_id and o.order_version_id = any (array(select order_version_id from joined))
      and jsonb_array_length(j.items) > jsonb_array_length(j.own_items)`.execute(trx);
  await sql`
    with split as materialized (
      select o.order_version_id from ${changed}
      where o.doubt is null and (o.items is null or c.items is null) and c.doubt is distinct from 'may_be_repeated'
        and (
          (c.doubt = 'may_be_split' and o.row_count <= c.row_count)
          or (o.amount <> c.amount and o.amount > 0 and c.amount > 0
            and (o.row_count < c.row_count or (o.row_count = 1 and c.row_count = 1))))
    )
    update intake.orders o set doubt = 'may_be_split', content_hash = o.content_hash || ':may_be_split'
    where o.order_version_id = any (array(select order_version_id from split))`.execute(trx);
}

/** SQL for the staged versions `o` of a file, each with the version `c` that it replaces. */
function changedIn(sourceFileId: string): RawBuilder<unknown> {
  const columns = sql`order_version_id, items, doubt, row_count, coalesce(total, subtotal) as amount`;
  return sql`
    (select ${columns}, replaces from intake.orders
      where source_file_id = ${sourceFileId}::bigint and not is_current) o
    cross join lateral (select ${columns} from intake.orders where order_version_id = o.replaces limit 1) c`;
}
