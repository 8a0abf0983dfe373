import { sql, type Transaction } from 'kysely';
import { databaseClock } from '../db/clock.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { countOf, type Database, execute, rowsOf } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { publishVersions, type RecordCounts, settleListing, stagedRecords } from './publish-records.ts';
import {
  brandShape,
  collaborationShape,
  dealflowShape,
  dealShape,
  type RecordShape,
} from './record-shapes.ts';

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
    await execute(trx)`
      lock table mirror.staged_listings, mirror.staged,
      mirror.staged_collaborations in share row exclusive mode`;
    await suitPlans(trx);
    await dropOutdated(trx);
    const shapes = [brandShape, dealflowShape, dealShape, collaborationShape] as const;
    for (const shape of shapes) await noteDrift(trx, shape, runId);

    const asked = await countOf(trx)`select count(*) as asked from mirror.staged where record_kind = 'deal'`;
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
    const publication = { run_id: runId, counts: JSON.stringify(published) };
    await trx.insertInto('mirror.publications').values(publication).execute();
    await countCoverage(trx, options);
    await trx.deleteFrom('mirror.staged_collaborations').execute();
    await trx.deleteFrom('mirror.staged').execute();
    await trx.deleteFrom('mirror.staged_listings').execute();
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
  await execute(trx)`
    select set_config('jit', 'off', true), set_config('work_mem', '64MB', true),
      set_config('enable_nestloop',
        case when records + collaborations > ${FEW_ROWS}::int then 'off' else 'on' end, true)
    from (select count(*) as records from mirror.staged) r,
      (select count(*) as collaborations from mirror.staged_collaborations) c`;
}

/** Thrown to roll back. Never leaves this module. */
const LEASE_LOST = Symbol('the lease is over');

/** Locks the lease until the commit, so that no other process takes it over in between. */
async function isLeaseHeld(db: Database, owner: string): Promise<boolean> {
  const leases = db
    .selectFrom('ops.leases')
    .where('owner', '=', owner)
    .where('expires_at', '>', databaseClock);
  return (await leases.forUpdate().executeTakeFirst()) !== undefined;
}

/** Records how complete the mirror is after this publication, in total and by how deals were discovered. */
async function countCoverage(
  trx: Transaction<DB>,
  options: { readonly runId: string; readonly now: Date; readonly refreshAfterHours: number },
): Promise<void> {
  const { runId, now, refreshAfterHours } = options;
  await execute(trx)`
    with deals as (
      select first_way, ways, read_at, deleted_at,
        case when deleted_at is not null then 'deleted'
             when last_error is not null then 'failing'
             when read_at is null then 'unread'
             when read_at > ${now.toISOString()}::timestamptz - ${refreshAfterHours}::float8
               * interval '1 hour'
               then 'fresh'
             else 'stale' end as freshness
      from mirror.known_deals),
    counted as (
      select coalesce(first_way, 'all') as way, count(*) as known,
        count(*) filter (where freshness = 'fresh') as fresh,
        count(*) filter (where freshness = 'stale') as stale,
        count(*) filter (where freshness = 'unread') as unread,
        count(*) filter (where freshness = 'failing') as failing,
        count(*) filter (where freshness = 'deleted') as deleted,
        min(read_at) filter (where freshness <> 'deleted') as oldest_read_at, max(read_at) as newest_read_at
      from deals group by grouping sets ((first_way), ())),
    also as (
      select way, count(*) as deals
      from deals cross join lateral unnest(ways[2:]) way
      where cardinality(ways) > 1
      group by way)
    insert into mirror.coverage
      (run_id, way, known, also_known, fresh, stale, unread, failing, deleted, oldest_read_at, newest_read_at)
    select ${runId}::bigint, way, coalesce(known, 0), coalesce(deals, 0), coalesce(fresh, 0),
      coalesce(stale, 0), coalesce(unread, 0),
      coalesce(failing, 0), coalesce(deleted, 0), oldest_read_at, newest_read_at
    from counted full join also using (way)`;
}

/**
 * Records how the records that are about to be published differ from their previous versions, and which
 * values could not be read. Call it before `publishVersions`. Only the top-level fields of a record are
 * compared; nested values are compared as a whole.
 */
