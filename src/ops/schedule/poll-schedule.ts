import type { Transaction } from 'kysely';
import type { JobTiming } from '../../config/job-fields.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import type { Calendar } from './calendar.ts';

/** A job with its own schedule, and the jobs that follow it directly or indirectly. */
export type Head = {
  readonly job: string;
  readonly timing: Pick<JobTiming, 'catchUp' | 'overlap'>;
  readonly calendar: Calendar;
  readonly followers: readonly string[];
};

/** The stored polling position may lag this much behind, so that most polls write nothing. */
const LAG_MS = 60_000;

/**
 * Records the slots of a job that have come. Does so in one commit while holding a lock on the job's row, so
 * that several processes that poll at once record each slot once.
 *
 * @returns the new slots.
 */
export async function pollSchedule(db: Database, head: Head, now: Date): Promise<readonly PlannedSlot[]> {
  const planned = await pollHead(db, head, now);
  if (head.followers.length > 0) await pollFollowers(db, head, now);
  return planned;
}

async function pollHead(db: Database, head: Head, now: Date): Promise<readonly PlannedSlot[]> {
  const known = await readLookedUntil(db, head.job);
  const lagMs = known === null ? Number.POSITIVE_INFINITY : now.getTime() - known.getTime();
  const hasCome =
    known !== null && (head.calendar.next(known)?.getTime() ?? Number.POSITIVE_INFINITY) <= now.getTime();
  if (!hasCome && Math.abs(lagMs) < LAG_MS) return [];
  return inTransaction(db, (trx) => lookLocked(trx, head, now));
}

async function lookLocked(trx: Transaction<DB>, head: Head, now: Date): Promise<readonly PlannedSlot[]> {
  const { job, calendar, timing } = head;
  // First poll of this job: earlier slots are not due.
  await trx
    .insertInto('ops.schedules')
    .values({ job, looked_until: now })
    .onConflict((known) => known.doNothing())
    .execute();
  const schedule = await rowOf<{ looked_until: Date; is_at_work: boolean; is_paused: boolean }>(trx)`
    select s.looked_until,
      exists (select 1 from ops.leases l where l.name = 'job:' || s.job and l.expires_at > clock_timestamp())
        or exists (select 1 from ops.slots r where r.job = s.job and r.state = 'running') as is_at_work,
      exists (select 1 from ops.paused_jobs p where p.job = s.job) as is_paused
    from ops.schedules s where s.job = ${job} for update of s`;
  if (schedule === undefined) throw new Error('a schedule is gone');
  const lookedUntil = schedule.looked_until;
  if (lookedUntil.getTime() - now.getTime() > LAG_MS) await goBack(trx, head, now);
  else if (lookedUntil.getTime() > now.getTime()) return [];
  const { is_at_work: isAtWork, is_paused: isPaused } = schedule;
  const planned = planSlots({ calendar, timing, lookedUntil, now, isAtWork, isPaused });
  await trx.updateTable('ops.schedules').set({ looked_until: now }).where('job', '=', job).execute();
  if (planned.length > 0) await insertSlots(trx, head, planned);
  return planned;
}

/**
 * Adds the slots of followers that another process did not know when it recorded those of the head, because it has
 * an older configuration. Slots from before a follower was first polled are not due, nor those that a person
 * requested for the head alone.
 */
async function pollFollowers(db: Database, { job, followers }: Head, now: Date): Promise<void> {
  await execute(db)`
    with followers as (select unnest(${followers}::text[]) as job),
    polled as (
      insert into ops.schedules (job, looked_until)
      select f.job, ${now} from followers f where not exists (select from ops.schedules k where k.job = f.job)
      on conflict do nothing
    ), moved as (
      update ops.schedules set looked_until = ${new Date(now.getTime() - ON_TIME_MS)}
      where job = any(${followers}::text[])
        and looked_until < ${new Date(now.getTime() - ON_TIME_MS - LAG_MS)}
    )
    insert into ops.slots (job, slot, state)
    select f.job, s.slot, 'waiting'
    from ops.schedules f join ops.slots s on s.job = ${job} and s.requested_by is null and s.slot <= ${now}
      and s.slot > greatest(f.looked_until, ${new Date(now.getTime() - ON_TIME_MS)})
    where f.job = any(${followers}::text[])
      and not exists (select from ops.slots w where w.job = f.job and w.slot = s.slot)
    on conflict do nothing`;
}

