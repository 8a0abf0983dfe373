import { sql } from 'kysely';
import { errorCode, UNIQUE_VIOLATION } from '../../core/error-code.ts';
import { databaseClock } from '../../db/clock.ts';
import { type Database, execute, rowOf, rowsOf } from '../../db/statement.ts';
import { GONE, PROCESS_GONE } from '../run-record.ts';

/** A slot that this process has claimed. Updates by this process count only while the claim is valid. */
export type ClaimedSlot = {
  readonly job: string;
  readonly slot: Date;
  readonly owner: string;
  readonly attempt: number;
};

/**
 * How the work on a slot ended. `again` means that it was interrupted and is run again after `restMs`.
 * `isLoss` means that its process or the database was lost, which may happen only a limited number of times.
 */
export type SlotEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly restMs: number; readonly isLoss: boolean };

export type SlotEvent = {
  readonly job: string;
  readonly slot: Date;
  /** due, waiting, skipped, missed, running, done or failed; `again` if it was put back. */
  readonly state: string;
  /** Why it is not run or has failed. Null if no reason is needed. */
  readonly reason: string | null;
};

/** A slot that was lost this number of times is not run again, because it may be what kills its processes. */
const LOSSES_AT_MOST = 5;

/**
 * Claims the oldest due slot of a job. Claims nothing if there is none, if the job is paused, if a process
 * runs it, or if the lease of this process has expired by the clock of the database. If several processes try
 * at once, the row and a unique index ensure that only one gets the slot.
 *
 * @param options.leases names of the leases that a run of the job needs. While another process holds one of
 * them, the slot waits.
 */
export async function claimSlot(
  db: Database,
  options: {
    readonly job: string;
    readonly owner: string;
    readonly now: Date;
    readonly leases: readonly string[];
  },
): Promise<ClaimedSlot | null> {
  const { job, owner, now, leases } = options;
  const row = await rowOf<{ slot: Date; attempts: number }>(db)`
    update ops.slots s
    set state = 'running', owner = ${owner}::uuid, attempts = s.attempts + 1, started_at = clock_timestamp(),
      not_before = null,
        reason = null
    where s.job = ${job} and s.state = 'due'
      and s.slot = (
        select d.slot from ops.slots d
        where d.job = ${job} and d.state = 'due' and d.slot <= ${now}
          and (d.not_before is null or d.not_before <= ${now})
        order by d.slot limit 1
      )
      and not exists (select 1 from ops.slots r where r.job = s.job and r.state = 'running')
      and not exists (select 1 from ops.paused_jobs p where p.job = s.job)
      and exists (select 1 from ops.leases l
        where l.owner = ${owner}::uuid and l.expires_at > clock_timestamp())
      and not exists (
        select 1 from ops.leases l where l.name = any(${leases}::text[]) and l.expires_at > clock_timestamp()
      )
    returning s.slot, s.attempts`.catch((error: unknown) => {
    // Another process has just claimed a slot of this job.
    if (errorCode(error) === UNIQUE_VIOLATION) return undefined;
    throw error;
  });
  return row === undefined ? null : { job, slot: row.slot, owner, attempt: row.attempts };
}

/**
 * Records which run works on a slot, before the run does any work. @returns false if the slot no longer
 * belongs to this process.
 */
export async function noteRun(db: Database, claimed: ClaimedSlot, runId: string): Promise<boolean> {
  const noted = await updateClaimed(db, claimed).set({ run_id: runId }).executeTakeFirst();
  return noted.numUpdatedRows > 0;
}

/** Why a slot did not complete. Null if it did. */
export function reasonOf(end: SlotEnd): string | null {
  return end.kind === 'done' ? null : end.reason;
}

/** Settles a slot, or puts it back. Fenced: has no effect if the slot no longer belongs to this process. */
export async function settleSlot(db: Database, claimed: ClaimedSlot, end: SlotEnd, now: Date): Promise<void> {
  const reason = reasonOf(end);
  if (end.kind === 'again') {
    const notBefore = new Date(now.getTime() + end.restMs);
    const losses = sql<number>`losses + ${end.isLoss ? 1 : 0}::integer`;
    const isTooOften = sql`${losses} >= ${LOSSES_AT_MOST}`;
    const state = sql<'failed' | 'due'>`case when ${isTooOften} then 'failed' else 'due' end`;
    const settled_at = sql<Date | null>`case when ${isTooOften} then clock_timestamp() end`;
    await updateClaimed(db, claimed)
      .set({ state, owner: null, reason, losses, not_before: notBefore, settled_at })
      .execute();
    return;
  }
  await updateClaimed(db, claimed)
    .set({ state: end.kind, owner: null, reason, settled_at: databaseClock })
    .execute();
}

