import { sql } from 'kysely';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { rowOf } from '../../db/statement.ts';

/** Changes of a job's schedule by a person. The processes that run the jobs read them from the database. */

export type RunRequest =
  /** The next poll of a process that serves starts the run. */
  | { readonly kind: 'requested'; readonly slot: Date }
  /** A slot of the job is due or running, so another one would only run it twice. */
  | { readonly kind: 'under_way' }
  | { readonly kind: 'paused' }
  /**
   * No process serves, so no run would start now. A run that starts days later is not what the person
   * requested.
   */
  | { readonly kind: 'nobody_serves' };

/**
 * Requests a run of a job now, as a slot in addition to its schedule. Jobs that follow the job do not follow
 * such a slot.
 */
export async function requestRun(
  trx: DatabaseTransaction,
  { job, requestedBy }: { job: string; requestedBy: string },
): Promise<RunRequest> {
  const now = await rowOf<{ is_paused: boolean; is_under_way: boolean; is_served: boolean }>(trx)`
    select exists (select from ops.paused_jobs p where p.job = ${job}) as is_paused,
      exists (select from ops.slots s where s.job = ${job} and not s.is_settled and s.state <> 'waiting')
        or exists (select from ops.leases l
          where l.name = 'job:' || ${job} and l.expires_at > clock_timestamp()) as is_under_way,
      exists (select from ops.leases l
        where starts_with(l.name, 'serve:') and l.expires_at > clock_timestamp()) as is_served`;
  if (now?.is_paused === true) return { kind: 'paused' };
  if (now?.is_under_way === true) return { kind: 'under_way' };
  if (now?.is_served !== true) return { kind: 'nobody_serves' };
  // A slot is identified by its instant, which JavaScript represents in milliseconds.
  const slot = sql<Date>`date_trunc('milliseconds', clock_timestamp())`;
  const requested = await trx
    .insertInto('ops.slots')
    .values({ job, slot, state: 'due', requested_by: maskAddresses(requestedBy) })
    .onConflict((known) => known.doNothing())
    .returning('slot')
    .executeTakeFirst();
  return requested === undefined ? { kind: 'under_way' } : { kind: 'requested', slot: requested.slot };
}

/**
 * Pauses a job: its slots are skipped from now on. An active run continues. @returns false if it is already
 * paused.
 */
export async function pauseJob(
  trx: DatabaseTransaction,
  { job, pausedBy, reason }: { job: string; pausedBy: string; reason: string },
): Promise<boolean> {
  const paused = await trx
    .insertInto('ops.paused_jobs')
    .values({ job, paused_by: maskAddresses(pausedBy), reason: maskAddresses(reason) })
    .onConflict((known) => known.doNothing())
    .executeTakeFirst();
  return Number(paused.numInsertedOrUpdatedRows) > 0;
}

/** Resumes a job: its slots are run again, from the next one on. @returns false if it is not paused. */
export async function resumeJob(trx: DatabaseTransaction, job: string): Promise<boolean> {
  const resumed = await trx.deleteFrom('ops.paused_jobs').where('job', '=', job).executeTakeFirst();
  return resumed.numDeletedRows > 0;
}
