import type { Transaction } from 'kysely';
import type { Database } from './connect.ts';
import type { DB } from './tables.ts';

/** For a function that must run in a transaction. */
export type DatabaseTransaction = Transaction<DB>;

/** Runs a function in one commit of its own, or within the transaction that `db` already is (a plan, which is rolled back). */
export function inTransaction<Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as DatabaseTransaction) : db.transaction().execute(work);
}