/**
 * The clock of the database was ahead and was corrected. Deletes slots that were recorded too early, except
 * those that were already run.
 */
async function goBack(trx: Transaction<DB>, { job, followers }: Head, now: Date): Promise<void> {
  await trx
    .deleteFrom('ops.slots')
    .where('job', 'in', [job, ...followers])
    .where('slot', '>', now)
    .where('attempts', '=', 0)
    .execute();
}

async function insertSlots(trx: Transaction<DB>, head: Head, planned: readonly PlannedSlot[]): Promise<void> {
  await execute(trx)`
    insert into ops.slots (job, slot, state, reason, settled_at)
    select ${head.job}, p.slot, p.state, p.reason, case when p.state <> 'due' then clock_timestamp() end
    from jsonb_to_recordset(${toJsonParameter(planned)}::jsonb) as p (slot timestamptz, state text,
      reason text)
    on conflict do nothing`;
  if (head.followers.length === 0) return;
  await execute(trx)`
    insert into ops.slots (job, slot, state)
    select f.job, p.slot, 'waiting'
    from jsonb_to_recordset(${toJsonParameter(planned)}::jsonb) as p (slot timestamptz),
      unnest(${head.followers}::text[]) as f (job)
    on conflict do nothing`;
}

async function readLookedUntil(db: Database, job: string): Promise<Date | null> {
  const row = await db
    .selectFrom('ops.schedules')
    .select('looked_until')
    .where('job', '=', job)
    .executeTakeFirst();
  return row?.looked_until ?? null;
}

/** A slot whose time has come, and what happens to it. */
type PlannedSlot = {
  readonly slot: Date;
  readonly state: 'due' | 'skipped' | 'missed';
  /** Why it is not run, in words. Null if it is due. */
  readonly reason: string | null;
};

export type PlanInput = {
  readonly calendar: Calendar;
  readonly timing: Pick<JobTiming, 'catchUp' | 'overlap'>;
  /** Slots up to this instant were already planned. */
  readonly lookedUntil: Date;
  readonly now: Date;
  /** Whether a run of this job is active. */
  readonly isAtWork: boolean;
  /** Whether a person has paused this job. */
  readonly isPaused: boolean;
};

/**
 * If a slot is noticed later than this, no process ran at its time. Restarting the database takes less,
 * restarting a machine takes more.
 */
const ON_TIME_MS = 5 * 60_000;

/** How far back to look for missed slots. Longer than a month, so that a monthly job is always caught up. */
const LOOK_BACK_MS = 35 * 24 * 3_600_000;

/**
 * Decides what happens to the slots that have come since the last poll. It is a pure function, so that tests
 * can use any clock. Usually there is no slot, or one that is due. If there are several, or a late one, no
 * process ran in the meantime, and `catch_up` of the job decides. A slot that is due while the job is active
 * is skipped, unless the job queues its slots.
 */
export function planSlots({
  calendar,
  timing,
  lookedUntil,
  now,
  isAtWork,
  isPaused,
}: PlanInput): readonly PlannedSlot[] {
  const from = new Date(Math.max(lookedUntil.getTime(), now.getTime() - LOOK_BACK_MS));
  const slots = calendar.between(from, now);
  const newest = slots.at(-1);
  if (newest === undefined) return [];
  const isOnTime = now.getTime() - newest.getTime() <= ON_TIME_MS;
  return slots.map((slot): PlannedSlot => {
    const isNewest = slot === newest;
    if (timing.catchUp !== 'all' && !isNewest)
      return {
        slot,
        state: 'missed',
        reason: 'no process ran at its time, and a later slot was due when a process started',
      };
    if (timing.catchUp === 'none' && !isOnTime)
      return { slot, state: 'missed', reason: 'no process ran at its time (catch_up: none)' };
    if (isPaused) return { slot, state: 'skipped', reason: 'the job is paused' };
    if (isAtWork && timing.overlap === 'skip')
      return { slot, state: 'skipped', reason: 'the job was still running (overlap: skip)' };
    return { slot, state: 'due', reason: null };
  });
}
