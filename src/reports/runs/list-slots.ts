import { sql } from 'kysely';
import { type Database, finds, rowOf, rowsOf } from '../../db/statement.ts';
import type { ColumnKey, Having, Page } from '../wanted-rows.ts';
import { jobsOf } from './list-runs.ts';

export type ListedSlot = {
  readonly job: string;
  readonly slot: Date;
  readonly state: string;
  readonly reason: string | null;
  readonly runId: string | null;
  /** Who requested it; null for a slot of the schedule. */
  readonly requestedBy: string | null;
};

export type SlotSummary = {
  readonly job: string;
  /** The latest slot whose time has come. */
  readonly last: ListedSlot;
  /** Counts of the last seven days. */
  readonly missed: number;
  readonly skipped: number;
  readonly failed: number;
};

const columns = sql`s.job, s.slot, s.state, s.reason, s.run_id as "runId", s.requested_by as "requestedBy"`;

/** A `serve` process starts a slot within seconds of its time. A slot that waits longer than this is late. */
const LATE_AFTER = '5 minutes';

/** SQL for the state of a slot as shown: as stored, or `late`. The query must call the slot `s`. */
const shownState = sql<string>`case
  when s.state in ('due', 'waiting') and s.slot < clock_timestamp() - ${LATE_AFTER}::interval then 'late'
  else s.state end`;

/**
 * Lists the slots of all jobs, newest first.
 *
 * @param options.state state as shown, including `late`.
 * @param options.from first day in UTC; `to` is the last one.
 */
export function listSlots(
  db: Database,
  options: Page<ColumnKey<'slot' | 'job'>> & Having<'job' | 'state' | 'from' | 'to'>,
) {
  const { job = null, state = null, from = null, to = null, after = null, limit } = options;
  return rowsOf<ListedSlot>(db)`
    select s.job, s.slot, ${shownState} as state, s.reason, s.run_id as "runId",
      s.requested_by as "requestedBy"
    from ops.slots s
    where (${job}::text is null or s.job = ${job}) and (${state}::text is null or ${shownState} = ${state})
      and (${from}::date is null or s.slot >= ${from}::date::timestamp at time zone 'UTC')
      and (${to}::date is null or s.slot < (${to}::date + 1)::timestamp at time zone 'UTC')
      ${after === null ? sql`` : sql`and (s.slot, s.job) < (${after.slot}::timestamptz, ${after.job}::text)`}
    order by s.slot desc, s.job desc limit ${limit}`;
}

/** A job whose slots are skipped until a person resumes it. */
export type PausedJob = {
  readonly job: string;
  readonly pausedBy: string;
  readonly reason: string;
  readonly pausedAt: Date;
};

export async function listPausedJobs(db: Database): Promise<readonly PausedJob[]> {
  return db
    .selectFrom('ops.paused_jobs')
    .select(['job', 'paused_by as pausedBy', 'reason', 'paused_at as pausedAt'])
    .orderBy('job')
    .execute();
}

export type SlotTrouble = {
  readonly job: string;
  readonly kind: 'late' | 'missed';
  readonly slots: number;
  /** Time of the first one. */
  readonly since: Date;
};

/**
 * Lists slots whose job no process has run: late ones, and those missed since the job's last completed run. A
 * slot that was marked as missed since `told` (by job) counts even if the job has run since, so that it is
 * reported once. A slot that was recorded long after its time, or postponed, is late some minutes after that:
 * a process that starts late begins it within seconds.
 */
export function listUnrunSlots(
  db: Database,
  told: readonly { readonly job: string | null; readonly at: Date }[],
) {
  return rowsOf<SlotTrouble>(db)`
    with told as (
      select t.job, t.at
      from jsonb_to_recordset(${JSON.stringify(told)}::jsonb) as t(job text, at timestamptz)
    )
    select s.job, ${shownState} as kind, count(*)::float8 as slots, min(s.slot) as since
    from ops.slots s
    where s.slot > clock_timestamp() - interval '7 days'
      and ((${shownState} = 'late'
          and greatest(s.created_at, s.not_before) < clock_timestamp() - ${LATE_AFTER}::interval)
        or (s.state = 'missed' and (
        s.settled_at > coalesce((select max(t.at) from told t where t.job = s.job), '-infinity')
        or s.slot > coalesce((
          select r.finished_at from ops.runs r where r.job = s.job and r.status in ('ok', 'issues')
          order by r.run_id desc limit 1), '-infinity'))))
    group by 1, 2 order by 1, 2`;
}

