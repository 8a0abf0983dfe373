import { sql } from 'kysely';
import { type GivenUpUnit, GONE_AFTER, type WorkerSeen } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';

/** Lists live workers, the longest running first. */
export async function listWorkers(db: Database): Promise<readonly WorkerSeen[]> {
  const { rows } = await sql<Omit<WorkerSeen, 'units'> & { readonly units: string }>`
    select w.worker_id as "workerId", w.host, w.pid, w.version, w.kinds, w.concurrency, w.started_at as "startedAt", w.seen_at as "seenAt",
      w.draining_since as "drainingSince",
      (select count(*) from ops.work_units u where u.state = 'open' and u.worker_id = w.worker_id) as units
    from ops.workers w where w.seen_at > clock_timestamp() - ${GONE_AFTER}::interval
    order by w.started_at, w.worker_id`.execute(db);
  return rows.map((row) => ({ ...row, units: Number(row.units) }));
}

/**
 * Lists units that no worker could complete, of the last run and the last backfill of each job. What an
 * earlier one left undone, the last one has done.
 */
export async function listGivenUpUnits(db: Database): Promise<readonly GivenUpUnit[]> {
  const { rows } = await sql<GivenUpUnit>`
    select u.job, u.run_id as "runId", u.kind, u.payload ->> 'source' as source, u.payload ->> 'backfillId' as "backfillId", u.ended_at as at
    from ops.work_units u
    where u.state = 'given_up' and u.run_id = (
      select max(r.run_id) from ops.runs r where r.job = (select g.job from ops.runs g where g.run_id = u.run_id))
    order by u.job, u.ended_at, u.unit_id`.execute(db);
  return rows;
}
