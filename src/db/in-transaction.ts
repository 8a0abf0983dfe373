import type { Transaction } from 'kysely';
import type { Database } from './connect.ts';
import type { DB } from './tables.ts';

/** Runs a function in one commit of its own, or within the transaction that `db` already is (a plan, which is rolled back). */
export function inTransaction<Result>(
  db: Database,
  work: (trx: Transaction<DB>) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as Transaction<DB>) : db.transaction().execute(work);
}