/** @returns true if a process currently runs jobs on schedule. */
export async function isServed(db: Database): Promise<boolean> {
  return finds(db)`
    select from ops.leases where starts_with(name, 'serve:') and expires_at > clock_timestamp() limit 1`;
}

/** Lists slots that failed, were skipped or were missed, newest first. */
export function listSlotTroubles(db: Database, options: { readonly job?: string; readonly limit: number }) {
  const { job = null, limit } = options;
  return rowsOf<ListedSlot>(db)`
    select ${columns} from ops.slots s
    where s.state in ('failed', 'skipped', 'missed') and (${job}::text is null or s.job = ${job})
    order by s.slot desc, s.job limit ${limit}::bigint`;
}

/** Summarises the slots of each job. Jobs without any slot are left out. */
export async function summariseSlots(db: Database): Promise<readonly SlotSummary[]> {
  const rows = await rowsOf<ListedSlot & Omit<SlotSummary, 'job' | 'last'>>(db)`
    select ${columns}, week.missed, week.skipped, week.failed
    from ${jobsOf('ops.slots')} jobs
    cross join lateral (select * from ops.slots l where l.job = jobs.job order by l.slot desc limit 1) s
    cross join lateral (
      select count(*) filter (where w.state = 'missed')::float8 as missed,
        count(*) filter (where w.state = 'skipped')::float8 as skipped,
        count(*) filter (where w.state = 'failed')::float8 as failed
      from ops.slots w where w.job = jobs.job and w.slot > clock_timestamp() - interval '7 days'
    ) week
    order by s.job`;
  return rows.map(({ missed, skipped, failed, ...last }) => ({
    job: last.job,
    last,
    missed,
    skipped,
    failed,
  }));
}

/** Slots of one job in one span with the same state. */
export type SlotGroup = {
  readonly job: string;
  /** Index of the span in the timeline, from 0. */
  readonly span: number;
  /** State as in `ops.slots`, or `late` if the slot should have started by now. */
  readonly state: string;
  readonly slots: number;
  /** The last run of these slots; null if none ran. */
  readonly runId: string | null;
};

/**
 * Counts the slots of some jobs by state, in spans of equal length.
 *
 * @param options.from beginning of the first span.
 * @param options.until end of the last span.
 */
export function readTimeline(
  db: Database,
  options: {
    readonly jobs: readonly string[];
    readonly from: Date;
    readonly until: Date;
    readonly spanSeconds: number;
  },
) {
  const { jobs, from, until, spanSeconds } = options;
  return rowsOf<SlotGroup>(db)`
    select g.job,
      (extract(epoch from g.begins - ${from}::timestamptz) / ${spanSeconds}::integer)::integer as span,
      g.state, g.slots, g."runId"
    from (
      select s.job,
        date_bin(make_interval(secs => ${spanSeconds}::integer), s.slot, ${from}::timestamptz) as begins,
        ${shownState} as state, count(*)::float8 as slots, max(s.run_id) as "runId"
      from ops.slots s
      where s.job = any(${[...jobs]}::text[]) and s.slot >= ${from}::timestamptz
        and s.slot < ${until}::timestamptz
      group by 1, 2, 3) g
    order by 1, 2, 3`;
}

/** The slot for which a run was started. */
export type SlotOfRun = {
  readonly slot: Date;
  readonly attempts: number;
  readonly requestedBy: string | null;
};

/** @returns null for a run that was started by hand. */
export async function findSlotOfRun(db: Database, runId: string): Promise<SlotOfRun | null> {
  const row = await rowOf<SlotOfRun>(db)`
    select s.slot, s.attempts, s.requested_by as "requestedBy"
    from ops.slots s
    where s.run_id = ${runId}::bigint
    limit 1`;
  return row ?? null;
}
