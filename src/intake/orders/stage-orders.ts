import { type RawBuilder, sql } from 'kysely';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import { keepsPlanFor } from '../../db/keeps-plan.ts';
import { type Database, rowOf } from '../../db/statement.ts';
import { ORDER_KEY_NO } from '../customers/rekey-customers.ts';
import { type FileRead, fenceOf } from '../files/fence.ts';
import {
  columnNames,
  isPlacedApart,
  ORDER_ID_AT,
  type OrderRow,
  SENT_COLUMNS,
  STORED_COLUMNS,
  saysItsAge,
  saysNothingNew,
} from './order-columns.ts';
import { assignSummed, summedColumns } from './summed-orders.ts';

export type StagedCounts = {
  /** Orders that are new to the database. */
  readonly new: number;
  /** Orders that are known with other content. */
  readonly changed: number;
  /** Orders that are known with the same content. */
  readonly unchanged: number;
  /** Orders that this file has already stated. */
  readonly repeated: number;
};

export type StageOrdersOptions = {
  /** Each order occurs once, in one of the files. */
  readonly files: readonly (FileRead & { readonly orders: readonly OrderRow[] })[];
  /**
   * True if the amounts of separate rows of one order add up (a layout with one amount for each item).
   * Otherwise different rows contradict each other.
   */
  readonly sums: boolean;
};

/**
 * Stores complete orders of one file, or of several small ones. A new order becomes the current version, which stays
 * hidden until the file is sealed. A changed order is stored as not current, and sealing makes it current. An order
 * that the file has already stated is merged into its row, and its order lines become unknown, because each part has
 * only some of them. The customer key of the known version is kept if this export has none.
 *
 * Orders are sent as an array for each column, which Postgres reads in a third of the time that it takes to
 * read JSON. `offset 0` hides their length from the planner: otherwise it would expect three orders from a plan
 * for one small file and ten from one for all, and so plan each file anew. `limit 1` makes the planner use the
 * unique index for each look-up: it has no statistics yet about a table that is being filled, and would
 * otherwise read all orders of a source.
 *
 * No order is looked up in its file, or among the orders of the source, if none of those can be in the batch
 * (`knownWithin`).
 *
 * @returns null if another reader has taken over a file. Nothing was staged of it then.
 */
export async function stageOrders(
  db: Database,
  { files, sums }: StageOrdersOptions,
): Promise<StagedCounts | null> {
  const orders = files.flatMap((file) => file.orders);
  const row = await rowOf<Record<keyof StagedCounts | 'fenced', string>>(db)`
    with fence as materialized (${fenceOf(...files)}),
    ${knownWithin(orders.map((row) => row[ORDER_ID_AT] ?? ''))},
    given as materialized (
      select h.order_version_id as here_id,
        ${saysNothingNew} as is_unchanged,
        c.order_version_id as current_id, c.customer_key as current_customer_key,
        c.customer_key_no as current_key_no, c.cancelled_at is not null
          or c.exclusion = 'cancelled' as is_cancelled, k.source, k.source_file_id, g.*
      from (${sentRows(files)}) g
      cross join lateral (select * from known where known.place = g.place limit 1) k
      left join lateral (
        select o.order_version_id from intake.orders o
        where k.in_file and o.source_file_id = k.source_file_id and o.order_id collate "C" = g.order_id
        limit 1) h
          on true
      left join lateral (
        select o.order_version_id, o.content_hash, o.customer_key, o.customer_key_no, o.lines, o.cancelled_at,
          o.exclusion, o.changed_at
        from intake.orders o
        where k.in_source and o.source = k.source and o.order_id = g.order_id and o.is_current limit 1) c
          on true
    ),
    inserted as (
      insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, line_no,
        record_no, row_count, replaces,
        customer_key, customer_key_no, lines, similar_to, items, changed_at, note)
      select source, source_file_id, current_id is null, content_hash, ${columnValues}, line_no, record_no,
        row_count, current_id, coalesce(customer_key, current_customer_key),
        case when customer_key is null then current_key_no else ${ORDER_KEY_NO} end, lines, similar_to, items,
        changed_at, note
      from given
      where here_id is null and is_unchanged is not true
      returning is_current
    ),
    noted as (
      insert into intake.unchanged_orders (source_file_id, order_version_ids, line_nos, record_nos,
        row_counts, cancelled)
      select source_file_id, array_agg(current_id), array_agg(line_no), array_agg(record_no),
        array_agg(row_count), count(*) filter (where is_cancelled)
      from given where here_id is null and is_unchanged group by source_file_id
      returning cardinality(order_version_ids) as orders
    ),
    merged as (${sums ? mergeSummed : orders.some(saysItsAge) ? mergeByAge : mergeStated})
    select (select count(*) from fence) as fenced,
      count(*) filter (where is_current) as new, count(*) filter (where not is_current) as changed,
      coalesce((select sum(orders) from noted), 0) as unchanged, (select count(*) from merged) as repeated
    from inserted ${keepsPlanFor(orders.length)}`;
  if (row?.fenced !== String(files.length)) return null;
  return {
    new: Number(row.new),
    changed: Number(row.changed),
    unchanged: Number(row.unchanged),
    repeated: Number(row.repeated),
  };
}

/**
 * SQL that is true if this file has already stated order `o`. The array limits the work to a few look-ups in
 * the primary key, whatever join the planner chooses.
 */
const isHere = sql`o.order_version_id = any (array(select here_id from given where here_id is not null))`;

