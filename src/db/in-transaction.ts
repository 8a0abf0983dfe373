import type { Transaction } from 'kysely';
import type { Database } from './connect.ts';
import type { DB } from './tables.ts';

/** For functions that must run in a transaction. */
export type DatabaseTransaction = Transaction<DB>;

/**
 * Runs a function in a transaction of its own, or in the transaction that `db` already is (a plan, which is
 * rolled back).
 */
export function inTransaction<Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as DatabaseTransaction) : db.transaction().execute(work);
}

/** Runs the work in one transaction. Rolls it back if this is a dry run. */
export async function unlessDryRun<Result>(
  db: Database,
  isDryRun: boolean,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const trx = await db.startTransaction().execute();
  try {
    const result = await work(trx);
    await (isDryRun ? trx.rollback() : trx.commit()).execute();
    return result;
  } catch (error) {
    if (!trx.isCommitted && !trx.isRolledBack)
      await trx
        .rollback()
        .execute()
        .catch(() => {});
    throw error;
  }
}
