import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/**
 * Lets one transaction at a time decide about the orders of a job, until it ends: a run holds the job's lease, but the start and the end
 * of a backfill do not wait for a run that posts. A lock of the transaction, not of the session, so that it works behind a pooler.
 */
export async function lockJob(trx: Transaction<DB>, job: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('influencer-sync decides about ' || ${job}::text, 0))`.execute(
    trx,
  );
}
