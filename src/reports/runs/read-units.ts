import { type GivenUpUnit, GONE_AFTER, type UnitSubject, type WorkerSeen } from '../../core/work.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/** A unit that a worker has begun. */
export type UnitInHand = UnitSubject & {
  readonly runId: string;
  /** ISO 8601. */
  readonly begunAt: string;
  /** Rows read, orders posted, deals read or customers submitted. */
  readonly done: number;
};

/** A worker of the registry. One that was killed stays in it for a day. */
export type RegisteredWorker = WorkerSeen & {
  /** False if it gave no sign of life for so long that it counts as dead. */
  readonly isAlive: boolean;
  /** The longest running of its units. */
  readonly inHand: readonly UnitInHand[];
};

const SHOWN_UNITS = 5;

/** Lists workers, the live ones first, and the longest running first. */
export function listRegisteredWorkers(db: Database, { limit }: { limit: number }) {
  return rowsOf<RegisteredWorker>(db)`
    select w.worker_id as "workerId", w.host, w.pid, w.version, w.kinds, w.concurrency,
      w.started_at as "startedAt", w.seen_at as "seenAt", w.draining_since as "drainingSince",
      w.seen_at > clock_timestamp() - ${GONE_AFTER}::interval as "isAlive",
      coalesce(u.units, 0)::float8 as units, coalesce(u.in_hand, '[]') as "inHand"
    from ops.workers w
    left join lateral (
      select max(units) as units,
        jsonb_agg(jsonb_build_object('job', job, 'kind', kind, 'runId', run_id::text, 'source',
            payload ->> 'source',
        'backfillId', payload ->> 'backfillId', 'begunAt', begun_at, 'done', done)
        order by begun_at) as in_hand
      from (
        select *, count(*) over () as units from ops.work_units
        where state = 'open' and worker_id = w.worker_id order by begun_at limit ${SHOWN_UNITS}::int) a
    ) u on true
    order by "isAlive" desc, w.started_at, w.worker_id limit ${limit}::int`;
}

export type UnitQueue = {
  readonly kind: string;
  /** Number of units that the live workers together can do at a time. */
  readonly places: number;
  /** Number of units that wait for a worker. Those of runs whose process is gone do not count: nobody begins them. */
  readonly waiting: number;
  /** Since when the oldest of them waits. */
  readonly oldest: Date | null;
  readonly active: number;
  /** Number of failed units that are kept: those of about a week. */
  readonly failed: number;
};

/** Reads the state of the queue of each kind, in the order of `kinds`. */
export function readUnitQueues(db: Database, kinds: readonly string[]) {
  return rowsOf<UnitQueue>(db)`
    with current as (
      select kind, created_at, worker_id is null or state = 'returned'
        or seen_at < clock_timestamp() - ${GONE_AFTER}::interval as is_waiting
      from ops.work_units u
      where state in ('open', 'returned') and is_wanted
        and exists (select from ops.leases l where l.owner = u.run_owner and l.expires_at > clock_timestamp())
    )
    select k.kind,
      (select coalesce(sum(w.concurrency), 0)::float8 from ops.workers w
        where k.kind = any(w.kinds) and w.draining_since is null
          and w.seen_at > clock_timestamp() - ${GONE_AFTER}::interval) as places,
      (select count(*)::float8 from current c where c.kind = k.kind and c.is_waiting) as waiting,
      (select min(c.created_at) from current c where c.kind = k.kind and c.is_waiting) as oldest,
      (select count(*)::float8 from current c where c.kind = k.kind and not c.is_waiting) as active,
      (select count(*)::float8 from ops.work_units u
        where u.kind = k.kind and u.state in ('failed', 'given_up')) as failed
    from unnest(${[...kinds]}::text[]) with ordinality as k (kind, position) order by k.position`;
}

/** Failed units of a run that have the same kind and cause. */
export type FailedUnits = UnitSubject & {
  readonly runId: string;
  /** failed: ended by an error. given_up: it ended its worker several times. */
  readonly state: 'failed' | 'given_up';
  readonly units: number;
  /** When the last of them failed. */
  readonly at: Date;
  /** The error; null if the units were given up. */
  readonly message: string | null;
  /** How to fix it; null if the units were given up. */
  readonly help: string | null;
  /** The worker of one of them, if the registry still has it. */
  readonly host: string | null;
  readonly pid: number | null;
  /** A later run of the job, which does the work; null if there is none yet. */
  readonly laterRunId: string | null;
};

