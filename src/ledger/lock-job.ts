import type { Transaction } from 'kysely';
import { execute } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';

/**
 * Locks a job until the transaction ends, so that only one transaction at a time decides about its orders. A
 * run holds the job's lease, but the start and the end of a backfill do not wait for a run that posts.
 *
 * The lock is a row lock for two reasons. It belongs to the transaction and not to the session, so it works
 * behind a connection pooler. And only a role that may write to schema `ops` can take it, whereas any role
 * can take an advisory lock.
 */
export async function lockJob(trx: Transaction<DB>, job: string): Promise<void> {
  // Waits if another transaction has just inserted the row.
  await execute(trx)`insert into ops.job_locks (job) values (${job}) on conflict do nothing`;
  await execute(trx)`select from ops.job_locks where job = ${job} for update`;
}
