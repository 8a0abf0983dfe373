import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/** Writes down how complete the mirror is after this publication, by how deals were discovered and in all. */
export async function countCoverage(
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
             else 'stale' end as standing
      from mirror.known_deals),
    counted as (
      select coalesce(first_way, 'all') as way, count(*) as known,
        count(*) filter (where standing = 'fresh') as fresh, count(*) filter (where standing = 'stale') as stale,
        count(*) filter (where standing = 'unread') as unread, count(*) filter (where standing = 'failing') as failing,
        count(*) filter (where standing = 'deleted') as deleted,
        min(read_at) filter (where standing <> 'deleted') as oldest_read_at, max(read_at) as newest_read_at
      from deals group by grouping sets ((first_way), ())),
    also as (
      select way, count(*) as deals from deals cross join lateral unnest(ways[2:]) way where cardinality(ways) > 1 group by way)
    insert into mirror.coverage
      (run_id, way, known, also_known, fresh, stale, unread, failing, deleted, oldest_read_at, newest_read_at)
    select ${runId}::bigint, way, coalesce(known, 0), coalesce(deals, 0), coalesce(fresh, 0), coalesce(stale, 0), coalesce(unread, 0),
      coalesce(failing, 0), coalesce(deleted, 0), oldest_read_at, newest_read_at
    from counted full join also using (way)`.execute(trx);
}
