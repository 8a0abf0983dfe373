import { sql, type Transaction } from 'kysely';
import type { KnownErrorDetails } from '../../core/known-error.ts';
import {
  GONE_AFTER,
  type Unit,
  type UnitEnd,
  type UnitKind,
  type UnitPayload,
  type UnitResult,
} from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { execute, rowOf, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/** How long ended units are kept. They are useful only as long as their run is of interest. */
const FORGOTTEN_AFTER = '7 days';

/**
 * A unit that killed its worker this number of times is given up, because it would kill every other worker
 * too.
 */
const ATTEMPTS_AT_MOST = 3;

/** The run that hands out the units. */
export type UnitsOf = { readonly runId: string; readonly owner: string; readonly job: string };

/**
 * Adds units of a run, in the transaction that queues them. @returns their ids, in the order of the payloads.
 */
export async function addUnits(
  trx: Transaction<DB>,
  { runId, owner, job }: UnitsOf,
  { kind, payloads }: { readonly kind: UnitKind; readonly payloads: readonly UnitPayload[] },
): Promise<readonly string[]> {
  const rows = await rowsOf<{ unit_id: string }>(trx)`
    with given as materialized (
      select gen_random_uuid() as unit_id, payload, position
      from jsonb_array_elements(${JSON.stringify(payloads)}::jsonb) with ordinality as p(payload, position)
    ),
    added as (
      insert into ops.work_units (unit_id, run_id, run_owner, job, kind, payload)
      select unit_id, ${runId}::bigint, ${owner}::uuid, ${job}, ${kind}, payload from given
    )
    select unit_id from given order by position`;
  return rows.map(({ unit_id: unitId }) => unitId);
}

/** A unit that a worker has started. */
export type BegunUnit = {
  readonly unit: Unit;
  readonly attempt: number;
  /** Time for which the leases of the run are in force, in milliseconds. */
  readonly runLeaseMs: number;
};

/**
 * Starts an attempt at a unit, which invalidates the attempt of any other worker.
 *
 * @returns null if there is nothing to do: the unit has ended, its run is over, or this call has given it up.
 */
export async function beginUnit(
  db: Database,
  { unitId, workerId }: { readonly unitId: string; readonly workerId: string },
): Promise<BegunUnit | null> {
  const row = await rowOf<{
    run_id: string;
    job: string;
    kind: UnitKind;
    payload: UnitPayload;
    attempt: number;
    state: string;
    run_lease_ms: string;
  }>(db)`
    update ops.work_units u
    set attempt = u.attempt + 1, worker_id = ${workerId}::uuid, begun_at = clock_timestamp(), seen_at = clock_timestamp(),
      state = case when u.attempt < ${ATTEMPTS_AT_MOST} then 'open' else 'given_up' end,
      ended_at = case when u.attempt < ${ATTEMPTS_AT_MOST} then null else clock_timestamp() end
    where u.unit_id = ${unitId}::uuid and u.state in ('open', 'returned') and u.is_wanted and ${isRunAlive}
    returning u.run_id, u.job, u.kind, u.payload, u.attempt, u.state, ${runLeaseMs} as run_lease_ms`;
  if (row === undefined || row.state !== 'open') return null;
  const { run_id: runId, job, kind, payload, attempt, run_lease_ms: leaseMs } = row;
  return { unit: { unitId, runId, job, kind, payload }, attempt, runLeaseMs: Number(leaseMs) };
}

/** SQL condition: the process of the run is alive. Without it, the result of a unit is useless. */
const isRunAlive = sql<boolean>`
  exists (select from ops.leases l where l.owner = u.run_owner and l.expires_at > clock_timestamp())`;

/** SQL: the time for which the leases of the run are in force, in milliseconds. Null if they are not. */
const runLeaseMs = sql<string | null>`
  (select extract(epoch from max(l.expires_at) - clock_timestamp()) * 1000 from ops.leases l
   where l.owner = u.run_owner and l.expires_at > clock_timestamp())`;

/** The attempt that may still report on a unit. */
export type UnitAttempt = { readonly unitId: string; readonly attempt: number };

/**
 * Reports the progress of a unit.
 *
 * @returns the time for which the leases of the run are in force, in milliseconds. Null if the unit must be
 * abandoned: it was cancelled or taken over, or its run is over.
 */
export async function keepUnit(
  db: Database,
  { unitId, attempt, done }: UnitAttempt & { readonly done: number },
): Promise<number | null> {
  const row = await rowOf<{ is_wanted: boolean; run_lease_ms: string | null }>(db)`
    update ops.work_units u set done = ${done}::bigint, seen_at = clock_timestamp()
    where u.unit_id = ${unitId}::uuid and u.attempt = ${attempt} and u.state = 'open' and ${isRunAlive}
    returning u.is_wanted, ${runLeaseMs} as run_lease_ms`;
  return row?.is_wanted === true && row.run_lease_ms !== null ? Number(row.run_lease_ms) : null;
}

/** The result with which a worker ends a unit. */
export type UnitOutcome =
  | { readonly state: 'done'; readonly outcome: UnitResult }
  | { readonly state: 'failed'; readonly outcome: KnownErrorDetails }
  /** The worker stops, and another worker continues. It does not count as an attempt. */
  | { readonly state: 'returned'; readonly outcome: null };

/** Ends a unit, unless it was cancelled or taken over in the meantime. */
export async function endUnit(
  db: Database,
  { unitId, attempt, done, state, outcome }: UnitAttempt & UnitOutcome & { readonly done: number },
): Promise<void> {
  await execute(db)`
    update ops.work_units
    set state = ${state}, done = ${done}::bigint, result = ${outcome === null ? null : JSON.stringify(outcome)}::jsonb,
      attempt = attempt - case when ${state} = 'returned' then 1 else 0 end, ended_at = clock_timestamp()
    where unit_id = ${unitId}::uuid and attempt = ${attempt} and state = 'open'`;
}

/** The state of a unit, as seen by the run that handed it out. */
export type SeenUnit = {
  readonly unitId: string;
  readonly attempt: number;
  readonly done: number;
  /** Null while a worker performs the unit or will do so. */
  readonly end: Exclude<UnitEnd, { readonly kind: 'left' }> | null;
  /** True if its worker has returned it. */
  readonly isReturned: boolean;
  /** True if no worker performs it or will do so. */
  readonly isOver: boolean;
};

/** Reads the state of units. */
export async function readUnits(db: Database, unitIds: readonly string[]): Promise<readonly SeenUnit[]> {
  const rows = await rowsOf<{
    unit_id: string;
    state: string;
    attempt: number;
    done: string;
    outcome: unknown;
    wanted: boolean;
    gone: boolean;
  }>(db)`
    select unit_id, state, attempt, done, result as outcome, is_wanted as wanted,
      coalesce(seen_at < clock_timestamp() - ${GONE_AFTER}::interval, true) as gone
    from ops.work_units
    where unit_id = any(${[...unitIds]}::uuid[])`;
  return rows.map(({ unit_id: unitId, state, attempt, done, outcome, wanted, gone }) => ({
    unitId,
    attempt,
    done: Number(done),
    end: toEnd(state, outcome),
    isReturned: state === 'returned' && wanted,
    isOver: state === 'cancelled' || (!wanted && (state === 'returned' || gone)),
  }));
}

function toEnd(state: string, outcome: unknown): SeenUnit['end'] {
  if (state === 'done') return { kind: 'done', result: outcome as UnitResult };
  if (state === 'failed') return { kind: 'failed', problem: outcome as KnownErrorDetails };
  if (state !== 'given_up') return null;
  return { kind: 'given_up', message: `Its worker ended without a result ${ATTEMPTS_AT_MOST} times.` };
}

/**
 * Reopens units that workers have returned, in the transaction that queues them. @returns the units that the
 * caller must queue.
 */
export async function reopenUnits(
  trx: Transaction<DB>,
  unitIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await rowsOf<{ unit_id: string }>(trx)`
    update ops.work_units set state = 'open', worker_id = null, ended_at = null
    where unit_id = any(${[...unitIds]}::uuid[]) and state = 'returned' and is_wanted
    returning unit_id`;
  return rows.map(({ unit_id: unitId }) => unitId);
}

/**
 * Cancels units that are no longer wanted. A unit that a worker is performing ends once the worker has
 * noticed, within a second or two, and has finished its requests in flight.
 */
export async function cancelUnits(db: Database, unitIds: readonly string[]): Promise<void> {
  await execute(db)`
    update ops.work_units
    set is_wanted = false,
      state = case when worker_id is null or state = 'returned' then 'cancelled' else state end,
      ended_at = case when worker_id is null or state = 'returned' then clock_timestamp() else ended_at end
    where unit_id = any(${[...unitIds]}::uuid[]) and state in ('open', 'returned')`;
}

/** Cancels units of runs whose process is gone, and deletes units that ended long ago. */
export async function clearUnits(db: Database): Promise<void> {
  await execute(db)`
    update ops.work_units u set state = 'cancelled', ended_at = clock_timestamp()
    where u.state in ('open', 'returned') and not ${isRunAlive}`;
  await execute(db)`
    delete from ops.work_units where ended_at < clock_timestamp() - ${FORGOTTEN_AFTER}::interval`;
}
