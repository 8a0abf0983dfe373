import { type RawBuilder, sql } from 'kysely';
import { columnsMergedBy, isPlacedApart, STORED_COLUMNS } from './order-columns.ts';

const FIRST_VALUE = columnsMergedBy('first');
const AMOUNTS = columnsMergedBy('sum');
const LISTS = columnsMergedBy('union');
const FOLDED = new Set(STORED_COLUMNS.filter(({ isFolded }) => isFolded).map(({ column }) => column));

/**
 * SQL that merges separate rows of one order in a layout with one amount for each item. Amounts and row
 * counts are added up, or the amounts of the items if they have ids, codes and links are united, and other fields keep
 * their first value. The currency must be the same, so must the time at which it was placed, and so must the amounts of
 * an item, otherwise the order contradicts itself. Equal rows without ids of items may be one row of two files that
 * were joined.
 *
 * @param first,second aliases of rows with the columns of intake.orders, in the order of the file.
 * @returns a select list with the column names of intake.orders.
 */
export function summedColumns(first: string, second: string): RawBuilder<unknown> {
  const a = (column: string) => sql.ref(`${first}.${column}`);
  const b = (column: string) => sql.ref(`${second}.${column}`);
  return sql.join([
    sql`${a('group_key')}, ${a('currency')}, ${a('exclusion')}, ${a('row_count')} + ${b('row_count')} as row_count`,
    ...AMOUNTS.map(
      (column) =>
        sql`coalesce(${itemsAmount(sql`intake.join_items(${a('items')}, ${b('items')})`, column)},
          ${a(column)} + ${b(column)}, ${a(column)}, ${b(column)})::numeric(18,4) as ${sql.ref(column)}`,
    ),
    sql`intake.join_items(${a('items')}, ${b('items')}) as items`,
    ...FIRST_VALUE.map((column) =>
      column === 'doubt'
        ? sql`coalesce(${a('doubt')}, ${b('doubt')}, case when ${a('content_hash')} = ${b('content_hash')}
            and (${a('items')} is null or ${b('items')} is null) then 'may_be_repeated' end) as doubt`
        : sql`coalesce(${a(column)}, ${b(column)}) as ${sql.ref(column)}`,
    ),
    ...LISTS.map((column) => unite(a(column), b(column), a(column), b(column), column)),
    ...LISTS.filter((column) => FOLDED.has(`${column}_folded`)).map((column) =>
      unite(a(column), b(column), a(`${column}_folded`), b(`${column}_folded`), `${column}_folded`),
    ),
    sql`greatest(${a('changed_at')}, ${b('changed_at')}) as changed_at`,
    sql`least(${a('line_no')}, ${b('line_no')}) as line_no, least(${a('record_no')}, ${b('record_no')}) as record_no`,
    sql`${a('currency')} <> ${b('currency')} or ${isPlacedApart(first, second)}
      or exists (
        select from jsonb_array_elements(${a('items')}) one, jsonb_array_elements(${b('items')}) other
        where one ->> 0 = other ->> 0 and one <> other) as is_contradiction`,
  ]);
}

/** SQL for an amount of an order from its items. Null if the amount is not added up. */
function itemsAmount(items: RawBuilder<unknown>, column: string): RawBuilder<unknown> {
  return sql`intake.items_amount(${items}, ${sql.lit(ITEM_AMOUNTS.indexOf(column) + 1)})`;
}

/** The amounts of an item, in the order of `OrderItem`. */
const ITEM_AMOUNTS = ['total', 'subtotal', 'refunded'];

/** SQL that assigns items, and the amounts that follow from them, to row `alias` of intake.orders. */
export function assignItems(items: RawBuilder<unknown>, alias: string): RawBuilder<unknown> {
  const amounts = AMOUNTS.map(
    (column) =>
      sql`${sql.ref(column)} = coalesce(${itemsAmount(items, column)}, ${sql.ref(`${alias}.${column}`)})`,
  );
  return sql.join([sql`items = ${items}`, ...amounts]);
}

/**
 * Unites two lists: `fromA`, followed by the elements of `fromB` at the positions where `b` has a value that
 * `a` lacks.
 */
function unite(a: Ref, b: Ref, fromA: Ref, fromB: Ref, name: string): RawBuilder<unknown> {
  return sql`${fromA} || array(
    select f
    from unnest(${b}, ${fromB}) with ordinality u(v, f, n)
    where v <> all(${a})
    order by n) as ${sql.ref(name)}`;
}
type Ref = RawBuilder<unknown>;

/** SQL that assigns the result of `summedColumns`, selected as `m`, to row `o` of intake.orders. */
export function assignSummed(contradictingLine: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = [...AMOUNTS, ...FIRST_VALUE, ...LISTS, ...FOLDED];
  const assignments = [
    ...columns,
    'exclusion',
    'items',
    'row_count',
    'line_no',
    'record_no',
    'changed_at',
  ].map((column) => sql`${sql.ref(column)} = ${sql.ref(`m.${column}`)}`);
  return sql`${sql.join(assignments)}, lines = null, content_hash = ${summedHash('m')},
    conflicting_line_no = case
      when m.is_contradiction then coalesce(o.conflicting_line_no, ${contradictingLine})
                          else o.conflicting_line_no end`;
}

/**
 * SQL for the digest of an order whose rows were added up, computed from its current values. It does not
 * depend on how the order was divided into rows. Other ids are part of it only if there are any, and a doubt follows it,
 * as in build-order.ts.
 */
export function summedHash(alias: string): RawBuilder<string> {
  const others = sql.ref(`${alias}.other_ids`);
  return sql<string>`'sum:' || md5((jsonb_build_array(${meaningOf(alias, (column) => column !== 'other_ids')})
    || case when ${others} = '{}' then '[]'::jsonb else to_jsonb(${others}) end)::text)
      || coalesce(':' || ${sql.ref(`${alias}.doubt`)}, '')`;
}

/** SQL for the columns in which two versions of an order can differ, except for a doubt. */
export function meaningOf(
  alias: string,
  isWanted: (column: string) => boolean = () => true,
): RawBuilder<unknown> {
  const said = FIRST_VALUE.filter((column) => column !== 'doubt');
  const columns = ['group_key', 'currency', 'exclusion', ...AMOUNTS, ...said, ...LISTS].filter(isWanted);
  return sql.join(columns.map((column) => sql.ref(`${alias}.${column}`)));
}
