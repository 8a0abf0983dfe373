import { type RawBuilder, sql } from 'kysely';
import { columnsMergedBy } from './order-columns.ts';

const FIRST_VALUE = columnsMergedBy('first');
const AMOUNTS = columnsMergedBy('sum');
const LISTS = columnsMergedBy('union');

/**
 * Rows of one order that are apart, in a layout with one amount an item, as one: amounts and rows add up, codes and links are united,
 * other fields keep their first value; its currency must be the same, else the order contradicts itself.
 *
 * @returns a select list with columns named as those of intake.orders.
 * @param first,second aliases of rows with the columns of intake.orders, in the file's order.
 */
export function summedColumns(first: string, second: string): RawBuilder<unknown> {
  const a = (column: string) => sql.ref(`${first}.${column}`);
  const b = (column: string) => sql.ref(`${second}.${column}`);
  return sql.join([
    sql`${a('group_key')}, ${a('currency')}, ${a('exclusion')}, ${a('row_count')} + ${b('row_count')} as row_count`,
    ...AMOUNTS.map(
      (column) =>
        sql`coalesce(${a(column)} + ${b(column)}, ${a(column)}, ${b(column)})::numeric(18,4) as ${sql.ref(column)}`,
    ),
    ...FIRST_VALUE.map((column) => sql`coalesce(${a(column)}, ${b(column)}) as ${sql.ref(column)}`),
    ...LISTS.flatMap((column) => [
      unite(a(column), b(column), a(column), b(column), column),
      unite(a(column), b(column), a(`${column}_folded`), b(`${column}_folded`), `${column}_folded`),
    ]),
    sql`least(${a('line_no')}, ${b('line_no')}) as line_no, least(${a('record_no')}, ${b('record_no')}) as record_no`,
    sql`${a('currency')} <> ${b('currency')} as is_contradiction`,
  ]);
}

/** What of `fromA` and `fromB` stands beside the values of `a`, and of `b` where `a` lacks the value. */
function unite(a: Ref, b: Ref, fromA: Ref, fromB: Ref, name: string): RawBuilder<unknown> {
  return sql`${fromA} || array(
    select f from unnest(${b}, ${fromB}) with ordinality u(v, f, n) where v <> all(${a}) order by n) as ${sql.ref(name)}`;
}
type Ref = RawBuilder<unknown>;

/** Assignments of `summedColumns`, selected as `m`, to the row `o` of intake.orders. */
export function assignSummed(contradictingLine: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = [...AMOUNTS, ...FIRST_VALUE, ...LISTS, ...LISTS.map((column) => `${column}_folded`)];
  const assignments = [...columns, 'exclusion', 'row_count', 'line_no', 'record_no'].map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(`m.${column}`)}`,
  );
  return sql`${sql.join(assignments)}, content_hash = ${summedHash('m')},
    conflicting_line_no = case when m.is_contradiction then coalesce(o.conflicting_line_no, ${contradictingLine})
                          else o.conflicting_line_no end`;
}

/** Digest of an order that was summed, over its values as they are now: the same whichever way its rows were cut. */
export function summedHash(alias: string): RawBuilder<string> {
  return sql<string>`'sum:' || md5(jsonb_build_array(${meaningOf(alias)})::text)`;
}

/** What an order means: the columns in which two versions of it can differ. */
export function meaningOf(alias: string): RawBuilder<unknown> {
  const columns = ['group_key', 'currency', 'exclusion', ...AMOUNTS, ...FIRST_VALUE, ...LISTS];
  return sql.join(columns.map((column) => sql.ref(`${alias}.${column}`)));
}
