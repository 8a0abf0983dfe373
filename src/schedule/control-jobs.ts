import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { maskAddresses } from '../model/text/mask-addresses.ts';

/** What a person may say about a job's schedule; whoever runs the jobs finds it in the database. */

export type RunRequest =
  /** The next look of a process that serves begins it. */
  | { readonly kind: 'requested'; readonly slot: Date }
  /** A slot of the job is due or running: another one would only run it twice. */
  | { readonly kind: 'under_way' }
  | { readonly kind: 'paused' }
  /** Nobody would begin it now, and a run that begins days later is not what was asked for. */
  | { readonly kind: 'nobody_serves' };

/** Asks for a run of a job now, as a slot beside its schedule. Jobs that follow it do not follow such a slot. */
export async function requestRun(
  trx: DatabaseTransaction,
  { job, requestedBy }: { readonly job: string; readonly requestedBy: string },
): Promise<RunRequest> {
  const { rows: states } = await sql<{ is_paused: boolean; is_under_way: boolean; is_served: boolean }>`
    select exists (select from ops.paused_jobs p where p.job = ${job}) as is_paused,
      exists (select from ops.slots s where s.job = ${job} and not s.is_settled and s.state <> 'waiting')
        or exists (select from ops.leases l where l.name = 'job:' || ${job} and l.expires_at > clock_timestamp()) as is_under_way,
      exists (select from ops.leases l where starts_with(l.name, 'serve:') and l.expires_at > clock_timestamp()) as is_served`.execute(
    trx,
  );
  const [now] = states;
  if (now?.is_paused === true) return { kind: 'paused' };
  if (now?.is_under_way === true) return { kind: 'under_way' };
  if (now?.is_served !== true) return { kind: 'nobody_serves' };
  // A slot is known by its instant, which JavaScript knows to the millisecond.
  const { rows } = await sql<{ slot: Date }>`
    insert into ops.slots (job, slot, state, requested_by)
    values (${job}, date_trunc('milliseconds', clock_timestamp()), 'due', ${maskAddresses(requestedBy)})
    on conflict do nothing returning slot`.execute(trx);
  const [requested] = rows;
  return requested === undefined ? { kind: 'under_way' } : { kind: 'requested', slot: requested.slot };
}

/** Lets the slots of a job be skipped from now on. A run that is at work goes on. @returns false where it is paused already. */
export async function pauseJob(
  trx: DatabaseTransaction,
  { job, pausedBy, reason }: { readonly job: string; readonly pausedBy: string; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql`
    insert into ops.paused_jobs (job, paused_by, reason) values (${job}, ${maskAddresses(pausedBy)}, ${maskAddresses(reason)})
    on conflict do nothing returning 1`.execute(trx);
  return rows.length > 0;
}

/** Lets the slots of a job be run again, from the next one on. @returns false where it is not paused. */
export async function resumeJob(trx: DatabaseTransaction, job: string): Promise<boolean> {
  const { rows } = await sql`delete from ops.paused_jobs where job = ${job} returning 1`.execute(trx);
  return rows.length > 0;
}
