import { type RawBuilder, sql } from 'kysely';
import type { StagedOrder } from '../../core/order.ts';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import type { Database } from '../../db/connect.ts';
import { toJsonParameter } from '../../db/to-json-parameter.ts';
import { ORDER_KEY_NO } from '../customers/rekey-customers.ts';
import { type FileRead, fenceOf } from '../files/fence.ts';
import type { OrderOrigin } from './copy-orders.ts';
import { saysNothingNew } from './order-columns.ts';
import { knownWithin } from './stage-orders.ts';

export type Compared = {
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
export async function compareOrders(
  db: Database,
  read: FileRead,
  orders: readonly StagedOrder[],
): Promise<Compared | null> {
  const { rows } = await sql<OrderOrigin & { unchanged: string; known: string; rest: string | null }>`
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
        select o.order_version_id, o.content_hash, o.lines, o.cancelled_at, o.exclusion, o.changed_at from intake.orders o
        where o.source = f.source and o.order_id = g.order_id and o.is_current limit 1) c on true
    ),
    noted as (
      insert into intake.unchanged_orders (source_file_id, order_version_ids, line_nos, record_nos, row_counts, cancelled)
      select source_file_id, array_agg(order_version_id), array_agg(line_no), array_agg(record_no), array_agg(row_count),
        count(*) filter (where is_cancelled)
      from compared where is_unchanged group by source_file_id
    )
    select f.source, f.source_file_id as "sourceFileId", ${ORDER_KEY_NO} as "keyNo", c.*
    from fence f cross join (
      select count(*) filter (where is_unchanged) as unchanged, count(*) filter (where not is_new) as known,
        string_agg((place - 1)::text, ',' order by place) filter (where not is_unchanged) as rest
      from compared
    ) c`.execute(db);
  const [row] = rows;
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
