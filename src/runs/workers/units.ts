import { sql, type Transaction } from 'kysely';
import type { KnownErrorDetails } from '../../core/known-error.ts';
import {
  GONE_AFTER_MS,
  type Unit,
  type UnitEnd,
  type UnitKind,
  type UnitPayload,
  type UnitResult,
} from '../../core/work.ts';
import { anyOf } from '../../db/array-parameters.ts';
import { clockAfter, databaseClock } from '../../db/clock.ts';
import { type Database, execute, rowOf, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/** How long ended units are kept. They are useful only as long as their run is of interest. */
const FORGOTTEN_AFTER_MS = 7 * 86_400_000;

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
  { kind, payloads }: { kind: UnitKind; payloads: readonly UnitPayload[] },
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
  { unitId, workerId }: { unitId: string; workerId: string },
): Promise<BegunUnit | null> {
  const row = await rowOf<Unit & Omit<BegunUnit, 'unit'> & { state: string }>(db)`
    update ops.work_units u
    set attempt = u.attempt + 1, worker_id = ${workerId}::uuid, begun_at = clock_timestamp(),
      seen_at = clock_timestamp(),
      state = case when u.attempt < ${ATTEMPTS_AT_MOST} then 'open' else 'given_up' end,
      ended_at = case when u.attempt < ${ATTEMPTS_AT_MOST} then null else clock_timestamp() end
    where u.unit_id = ${unitId}::uuid and u.state in ('open', 'returned') and u.is_wanted and ${isRunAlive}
    returning u.unit_id as "unitId", u.run_id as "runId", u.job, u.kind, u.payload, u.attempt, u.state,
      ${leaseMsOfRun} as "runLeaseMs"`;
  if (row === undefined) return null;
  const { attempt, runLeaseMs, state, ...unit } = row;
  return state === 'open' ? { unit, attempt, runLeaseMs } : null;
}

/** SQL condition: the process of the run is alive. Without it, the result of a unit is useless. */
const isRunAlive = sql<boolean>`
  exists (select from ops.leases l where l.owner = u.run_owner and l.expires_at > clock_timestamp())`;

/** SQL: the time for which the leases of the run are in force, in milliseconds. Null if they are not. */
const leaseMsOfRun = sql<number | null>`
  (select (extract(epoch from max(l.expires_at) - clock_timestamp()) * 1000)::float8 from ops.leases l
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
  const row = await rowOf<{ isWanted: boolean; runLeaseMs: number | null }>(db)`
    update ops.work_units u set done = ${done}::bigint, seen_at = clock_timestamp()
    where u.unit_id = ${unitId}::uuid and u.attempt = ${attempt} and u.state = 'open' and ${isRunAlive}
    returning u.is_wanted as "isWanted", ${leaseMsOfRun} as "runLeaseMs"`;
  return row?.isWanted === true ? row.runLeaseMs : null;
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
  const result = outcome === null ? null : JSON.stringify(outcome);
  const counted = state === 'returned' ? attempt - 1 : attempt;
  await db
    .updateTable('ops.work_units')
    .set({ state, done, result, attempt: counted, ended_at: databaseClock })
    .where((eb) => eb.and({ unit_id: unitId, attempt, state: 'open' }))
    .execute();
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
  const rows = await db
    .selectFrom('ops.work_units')
    .select(['unit_id as unitId', 'state', 'attempt', 'done', 'result', 'is_wanted as isWanted'])
    .select(sql<boolean>`coalesce(seen_at < ${clockAfter(-GONE_AFTER_MS)}, true)`.as('isGone'))
    .where('unit_id', '=', anyOf(unitIds))
    .execute();
  return rows.map(({ unitId, state, attempt, done, result, isWanted, isGone }) => ({
    unitId,
    attempt,
    done: Number(done),
    end: toEnd(state, result),
    isReturned: state === 'returned' && isWanted,
    isOver: state === 'cancelled' || (!isWanted && (state === 'returned' || isGone)),
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
  const rows = await trx
    .updateTable('ops.work_units')
    .set({ state: 'open', worker_id: null, ended_at: null })
    .where('unit_id', '=', anyOf(unitIds))
    .where((eb) => eb.and({ state: 'returned', is_wanted: true }))
    .returning('unit_id')
    .execute();
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
  await db.deleteFrom('ops.work_units').where('ended_at', '<', clockAfter(-FORGOTTEN_AFTER_MS)).execute();
}
