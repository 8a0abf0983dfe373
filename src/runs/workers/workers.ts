import { GONE_AFTER, type UnitKind, type WorkerSeen } from '../../core/work.ts';
import { databaseClock } from '../../db/clock.ts';
import { countOf, type Database, execute } from '../../db/statement.ts';

/** How often a worker gives a sign of life. */
export const SIGN_OF_LIFE_MS = 5_000;
const FORGOTTEN_AFTER = '1 day';

export type WorkerIdentity = Pick<WorkerSeen, 'workerId' | 'host' | 'pid' | 'version' | 'concurrency'> & {
  readonly kinds: readonly UnitKind[];
};

/** Adds a worker to the registry, or records its sign of life. */
export async function keepWorker(db: Database, worker: WorkerIdentity): Promise<void> {
  const { workerId, host, pid, version, kinds, concurrency } = worker;
  await execute(db)`
    with forgotten as (
      delete from ops.workers
      where seen_at < clock_timestamp() - ${FORGOTTEN_AFTER}::interval and worker_id <> ${workerId}::uuid
    )
    insert into ops.workers as w (worker_id, host, pid, version, kinds, concurrency)
    values (${workerId}::uuid, ${host}, ${pid}, ${version}, ${[...kinds]}::text[], ${concurrency})
    on conflict (worker_id) do update set seen_at = clock_timestamp()`;
}

/** Records that a worker stops and begins no more units, so that no run counts on it. */
export async function drainWorker(db: Database, workerId: string): Promise<void> {
  const drained = db.updateTable('ops.workers').set({ draining_since: databaseClock });
  await drained.where('worker_id', '=', workerId).execute();
}

/** Removes a worker that ends from the registry. */
export async function removeWorker(db: Database, workerId: string): Promise<void> {
  await db.deleteFrom('ops.workers').where('worker_id', '=', workerId).execute();
}

/** Number of units of a kind that all live workers together can do at a time. */
export async function countWorkerConcurrency(db: Database, kind: UnitKind): Promise<number> {
  return countOf(db)`
    select coalesce(sum(concurrency), 0) as places from ops.workers
    where ${kind} = any(kinds) and draining_since is null
      and seen_at > clock_timestamp() - ${GONE_AFTER}::interval`;
}