/**
 * The same order again: its rows are counted. Different content is a contradiction, which sealing rejects.
 */
const mergeStated = sql`
  update intake.orders o
  set row_count = o.row_count + g.row_count,
      conflicting_line_no = case
        when o.content_hash <> g.content_hash then coalesce(o.conflicting_line_no, g.line_no)
                            else o.conflicting_line_no end,
      lines = null
  from given g where o.order_version_id = g.here_id and ${isHere}
  returning 1`;

/** What is stored with a state of an order besides its meaning. */
const OF_STATE = SENT_COLUMNS.filter(({ column }) =>
  ['line_no', 'record_no', 'content_hash', 'items', 'note'].includes(column),
);

/** SQL that is true if staged order `o` and row `g` each say when the order last changed, and say different times. */
const isAged = sql`(isfinite(o.changed_at) and isfinite(g.changed_at) and o.changed_at <> g.changed_at) is true`;

/** The same, of rows that say when the order last changed: the newer state counts, unless it is one of another order. */
const mergeByAge = sql`
  update intake.orders o
  set row_count = o.row_count + g.row_count,
      conflicting_line_no = case
        when o.content_hash <> g.content_hash
          and (not ${isAged} or ${isPlacedApart('o', 'g')}) then coalesce(o.conflicting_line_no, g.line_no)
                            else o.conflicting_line_no end,
      lines = case when ${isAged} and g.changed_at > o.changed_at then g.lines
        when ${isAged} then o.lines end,
      ${sql.join(
        [...STORED_COLUMNS, ...OF_STATE].map(({ column, type }) => {
          const given =
            type === 'text[]' ? sql`coalesce(${sql.ref(`g.${column}`)}, '{}')` : sql.ref(`g.${column}`);
          const newest = sql`case when ${isAged} and g.changed_at > o.changed_at then ${given} else ${sql.ref(`o.${column}`)} end`;
          // As in `newestOf`: what one state says of it holds for all.
          return column === 'placed_at'
            ? sql`placed_at = coalesce(${newest}, o.placed_at, g.placed_at)`
            : sql`${sql.ref(column)} = ${newest}`;
        }),
      )},
      -- Rows of two orders have no age in common.
      changed_at = case when ${isPlacedApart('o', 'g')} then 'infinity'
                        else greatest(o.changed_at, g.changed_at) end
  from given g where o.order_version_id = g.here_id and ${isHere}
  returning 1`;

/** More rows of an order whose rows add up. */
const mergeSummed = sql`
  update intake.orders o set ${assignSummed(sql`m.given_line_no`)}
  from (
    select o.order_version_id, g.line_no as given_line_no, ${summedColumns('o', 'g')}
    from given g join intake.orders o on o.order_version_id = g.here_id and ${isHere}
  ) m
  where o.order_version_id = m.order_version_id
  returning 1`;

/** A list that is missing was empty (`toOrderRow`). */
const columnValues = sql.raw(
  STORED_COLUMNS.map(({ column, type }) => (type === 'text[]' ? `coalesce(${column}, '{}')` : column)).join(),
);

/** The columns as they are stored, from the arrays of `toColumns`. */
const readColumns = sql.raw(
  SENT_COLUMNS.map(({ column, type }) =>
    type === 'text[]' ? `${column}::text[] as ${column}` : column,
  ).join(),
);

/** SQL for the orders of files as rows, with the columns that are stored, and the `place` of the order's file among them. */
function sentRows(files: StageOrdersOptions['files']): RawBuilder<unknown> {
  const arrays = sql.join(toColumns(files.flatMap((file) => file.orders)));
  const places = toArrayParameter(files.flatMap((file, at) => file.orders.map(() => at + 1)));
  return sql`
    select ${readColumns}, place
    from (
      select ${unnested}, unnest(places) as place
      from (select ${arrays}, ${places}::bigint[] offset 0) columns(${ARRAYS}, places)
    ) sent`;
}

/** Converts orders to the columns that are sent, each an array. */
function toColumns(orders: readonly OrderRow[]): readonly RawBuilder<unknown>[] {
  return SENT_COLUMNS.map(({ type }, at) => {
    const elements = orders.map((row) => row[at] ?? null);
    return sql`${toTextArrayParameter(elements)}::${sql.raw(type === 'text[]' ? 'text[]' : `${type}[]`)}`;
  });
}

/** Names of the arrays. */
const ARRAYS = sql.raw(SENT_COLUMNS.map((_, at) => `array${at}`).join());

/** The rows of the arrays. In the list of a `select`, they are not stored before they are read. */
const unnested = sql.raw(SENT_COLUMNS.map(({ column }, at) => `unnest(array${at}) as ${column}`).join());

/**
 * SQL for the CTEs `range` and `known`, after a CTE `fence` of files. `known` has each of them, and says with `in_file`
 * and `in_source` whether it has stated an order, or the source has a current one, with an id between the least and the
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
      select f.*, coalesce(h.order_id collate "C" <= r.high_c, false) as in_file,
        coalesce(c.order_id <= r.high, false) as in_source
      from fence f cross join range r
      left join lateral (
        select o.order_id from intake.orders o
        where o.source_file_id = f.source_file_id and o.order_id collate "C" >= r.low_c
        order by o.order_id collate "C" limit 1) h on true
      left join lateral (
        select o.order_id from intake.orders o
        where o.source = f.source and o.is_current and o.order_id >= r.low order by o.order_id limit 1) c
          on true
    )`;
}
