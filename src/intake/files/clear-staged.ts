import type { Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';

/**
 * Removes everything that the reading of a file has staged. The caller holds the lock on the file's row, and
 * the file is not sealed.
 */
export async function clearStaged(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  for (const table of [
    'intake.orders',
    'intake.order_continuations',
    'intake.missing_rows',
    'intake.unchanged_orders',
    'intake.restated_orders',
    'intake.rejected_rows',
    'intake.waiting_batches',
    'intake.staged_rows',
  ] as const)
    await trx.deleteFrom(table).where('source_file_id', '=', sourceFileId).execute();
  await clearCustomers(trx, sourceFileId);
}

/**
 * Deletes the customers whom this file introduced, and resets known customers who wait with it. Customers who
 * had refused, and for whom this file said yes with a later date, have refused again. It reads the
 * whole table, which is acceptable because this is rare; an index would cost as much for each customer as the
 * row itself.
 */
async function clearCustomers(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  const file = await trx
    .selectFrom('intake.source_files')
    .select('read_for')
    .where('source_file_id', '=', sourceFileId)
    .executeTakeFirst();
  if (file?.read_for !== 'customers') return;
  const waitNoMore = { staged_file_id: null, batch_id: null };
  const isNew = { staged_file_id: sourceFileId, earlier_submissions: 0 };
  const waiting = trx.updateTable('intake.customers').where('staged_file_id', '=', sourceFileId);
  await waiting
    .set({ is_unsubscribed: true, said_yes: false, consented_at: null, ...waitNoMore })
    .where((eb) => eb.and(isNew))
    .where('refused_at', 'is not', null)
    .execute();
  await trx
    .deleteFrom('intake.customers')
    .where((eb) => eb.and({ ...isNew, is_unsubscribed: false }))
    .execute();
  await waiting.set(waitNoMore).execute();
}
