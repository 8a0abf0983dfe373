import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/**
 * Lets one transaction at a time decide about the orders of a job, until it ends: a run holds the job's lease, but the start and the end
 * of a backfill do not wait for a run that posts.
 *
 * A row is locked, for two reasons: the lock belongs to the transaction and not to the session, so it works behind a pooler; and only a
 * role that may write to schema `ops` can take it, whereas every role can take an advisory lock.
 */
export async function lockJob(trx: Transaction<DB>, job: string): Promise<void> {
  // Waits for another transaction that has just inserted the row.
  await sql`insert into ops.job_locks (job) values (${job}) on conflict do nothing`.execute(trx);
  await sql`select from ops.job_locks where job = ${job} for update`.execute(trx);
}
