import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { toJsonParameter } from '../../db/to-json-parameter.ts';
import type { StagedOrder } from '../../model/order.ts';
import { type FileRead, fenceOf } from '../files/fence.ts';

export type Sighted = {
  readonly isLost: boolean;
  readonly unchanged: number;
  /** Orders that are new, changed, or occur for the second time in the file. They must be sent in full. */
  readonly rest: readonly StagedOrder[];
};

/**
 * Finds the orders that are known with the same content, by sending only ids, digests and order lines (if the
 * source keeps them), and records that the file contains them. Most orders of an export were already in the
 * export before it. Sealing needs these records for orders that occur twice in the file. For `limit 1`, see
 * stage-orders.ts.
 */
export async function noteUnchangedOrders(
  db: Database,
  read: FileRead,
  orders: readonly StagedOrder[],
): Promise<Sighted> {
  const { rows } = await sql<{ fenced: string; unchanged: string; rest: string | null }>`
    with fence as materialized (${fenceOf(read)}),
    input as materialized (select ${toJsonParameter(toColumns(orders))}::jsonb as columns),
    known as materialized (
      select g.place, f.source_file_id, c.order_version_id, g.line_no, g.record_no, g.row_count,
        c.cancelled_at is not null or c.exclusion = 'cancelled' as is_cancelled
      from fence f cross join input i
      cross join lateral rows from (
        jsonb_array_elements_text(i.columns -> 'ids'), jsonb_array_elements_text(i.columns -> 'hashes'),
        unnest(string_to_array(i.columns ->> 'lines', ',')::bigint[]),
        unnest(string_to_array(i.columns ->> 'records', ',')::bigint[]),
        unnest(string_to_array(i.columns ->> 'rowCounts', ',')::bigint[]),
        jsonb_array_elements(i.columns -> 'orderLines')
      ) with ordinality as g(order_id, content_hash, line_no, record_no, row_count, lines, place)
      left join lateral (
        select o.order_version_id from intake.orders o
        where o.source_file_id = f.source_file_id and o.order_id collate "C" = g.order_id limit 1) h on true
      left join lateral (
        select o.order_version_id, o.content_hash, o.lines, o.cancelled_at, o.exclusion from intake.orders o
        where o.source = f.source and o.order_id = g.order_id and o.is_current limit 1) c
        on h.order_version_id is null and c.content_hash = g.content_hash
          and (g.lines is null or g.lines = 'null' or g.lines is not distinct from c.lines)
    ),
    noted as (
      insert into intake.unchanged_orders (source_file_id, order_version_ids, line_nos, record_nos, row_counts, cancelled)
      select source_file_id, array_agg(order_version_id), array_agg(line_no), array_agg(record_no), array_agg(row_count),
        count(*) filter (where is_cancelled)
      from known where order_version_id is not null group by source_file_id
    )
    select (select count(*) from fence) as fenced, count(order_version_id) as unchanged,
      string_agg((place - 1)::text, ',') filter (where order_version_id is null) as rest
    from known`.execute(db);
  const [row] = rows;
  const places = row?.rest == null ? [] : row.rest.split(',');
  return {
    isLost: row?.fenced !== '1',
    unchanged: Number(row?.unchanged ?? 0),
    rest: places.flatMap((place) => orders[Number(place)] ?? []),
  };
}

/** Converts orders to columns, because whole columns are written and read several times faster than rows. */
function toColumns(orders: readonly StagedOrder[]) {
  const ids: string[] = [];
  const hashes: string[] = [];
  const lines: number[] = [];
  const records: number[] = [];
  const rowCounts: number[] = [];
  for (const order of orders) {
    ids.push(order.orderId);
    hashes.push(order.contentHash);
    lines.push(order.line);
    records.push(order.record);
    rowCounts.push(order.rowCount);
  }
  // Omitted if no order has order lines. They are then null for every order.
  const orderLines = orders.some((order) => order.lines !== null) ? orders.map((order) => order.lines) : [];
  return {
    ids,
    hashes,
    lines: lines.join(),
    records: records.join(),
    rowCounts: rowCounts.join(),
    orderLines,
  };
}
