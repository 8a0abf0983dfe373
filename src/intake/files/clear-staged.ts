import { sql, type Transaction } from 'kysely';
import { execute, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/**
 * Removes everything that the reading of a file has staged. The caller holds the lock on the file's row, and
 * the file is not sealed.
 */
export async function clearStaged(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  for (const table of [
    'orders',
    'order_continuations',
    'missing_rows',
    'unchanged_orders',
    'restated_orders',
    'rejected_rows',
    'waiting_batches',
    'staged_rows',
  ]) {
    await execute(trx)`
      delete from ${sql.table(`intake.${table}`)} where source_file_id = ${sourceFileId}::bigint`;
  }
  await clearCustomers(trx, sourceFileId);
}

/**
 * Deletes the customers whom this file introduced, and resets known customers who wait with it. Customers who
 * had refused, and for whom this file said yes with a later date, have refused again. It reads the
 * whole table, which is acceptable because this is rare; an index would cost as much for each customer as the
 * row itself.
 */
async function clearCustomers(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  const rows = await rowsOf(trx)`
    select from intake.source_files where source_file_id = ${sourceFileId}::bigint and read_for = 'customers'`;
  if (rows.length === 0) return;
  await execute(trx)`
    update intake.customers
    set is_unsubscribed = true, said_yes = false, consented_at = null, staged_file_id = null, batch_id = null
    where staged_file_id = ${sourceFileId}::bigint and refused_at is not null and earlier_submissions = 0`;
  await execute(trx)`
    delete from intake.customers
    where staged_file_id = ${sourceFileId}::bigint and not is_unsubscribed and earlier_submissions = 0`;
  await execute(trx)`
    update intake.customers set staged_file_id = null, batch_id = null
    where staged_file_id = ${sourceFileId}::bigint`;
}
