import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/**
 * Transition T7, sending → in_doubt, never → ready. An owner without a lease in force (by the database clock)
 * may have written the request and died before it recorded the answer.
 *
 * @returns the number of entries that became doubts.
 */
export async function reapLost(db: Database): Promise<number> {
  const { rows } = await sql<{ reaped: string }>`select ledger.reap_lost() as reaped`.execute(db);
  return Number(rows[0]?.reaped ?? 0);
}