async function noteDrift(trx: Transaction<DB>, shape: RecordShape, runId: string): Promise<void> {
  const { kind } = shape;
  const table = sql.table(shape.table);
  const key = sql.ref(shape.key);
  const incoming = stagedRecords(kind);
  const pairs = sql`
    select i.id, v.raw as old, i.raw as new
    from ${incoming} i join ${table} v on v.${key} = i.id and v.is_latest and v.row_hash <> i.row_hash`;
  const enter = sql`
    insert into mirror.drift (run_id, record_kind, field, kind, expected, found, records, sample_id)
    select ${runId}::bigint, ${kind}, left(field, 200), d.kind, expected, found, count(*), min(id)`;
  await execute(trx)`
    ${enter} from (
      select p.id, o.key as field, 'type_changed' as kind, jsonb_typeof(o.value) as expected,
        jsonb_typeof(n.value) as found
      from (${pairs}) p cross join lateral jsonb_each(p.old) o
        join lateral jsonb_each(p.new) n on n.key = o.key
      where jsonb_typeof(o.value) <> jsonb_typeof(n.value)
        and 'null' not in (jsonb_typeof(o.value), jsonb_typeof(n.value))) d
    group by field, d.kind, expected, found`;
  // If one deal lacks a field, that deal has changed. Only a field that no deal has any more has vanished.
  await execute(trx)`
    ${enter} from (
      select p.id, o.key as field, 'vanished' as kind, jsonb_typeof(o.value) as expected, null as found
      from (${pairs}) p cross join lateral jsonb_each(p.old) o where not p.new ? o.key) d
    where not exists (select from ${incoming} i where i.raw ? field)
      and not exists (
        select from mirror.staged s join ${table} v on v.${key} = s.record_id and v.is_latest
        where s.record_kind = ${kind} and s.outcome = 'unchanged' and v.raw ? field)
    group by field, d.kind, expected, found`;
  await execute(trx)`
    ${enter} from (
      select i.id, m.field, m.kind, m.expected, m.found
      from ${incoming} i
        cross join lateral jsonb_to_recordset(i.drift) as m(field text, kind text, expected text, found text)
      where i.drift is not null
        and not exists (select from ${table} v
          where v.${key} = i.id and v.is_latest and v.row_hash = i.row_hash)) d
    group by field, d.kind, expected, found`;
}

/** Waiting time of a deal that could not be read. It doubles after each failed run, up to the longest. */
const FIRST_REST = '1 hour';
const LONGEST_REST = '7 days';
/**
 * Waiting time of a deal that is gone. It is still requested, although rarely, because the service may
 * restore it.
 */
const GONE_REST = '7 days';

/**
 * Deletes staged answers that are older than the published ones, and "unchanged" results whose content is no
 * longer published. Both are left by a process that was paused for longer than its lease.
 *
 * @returns the number of deals.
 */
async function dropOutdated(trx: Transaction<DB>): Promise<number> {
  const rows = await rowsOf(trx)`
    delete from mirror.staged s using mirror.known_deals k
    where s.record_kind = 'deal' and k.deal_id = s.record_id
      and (s.fetched_at <= greatest(k.read_at, k.not_found_at)
        or (s.outcome = 'unchanged' and s.answer_hash is distinct from k.answer_hash))
    returning 1`;
  await dropReplacedCollaborations(trx);
  for (const [kind, table, key] of LISTED) {
    await execute(trx)`
      delete from mirror.staged s using ${sql.table(table)} v
      where s.record_kind = ${kind} and v.${sql.ref(key)} = s.record_id and v.is_latest
        and s.fetched_at <= greatest(v.seen_at, v.valid_to)`;
  }
  return rows.length;
}

/**
 * Keeps only the collaborations of the staged deal answers. If several deals contain the same collaboration,
 * the one of the deal that was requested last counts.
 */