/** Lists failed units, grouped by run, kind and cause, the last ones first. They are kept for about a week. */
export function listFailedUnits(db: Database, { limit }: { limit: number }) {
  return rowsOf<FailedUnits>(db)`
    select f.*, case when later.run_id > f."runId" then later.run_id::text end as "laterRunId", w.host, w.pid,
      f."runId"::text as "runId"
    from (
      select job, kind, run_id as "runId", state, payload ->> 'source' as source,
        payload ->> 'backfillId' as "backfillId",
        result ->> 'message' as message, result ->> 'help' as help, count(*)::float8 as units,
        max(ended_at) as at, (array_agg(worker_id order by ended_at desc))[1] as worker_id
      from ops.work_units where state in ('failed', 'given_up')
      group by 1, 2, 3, 4, 5, 6, 7, 8
      order by max(ended_at) desc, run_id desc, kind limit ${limit}::int
    ) f
    left join ops.workers w using (worker_id)
    left join lateral (
      select max(r.run_id) as run_id
      from ops.runs r
      where r.job = (select g.job from ops.runs g where g.run_id = f."runId")
    ) later on true
    order by f.at desc, f."runId" desc, f.kind`;
}

export type RunUnits = {
  readonly kind: string;
  readonly units: number;
  readonly waiting: number;
  readonly active: number;
  readonly done: number;
  /** Number of units that failed or were given up. */
  readonly failed: number;
  /** Number of units that were no longer wanted. The run did their work, or left it to the next one. */
  readonly cancelled: number;
  /** Rows read, orders posted, deals read or customers submitted. */
  readonly counted: number;
};

/** Adds up the units that a run has handed out. Empty if it did all of its work itself, and a week later. */
export function readRunUnits(db: Database, runId: string) {
  return rowsOf<RunUnits>(db)`
    select kind, count(*)::float8 as units, sum(done)::float8 as counted,
      count(*) filter (where state = 'returned' or (state = 'open' and worker_id is null))::float8 as waiting,
      count(*) filter (where state = 'open' and worker_id is not null)::float8 as active,
      count(*) filter (where state = 'done')::float8 as done,
      count(*) filter (where state in ('failed', 'given_up'))::float8 as failed,
      count(*) filter (where state = 'cancelled')::float8 as cancelled
    from ops.work_units where run_id = ${runId}::bigint group by kind order by min(created_at), kind`;
}

/** Lists live workers, the longest running first. */
export function listWorkers(db: Database) {
  return rowsOf<WorkerSeen>(db)`
    select w.worker_id as "workerId", w.host, w.pid, w.version, w.kinds, w.concurrency,
      w.started_at as "startedAt", w.seen_at as "seenAt", w.draining_since as "drainingSince",
      (select count(*) from ops.work_units u
        where u.state = 'open' and u.worker_id = w.worker_id)::float8 as units
    from ops.workers w where w.seen_at > clock_timestamp() - ${GONE_AFTER}::interval
    order by w.started_at, w.worker_id`;
}

/**
 * Lists units that no worker could complete, of the last run and the last backfill of each job. What an
 * earlier one left undone, the last one has done.
 */
export function listGivenUpUnits(db: Database) {
  return rowsOf<GivenUpUnit>(db)`
    select u.job, u.run_id as "runId", u.kind, u.payload ->> 'source' as source,
      u.payload ->> 'backfillId' as "backfillId", u.ended_at as at
    from ops.work_units u
    where u.state = 'given_up' and u.run_id = (
      select max(r.run_id)
      from ops.runs r
      where r.job = (select g.job from ops.runs g where g.run_id = u.run_id))
    order by u.job, u.ended_at, u.unit_id`;
}

/** Says what a unit of work does, as a phrase after the name of its job: `reading source shop`. */
export function describeUnit({
  kind,
  source,
  backfillId,
}: Pick<UnitSubject, 'kind' | 'source' | 'backfillId'>): string {
  switch (kind) {
    case 'read-source':
      return `reading source ${source}`;
    case 'post-backfill':
      return `posting a share of backfill ${backfillId}`;
    case 'fetch-deals':
      return 'reading a share of the deals';
    case 'submit-batches':
      return 'submitting a share of the customers';
    default:
      return 'posting a share of its orders';
  }
}

/** The command that does what a failed unit left undone, with the reason that the person adds. */
export function commandOfUnit({ job, kind, backfillId }: UnitSubject): string {
  const words = kind === 'post-backfill' ? `backfill resume ${backfillId}` : `run ${job}`;
  return `npx influencer-sync ${words} --reason '…'`;
}
