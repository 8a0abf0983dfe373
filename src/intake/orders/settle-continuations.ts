import type { Transaction } from 'kysely';
import { countOf, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

const REASON = 'The row belongs to an order whose first row is unknown and not in this file.';
const HELP = 'Export the order again with all its rows, or put its first row before this one.';

/**
 * Assigns rows whose order is elsewhere to that order: one that this file has staged, or else one that is
 * known. Rows without an order are rejected as `orphan_rows`. The statements use grouping instead of joins,
 * so that each table is read once whatever the planner assumes about tables that have just been filled. Call
 * it only if the file has such rows.
 *
 * @returns the number of rows assigned to known orders that this file has not staged.
 */
export async function settleContinuations(
  trx: Transaction<DB>,
  options: { readonly sourceFileId: string; readonly runId: string },
): Promise<number> {
  const { sourceFileId } = options;
  const left = await giveToStaged(trx, sourceFileId);
  return left === 0 ? 0 : giveToKnown(trx, options);
}

/**
 * Assigns rows to staged orders. @returns the number of orders that have rows in the file but were not
 * staged.
 */
async function giveToStaged(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  return countOf(trx)`
    with owners as materialized (
      select min(order_version_id) as order_version_id, sum(row_count)::integer as row_count
      from (
        select group_key, null::bigint as order_version_id, row_count from intake.order_continuations
        where source_file_id = ${sourceFileId}::bigint
        union all
        select group_key, order_version_id, null from intake.orders where source_file_id = ${sourceFileId}::bigint
      ) both_kinds
      group by group_key having count(row_count) > 0
    ),
    given as (
      update intake.orders o set row_count = o.row_count + w.row_count, lines = null from owners w
      where o.order_version_id = w.order_version_id
        and o.order_version_id = any (array(select order_version_id from owners where order_version_id is not null))
    )
    select count(*) as left from owners where order_version_id is null`;
}

async function giveToKnown(
  trx: Transaction<DB>,
  { sourceFileId, runId }: { readonly sourceFileId: string; readonly runId: string },
): Promise<number> {
  const rows = await rowsOf<{ rows: string }>(trx)`
    with both_kinds as (
      select group_key, line_no, record_no, row_count, null::boolean as is_staged from intake.order_continuations
      where source_file_id = ${sourceFileId}::bigint
      union all
      select o.group_key, null, null, null, o.source_file_id = f.source_file_id
      from intake.source_files f join intake.orders o on o.source = f.source
      where f.source_file_id = ${sourceFileId}::bigint and (o.is_current or o.source_file_id = f.source_file_id)
    ),
    waiting as materialized (
      select * from (
        select group_key, line_no, record_no, row_count, bool_or(is_staged) over (partition by group_key) as has_staged from both_kinds
      ) grouped
      where row_count is not null and has_staged is not true
    ),
    rejected as (
      insert into intake.rejected_rows (source_file_id, line_no, record_no, code, reason, help, row_count, run_id, order_name)
      select ${sourceFileId}::bigint, line_no, record_no, 'orphan_rows', ${REASON}, ${HELP}, row_count, ${runId}::bigint, group_key
      from waiting where has_staged is null
    )
    select coalesce(sum(row_count), 0) as rows from waiting where has_staged is not null`;
  return Number(rows[0]?.rows ?? 0);
}