/** Updates a slot while it belongs to this process. */
function updateClaimed(db: Database, { job, slot, owner, attempt }: ClaimedSlot) {
  const still = { job, slot, owner, attempts: attempt, state: 'running' } as const;
  return db.updateTable('ops.slots').where((eb) => eb.and(still));
}

/**
 * Releases slots of processes whose lease has expired. If the record of the run shows that it ended, the slot
 * gets its result. Otherwise the slot is due again, unless it was lost too often. A run whose own lease is
 * valid counts as alive, even if the lease of its scheduler has expired.
 *
 * @returns the slots with their new states.
 */
export async function releaseLostSlots(db: Database): Promise<readonly SlotEvent[]> {
  // This comes first: a run that ends at the same time has either ended before this update or cannot end any
  // more. So its slot is done only once.
  await execute(db)`
    update ops.runs r
    set status = 'interrupted', problem = ${GONE}, problem_code = ${PROCESS_GONE},
      finished_at = clock_timestamp()
    from ops.slots s
    where s.state = 'running' and ${isLost} and r.run_id = s.run_id and r.status = 'running'`;
  return rowsOf<SlotEvent>(db)`
    with lost as (
      select s.job, s.slot, s.owner,
        case
          when r.status in ('ok', 'issues') then 'done'
          when r.status = 'failed' then 'failed'
          when s.losses + 1 >= ${LOSSES_AT_MOST} then 'failed'
          else 'due'
        end as becomes,
        case
          when r.status in ('ok', 'issues') then null
          when r.status = 'failed' then coalesce(split_part(r.problem, E'\\n', 1), 'its run failed')
          else ${GONE}
        end as why
      from ops.slots s left join ops.runs r on r.run_id = s.run_id
      where s.state = 'running' and ${isLost}
      for update of s
    )
    update ops.slots s
    set state = lost.becomes, owner = null, reason = lost.why, losses = s.losses + 1,
        settled_at = case when lost.becomes <> 'due' then clock_timestamp() end
    from lost
    where s.job = lost.job and s.slot = lost.slot and s.state = 'running' and s.owner = lost.owner
    returning s.job, s.slot, s.state, s.reason`;
}

/**
 * SQL condition: according to the leases, neither the process that claimed slot `s` nor a run of its job is
 * alive.
 */
const isLost = sql`
  not exists (
    select 1 from ops.leases l
    where (l.owner = s.owner or l.name = 'job:' || s.job) and l.expires_at > clock_timestamp())`;

/**
 * Settles slots of a job that wait for the job before it. They become due once that job is done. They are
 * skipped if it did not succeed, if this job is paused, or if this job is active and does not queue.
 *
 * @returns the slots with their new states.
 */
export async function settleWaiting(
  db: Database,
  options: { readonly job: string; readonly after: string; readonly overlap: 'skip' | 'queue' },
): Promise<readonly SlotEvent[]> {
  const { job, after, overlap } = options;
  return rowsOf<SlotEvent>(db)`
    with followed as (
      select w.slot, b.state as outcome,
        ${overlap} = 'skip' and (
          exists (select 1 from ops.leases l
            where l.name = 'job:' || ${job} and l.expires_at > clock_timestamp())
          or exists (select 1 from ops.slots r where r.job = ${job} and r.state = 'running')
        ) as is_busy,
        exists (select 1 from ops.paused_jobs p where p.job = w.job) as is_paused
      from ops.slots w join ops.slots b on b.job = ${after} and b.slot = w.slot
      where w.job = ${job} and w.state = 'waiting' and b.is_settled
    )
    update ops.slots s
    set state = case when outcome = 'done' and not is_busy and not is_paused then 'due' else 'skipped' end,
        reason = case
          when outcome <> 'done' then 'the slot of ' || ${after} || ' that it follows was ' || outcome
          when is_paused then 'the job is paused'
          when is_busy then 'the job was still running (overlap: skip)'
        end,
        settled_at = case when outcome = 'done' and not is_busy and not is_paused then null
          else clock_timestamp() end
    from followed
    where s.job = ${job} and s.slot = followed.slot and s.state = 'waiting'
    returning s.job, s.slot, s.state, s.reason`;
}
