import { sql, type Transaction } from 'kysely';
import type { Backfill, BackfillState, Period } from '../../../src/core/backfill.ts';
import { databaseClock } from '../../../src/db/clock.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import type { GatheredPlan } from './gather-plan.ts';

const COLUMNS = sql`
  b.backfill_id as "backfillId", b.job, b.state, b.plan_hash as "planHash", b.plan, b.run_id as "runId",
  b.requests_per_second as "requestsPerSecond",
  b.concurrency, b.planned_at as "plannedAt", b.approved_by as "approvedBy", b.approved_at as "approvedAt",
  b.problem,
  json_build_object('fromDay', b.from_day::text, 'toDay', b.to_day::text, 'timeZone', b.time_zone) as period`;

export type BackfillFilter = {
  readonly job?: string;
  readonly states?: readonly BackfillState[];
  readonly period?: Period;
  /** `backfillId` of the last row of the previous page. */
  readonly after?: string | null;
  readonly limit?: number;
};

/** Lists backfills, newest first. */
export async function listBackfills(db: Database, filter: BackfillFilter): Promise<readonly Backfill[]> {
  const { job, states, period, after = null, limit } = filter;
  const conditions = [
    sql`true`,
    ...(job === undefined ? [] : [sql`b.job = ${job}`]),
    ...(after === null ? [] : [sql`b.backfill_id < ${after}::bigint`]),
    ...(states === undefined ? [] : [sql`b.state = any(${[...states]}::text[])`]),
    ...(period === undefined
      ? []
      : [
          sql`b.from_day = ${period.fromDay}::date and b.to_day = ${period.toDay}::date and b.time_zone = ${period.timeZone}`,
        ]),
  ];
  return rowsOf<Backfill>(db)`
    select ${COLUMNS} from ops.backfills b where ${sql.join(conditions, sql` and `)}
    order by b.backfill_id desc limit ${limit ?? 1_000}`;
}

/** Reads a backfill. Returns null if it does not exist. */
export async function readBackfill(db: Database, backfillId: string): Promise<Backfill | null> {
  const backfill = await rowOf<Backfill>(db)`
    select ${COLUMNS} from ops.backfills b where b.backfill_id = ${backfillId}::bigint`;
  return backfill ?? null;
}

/** Reads a backfill and locks it until the transaction ends. Returns null if it does not exist. */
export async function lockBackfill(trx: Transaction<DB>, backfillId: string): Promise<Backfill | null> {
  await trx
    .selectFrom('ops.backfills')
    .select('state')
    .where('backfill_id', '=', backfillId)
    .forUpdate()
    .execute();
  return readBackfill(trx, backfillId);
}

/**
 * Stores `planned_orders` as a plan. Replaces earlier plans of the job for the same period that were not
 * executed. @returns the id of the backfill.
 */
export async function storePlan(
  trx: Transaction<DB>,
  { hash, plan }: GatheredPlan,
  options: Pick<Backfill, 'job' | 'period' | 'runId' | 'requestsPerSecond' | 'concurrency'>,
): Promise<string> {
  const { job, period, runId, requestsPerSecond, concurrency } = options;
  await trx
    .updateTable('ops.backfills')
    .set({ state: 'replaced', state_changed_at: databaseClock })
    .where((eb) => eb.and({ job, state: 'planned' }))
    .where('from_day', '=', sql<Date>`${period.fromDay}::date`)
    .where('to_day', '=', sql<Date>`${period.toDay}::date`)
    .execute();
  const { id } = await trx
    .insertInto('ops.backfills')
    .values({
      job,
      state: 'planned',
      from_day: period.fromDay,
      to_day: period.toDay,
      time_zone: period.timeZone,
      plan_hash: hash,
      plan: toJsonParameter(plan),
      run_id: runId,
      requests_per_second: requestsPerSecond,
      concurrency,
    })
    .returning('backfill_id as id')
    .executeTakeFirstOrThrow();
  await execute(trx)`
    insert into ops.backfill_orders (backfill_id, key, source, order_id, body_hash, amount, currency)
    select ${id}::bigint, key, source, order_id, body_hash, amount, currency
    from planned_orders
    where standing = 'to_post'`;
  return id;
}

/** Changes the state of a backfill if it is in one of the given states. @returns true if it was. */
export async function moveBackfill(
  db: Database,
  backfillId: string,
  move: {
    readonly from: readonly BackfillState[];
    readonly to: BackfillState;
    readonly problem?: string | null;
  },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('ops.backfills')
    .set({ state: move.to, problem: move.problem ?? null, state_changed_at: databaseClock })
    .where('backfill_id', '=', backfillId)
    .where('state', 'in', move.from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
