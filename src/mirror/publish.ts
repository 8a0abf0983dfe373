import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import { noteDrift } from './note-drift.ts';
import { dropOutdated, endGoneCollaborations, endGoneDeals, stampDeals } from './publish-deals.ts';
import { publishVersions, type RecordCounts, settleListing } from './publish-records.ts';
import { brandShape, collaborationShape, dealflowShape, dealShape } from './record-shapes.ts';

/** The changes of a publication. */
export type Published = {
  readonly brands: RecordCounts;
  readonly dealflows: RecordCounts;
  readonly deals: RecordCounts & {
    /** Deals that could not be read, or were not found for the first time. */
    readonly failed: number;
    /** All requested deals. */
    readonly asked: number;
  };
  readonly collaborations: RecordCounts;
};

export type PublishOptions = {
  readonly runId: string;
  /** The owner of the lease. Nothing is committed once the lease has expired. */
  readonly owner: string;
  /** By the clock of the database. */
  readonly now: Date;
  readonly refreshAfterHours: number;
};

/**
 * Publishes everything that is staged, in one commit with the record of the publication, so that readers see
 * either all of a run or nothing of it. Includes what an earlier run had staged and could not publish.
 *
 * @returns null if this process has lost its lease. Nothing was changed then.
 */
export function publish(db: Database, options: PublishOptions): Promise<Published | null> {
  const { runId } = options;
  return inTransaction(db, async (trx) => {
    // Keeps other processes from staging or publishing in the meantime. The tables are locked in the same
    // order as staging uses them, to avoid a deadlock.
    await sql`
      lock table mirror.staged_listings, mirror.staged, mirror.staged_collaborations in share row exclusive mode`.execute(
      trx,
    );
    await suitPlans(trx);
    await dropOutdated(trx);
    const shapes = [brandShape, dealflowShape, dealShape, collaborationShape] as const;
    for (const shape of shapes) await noteDrift(trx, shape, runId);

    const asked = await countAsked(trx);
    const brands = await publishVersions(trx, brandShape, runId);
    const dealflows = await publishVersions(trx, dealflowShape, runId);
    const deals = await publishVersions(trx, dealShape, runId);
    const collaborations = await publishVersions(trx, collaborationShape, runId);
    const missing = await endGoneDeals(trx);
    const stamped = await stampDeals(trx);
    const published: Published = {
      brands: { ...brands, gone: await settleListing(trx, brandShape) },
      dealflows: { ...dealflows, gone: await settleListing(trx, dealflowShape) },
      deals: {
        ...deals,
        unchanged: stamped.unchanged + deals.unchanged + missing.still,
        gone: missing.gone,
        failed: stamped.failed,
        asked,
      },
      collaborations: { ...collaborations, gone: await endGoneCollaborations(trx) },
    };
    await sql`
      insert into mirror.publications (run_id, counts) values (${runId}::bigint, ${JSON.stringify(published)}::jsonb)`.execute(
      trx,
    );
    await countCoverage(trx, options);
    await sql`delete from mirror.staged_collaborations`.execute(trx);
    await sql`delete from mirror.staged`.execute(trx);
    await sql`delete from mirror.staged_listings`.execute(trx);
    if (await isLeaseHeld(trx, options.owner)) return published;
    throw LEASE_LOST;
  }).catch((error: unknown) => {
    if (error === LEASE_LOST) return null;
    throw error;
  });
}

/** Up to this number of staged rows, index look-ups are faster than scanning the whole history. */
const FEW_ROWS = 1_000;

/**
 * The staging tables fill and empty in every run, so the planner's statistics about them are wrong, and the
 * application role has no privilege to run ANALYZE. The planner would choose a nested loop over all rows.
 * These settings make it use look-ups for few rows and hash joins for many.
 */
async function suitPlans(trx: Transaction<DB>): Promise<void> {
  await sql`
    select set_config('jit', 'off', true), set_config('work_mem', '64MB', true),
      set_config('enable_nestloop', case when records + collaborations > ${FEW_ROWS}::int then 'off' else 'on' end, true)
    from (select count(*) as records from mirror.staged) r,
      (select count(*) as collaborations from mirror.staged_collaborations) c`.execute(trx);
}

async function countAsked(db: Database): Promise<number> {
  const { rows } = await sql<{ asked: string }>`
    select count(*) as asked from mirror.staged where record_kind = 'deal'`.execute(db);
  return Number(rows[0]?.asked ?? 0);
}

/** Thrown to roll back. Never leaves this module. */
const LEASE_LOST = Symbol('the lease is over');

/** Locks the lease until the commit, so that no other process takes it over in between. */
async function isLeaseHeld(db: Database, owner: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ops.leases where owner = ${owner}::uuid and expires_at > clock_timestamp() for update`.execute(
    db,
  );
  return rows.length > 0;
}

/** Records how complete the mirror is after this publication, in total and by how deals were discovered. */
async function countCoverage(
  trx: Transaction<DB>,
  options: { readonly runId: string; readonly now: Date; readonly refreshAfterHours: number },
): Promise<void> {
  const { runId, now, refreshAfterHours } = options;
  await sql`
    with deals as (
      select first_way, ways, read_at, deleted_at,
        case when deleted_at is not null then 'deleted'
             when last_error is not null then 'failing'
             when read_at is null then 'unread'
             when read_at > ${now.toISOString()}::timestamptz - ${refreshAfterHours}::float8 * interval '1 hour' then 'fresh'
             else 'stale' end as freshness
      from mirror.known_deals),
    counted as (
      select coalesce(first_way, 'all') as way, count(*) as known,
        count(*) filter (where freshness = 'fresh') as fresh, count(*) filter (where freshness = 'stale') as stale,
        count(*) filter (where freshness = 'unread') as unread, count(*) filter (where freshness = 'failing') as failing,
        count(*) filter (where freshness = 'deleted') as deleted,
        min(read_at) filter (where freshness <> 'deleted') as oldest_read_at, max(read_at) as newest_read_at
      from deals group by grouping sets ((first_way), ())),
    also as (
      select way, count(*) as deals from deals cross join lateral unnest(ways[2:]) way where cardinality(ways) > 1 group by way)
    insert into mirror.coverage
      (run_id, way, known, also_known, fresh, stale, unread, failing, deleted, oldest_read_at, newest_read_at)
    select ${runId}::bigint, way, coalesce(known, 0), coalesce(deals, 0), coalesce(fresh, 0), coalesce(stale, 0), coalesce(unread, 0),
      coalesce(failing, 0), coalesce(deleted, 0), oldest_read_at, newest_read_at
    from counted full join also using (way)`.execute(trx);
}
