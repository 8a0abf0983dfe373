import { type RawBuilder, sql } from 'kysely';
import { toTextArrayParameter } from '../../db/array-parameters.ts';

/**
 * SQL for the CTEs `range` and `known`, after a CTE `fence` (`fenceOf`). `known` says with `in_file` and `in_source`
 * whether this file has stated an order, or the source has a current one, with an id between the least and the
 * greatest of these ids. If not, all of them are new. Exports are sorted, so that is so for nearly every
 * batch of new orders. Ids are compared by the collation of the index that is asked.
 */
export function knownWithin(orderIds: readonly string[]): RawBuilder<unknown> {
  return sql`
    range as materialized (
      select min(id) as low, max(id) as high, min(id collate "C") as low_c, max(id collate "C") as high_c
      from unnest(${toTextArrayParameter(orderIds)}::text[]) as id
    ),
    known as materialized (
      select coalesce(h.order_id collate "C" <= r.high_c, false) as in_file, coalesce(c.order_id <= r.high, false) as in_source
      from fence f cross join range r
      left join lateral (
        select o.order_id from intake.orders o
        where o.source_file_id = f.source_file_id and o.order_id collate "C" >= r.low_c
        order by o.order_id collate "C" limit 1) h on true
      left join lateral (
        select o.order_id from intake.orders o
        where o.source = f.source and o.is_current and o.order_id >= r.low order by o.order_id limit 1) c on true
    )`;
}
