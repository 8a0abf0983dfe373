import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { execute, finds, rowOf } from '../../db/statement.ts';

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
  { job, requestedBy }: { readonly job: string; readonly requestedBy: string },
): Promise<RunRequest> {
  const now = await rowOf<{ is_paused: boolean; is_under_way: boolean; is_served: boolean }>(trx)`
    select exists (select from ops.paused_jobs p where p.job = ${job}) as is_paused,
      exists (select from ops.slots s where s.job = ${job} and not s.is_settled and s.state <> 'waiting')
        or exists (select from ops.leases l where l.name = 'job:' || ${job} and l.expires_at > clock_timestamp()) as is_under_way,
      exists (select from ops.leases l where starts_with(l.name, 'serve:') and l.expires_at > clock_timestamp()) as is_served`;
  if (now?.is_paused === true) return { kind: 'paused' };
  if (now?.is_under_way === true) return { kind: 'under_way' };
  if (now?.is_served !== true) return { kind: 'nobody_serves' };
  // A slot is identified by its instant, which JavaScript represents in milliseconds.
  const requested = await rowOf<{ slot: Date }>(trx)`
    insert into ops.slots (job, slot, state, requested_by)
    values (${job}, date_trunc('milliseconds', clock_timestamp()), 'due', ${maskAddresses(requestedBy)})
    on conflict do nothing returning slot`;
  return requested === undefined ? { kind: 'under_way' } : { kind: 'requested', slot: requested.slot };
}

/**
 * Pauses a job: its slots are skipped from now on. An active run continues. @returns false if it is already
 * paused.
 */
export async function pauseJob(
  trx: DatabaseTransaction,
  { job, pausedBy, reason }: { readonly job: string; readonly pausedBy: string; readonly reason: string },
): Promise<boolean> {
  return finds(trx)`
    insert into ops.paused_jobs (job, paused_by, reason) values (${job}, ${maskAddresses(pausedBy)}, ${maskAddresses(reason)})
    on conflict do nothing returning 1`;
}

/** Resumes a job: its slots are run again, from the next one on. @returns false if it is not paused. */
export async function resumeJob(trx: DatabaseTransaction, job: string): Promise<boolean> {
  return (await execute(trx)`delete from ops.paused_jobs where job = ${job}`) > 0;
}
