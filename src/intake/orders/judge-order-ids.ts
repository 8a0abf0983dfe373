import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { OrderIdColumn } from '../../core/order.ts';
import type { HoldReason } from '../../core/source.ts';
import { rowOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/**
 * Returns the reason to hold a file that identifies its orders by another column than earlier files of its
 * source. An order in both would have two ids and would be credited under each. Orders are compared by their
 * name (Shopify: `Name`), which both files contain. If the files share no order name, the file is accepted.
 * If orders on one side have no name, they cannot be compared and the file is held.
 */
export async function judgeOrderIds(
  trx: Transaction<DB>,
  {
    sourceFileId,
    orderIdColumn: { name, isFallback },
    before,
  }: {
    readonly sourceFileId: string;
    readonly orderIdColumn: OrderIdColumn;
    /** Another column of earlier files (`otherIdColumn`). Null if there is none. */
    readonly before: string | null;
  },
): Promise<HoldReason | null> {
  if (name === null || before === null) return null;
  const row = await rowOf<{ shared: string; nameless: string; here: string; there: string }>(trx)`
    select count(*) filter (where order_name is not null and here > 0 and there > 0 and ids > 1) as shared,
      coalesce(sum(here + there) filter (where order_name is null), 0) as nameless,
      coalesce(sum(here), 0) as here, coalesce(sum(there), 0) as there
    from (
      select o.order_name, count(*) filter (where o.source_file_id = f.source_file_id) as here,
        count(*) filter (where o.source_file_id <> f.source_file_id) as there,
        count(distinct o.order_id) as ids
      from intake.source_files f
      join intake.orders o on o.source = f.source and o.is_current
      join intake.source_files b on b.source_file_id = o.source_file_id
      where f.source_file_id = ${sourceFileId}::bigint
        and (o.source_file_id = f.source_file_id
          or (b.order_id_column <> ${name} or (b.order_id_column is null and ${isFallback}::boolean)))
      group by o.order_name
    ) names`;
  if (row === undefined || row.here === '0' || row.there === '0') return null;
  const shared = Number(row.shared);
  if (shared === 0 && row.nameless === '0') return null;
  const what =
    shared > 0
      ? `${shared} of its orders ${shared === 1 ? 'is' : 'are'} known under another id`
      : 'orders without a name cannot be compared with those that are known';
  return {
    code: 'order_id_column_changed',
    message: `This file identifies its orders by "${name}", but earlier files of this source by "${before}": ${what}. These orders would be credited again.`,
    help: `Export the file with the column "${before}", filled on every order. If the shop has changed its export permanently, give the new files their own source and job, with a start_date after the last order of the old files.`,
  };
}

/**
 * SQL for another column by which a sealed file of the same source identified its orders, or null if there is
 * none. Sorting makes Postgres use the index of these columns. Otherwise it expects to find such a file soon,
 * and reads all files of a source that has none.
 *
 * @param source SQL for a set of one row, whose column `source` names the source.
 */
export function otherIdColumn(
  source: RawBuilder<unknown>,
  { name, isFallback }: OrderIdColumn,
): RawBuilder<string | null> {
  return sql`(
    select coalesce(b.order_id_column, 'another column')
    from (${source}) f cross join lateral (
      (select order_id_column from intake.source_files
        where source = f.source and read_for = 'orders' and state = 'sealed' and order_id_column < ${name}
        order by source, order_id_column limit 1)
      union all
      (select order_id_column from intake.source_files
        where source = f.source and read_for = 'orders' and state = 'sealed' and order_id_column > ${name}
        order by source, order_id_column limit 1)
      union all
      (select order_id_column from intake.source_files
        where source = f.source and read_for = 'orders' and state = 'sealed' and order_id_column is null
          and order_rows > 0 and ${name}::text is not null and ${isFallback}::boolean
        order by source, order_id_column limit 1)
    ) b limit 1)`;
}

/** SQL for the source of a file, as `otherIdColumn` takes it. */
export function sourceOf(sourceFileId: string): RawBuilder<unknown> {
  return sql`select source from intake.source_files where source_file_id = ${sourceFileId}::bigint`;
}