async function dropReplacedCollaborations(trx: Transaction<DB>): Promise<void> {
  await execute(trx)`
    delete from mirror.staged_collaborations c
    where not exists (
      select from mirror.staged s
      where s.record_kind = 'deal' and s.outcome = 'read' and s.record_id = c.deal_id
        and s.fetched_at = c.fetched_at)`;
  await execute(trx)`
    update mirror.staged_collaborations c set is_newest = false
    from (
      select collab_id, deal_id, fetched_at,
        row_number() over (partition by collab_id order by fetched_at desc, deal_id) as place
      from mirror.staged_collaborations) o
    where o.place > 1 and (c.collab_id, c.deal_id, c.fetched_at) = (o.collab_id, o.deal_id, o.fetched_at)`;
}

const LISTED = [
  ['brand', 'mirror.brand_versions', 'brand_id'],
  ['dealflow', 'mirror.dealflow_versions', 'dealflow_id'],
] as const;

/**
 * Ends deals, and their collaborations, that the service did not find in two runs. The second result counts
 * only if the run could read another deal, because a wrong base address also answers 404.
 *
 * @returns the number of deals that are gone now, and the number of those that were gone before and still
 * are.
 */
async function endGoneDeals(
  trx: Transaction<DB>,
): Promise<{ readonly gone: number; readonly still: number }> {
  const rows = await rowsOf<{ is_new: boolean }>(trx)`
    update mirror.known_deals k
    set deleted_at = coalesce(k.deleted_at, s.fetched_at), answer_hash = null, failures = 0,
      last_error = null,
        not_before = s.fetched_at + ${GONE_REST}::interval
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome = 'not_found' and s.record_id = k.deal_id
      and k.not_found_at is not null
      and (k.deleted_at is not null
        or exists (select from mirror.staged r
          where r.record_kind = 'deal' and r.outcome in ('read', 'unchanged')))
    returning k.deleted_at = s.fetched_at as is_new`;
  for (const table of ['mirror.deal_versions', 'mirror.collaboration_versions']) {
    await execute(trx)`
      update ${sql.table(table)} v set valid_to = k.not_found_at
      from mirror.known_deals k
      where k.deal_id = v.deal_id and k.deleted_at is not null and v.is_current
        and v.valid_from < k.not_found_at`;
  }
  const gone = rows.filter((row) => row.is_new).length;
  return { gone, still: rows.length - gone };
}

/**
 * Ends collaborations that the list of their deal no longer contains. An answer without such a list, or with
 * an empty list, ends nothing.
 *
 * @returns the number of ended collaborations.
 */
async function endGoneCollaborations(trx: Transaction<DB>): Promise<number> {
  return execute(trx)`
    update mirror.collaboration_versions v set valid_to = s.fetched_at
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome = 'read' and v.deal_id = s.record_id and v.is_current
      and v.valid_from < s.fetched_at
      and exists (select from mirror.staged_collaborations c where c.deal_id = v.deal_id)
      and not exists (select from mirror.staged_collaborations c
        where c.collab_id = v.collab_id and c.deal_id = v.deal_id)`;
}

/**
 * Records the result for each requested deal. @returns the number of unchanged deals, and of deals that could
 * not be read.
 */
async function stampDeals(
  trx: Transaction<DB>,
): Promise<{ readonly unchanged: number; readonly failed: number }> {
  const unchanged = await countOf(trx)`
    with seen as (
      update mirror.known_deals k
      set read_at = s.fetched_at, answer_hash = s.answer_hash, not_found_at = null, deleted_at = null,
        failures = 0, last_error = null,
          not_before = null
      from mirror.staged s
      where s.record_kind = 'deal' and s.outcome in ('read', 'unchanged') and s.record_id = k.deal_id
      returning s.outcome)
    select count(*) filter (where outcome = 'unchanged') as unchanged from seen`;
  const failed = await execute(trx)`
    update mirror.known_deals k
    set failures = k.failures + 1, last_error = s.problem,
        not_found_at = case when s.outcome = 'not_found' then coalesce(k.not_found_at, s.fetched_at)
          else k.not_found_at end,
        not_before = case when s.outcome = 'failed' or k.not_found_at is not null
          then s.fetched_at
            + least(${FIRST_REST}::interval * power(2, least(k.failures, 20)), ${LONGEST_REST}::interval) end
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome in ('not_found', 'failed') and s.record_id = k.deal_id
      and (k.deleted_at is null or s.outcome = 'failed')`;
  return { unchanged, failed };
}
