import { countOf, type Database } from '../db/statement.ts';

/**
 * Transition T7, sending → in_doubt, never → ready. An owner without a lease in force (by the database clock)
 * may have written the request and died before it recorded the answer.
 *
 * @returns the number of entries that became doubts.
 */
export async function reapLost(db: Database): Promise<number> {
  return countOf(db)`select ledger.reap_lost() as reaped`;
}
