import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

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
export async function dropOutdated(trx: Transaction<DB>): Promise<number> {
  const { rows } = await sql`
    delete from mirror.staged s using mirror.known_deals k
    where s.record_kind = 'deal' and k.deal_id = s.record_id
      and (s.fetched_at <= greatest(k.read_at, k.not_found_at)
        or (s.outcome = 'unchanged' and s.answer_hash is distinct from k.answer_hash))
    returning 1`.execute(trx);
  await dropReplacedCollaborations(trx);
  for (const [kind, table, key] of LISTED) {
    await sql`
      delete from mirror.staged s using ${sql.table(table)} v
      where s.record_kind = ${kind} and v.${sql.ref(key)} = s.record_id and v.is_latest
        and s.fetched_at <= greatest(v.seen_at, v.valid_to)`.execute(trx);
  }
  return rows.length;
}

/**
 * Keeps only the collaborations of the staged deal answers. If several deals contain the same collaboration,
 * the one of the deal that was requested last counts.
 */
async function dropReplacedCollaborations(trx: Transaction<DB>): Promise<void> {
  await sql`
    delete from mirror.staged_collaborations c
    where not exists (
      select from mirror.staged s
      where s.record_kind = 'deal' and s.outcome = 'read' and s.record_id = c.deal_id and s.fetched_at = c.fetched_at)`.execute(
    trx,
  );
  await sql`
    update mirror.staged_collaborations c set is_newest = false
    from (
      select collab_id, deal_id, fetched_at,
        row_number() over (partition by collab_id order by fetched_at desc, deal_id) as place
      from mirror.staged_collaborations) o
    where o.place > 1 and (c.collab_id, c.deal_id, c.fetched_at) = (o.collab_id, o.deal_id, o.fetched_at)`.execute(
    trx,
  );
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
export async function endGoneDeals(
  trx: Transaction<DB>,
): Promise<{ readonly gone: number; readonly still: number }> {
  const { rows } = await sql<{ is_new: boolean }>`
    update mirror.known_deals k
    set deleted_at = coalesce(k.deleted_at, s.fetched_at), answer_hash = null, failures = 0, last_error = null,
        not_before = s.fetched_at + ${GONE_REST}::interval
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome = 'not_found' and s.record_id = k.deal_id and k.not_found_at is not null
      and (k.deleted_at is not null
        or exists (select from mirror.staged r where r.record_kind = 'deal' and r.outcome in ('read', 'unchanged')))
    returning k.deleted_at = s.fetched_at as is_new`.execute(trx);
  for (const table of ['mirror.deal_versions', 'mirror.collaboration_versions']) {
    await sql`
      update ${sql.table(table)} v set valid_to = k.not_found_at
      from mirror.known_deals k
      where k.deal_id = v.deal_id and k.deleted_at is not null and v.is_current and v.valid_from < k.not_found_at`.execute(
      trx,
    );
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
export async function endGoneCollaborations(trx: Transaction<DB>): Promise<number> {
  const { rows } = await sql`
    update mirror.collaboration_versions v set valid_to = s.fetched_at
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome = 'read' and v.deal_id = s.record_id and v.is_current and v.valid_from < s.fetched_at
      and exists (select from mirror.staged_collaborations c where c.deal_id = v.deal_id)
      and not exists (select from mirror.staged_collaborations c where c.collab_id = v.collab_id and c.deal_id = v.deal_id)
    returning 1`.execute(trx);
  return rows.length;
}

/**
 * Records the result for each requested deal. @returns the number of unchanged deals, and of deals that could
 * not be read.
 */
export async function stampDeals(
  trx: Transaction<DB>,
): Promise<{ readonly unchanged: number; readonly failed: number }> {
  const seen = await sql<{ unchanged: string }>`
    with seen as (
      update mirror.known_deals k
      set read_at = s.fetched_at, answer_hash = s.answer_hash, not_found_at = null, deleted_at = null, failures = 0, last_error = null,
          not_before = null
      from mirror.staged s
      where s.record_kind = 'deal' and s.outcome in ('read', 'unchanged') and s.record_id = k.deal_id
      returning s.outcome)
    select count(*) filter (where outcome = 'unchanged') as unchanged from seen`.execute(trx);
  const failed = await sql`
    update mirror.known_deals k
    set failures = k.failures + 1, last_error = s.problem,
        not_found_at = case when s.outcome = 'not_found' then coalesce(k.not_found_at, s.fetched_at) else k.not_found_at end,
        not_before = case when s.outcome = 'failed' or k.not_found_at is not null
          then s.fetched_at + least(${FIRST_REST}::interval * power(2, least(k.failures, 20)), ${LONGEST_REST}::interval) end
    from mirror.staged s
    where s.record_kind = 'deal' and s.outcome in ('not_found', 'failed') and s.record_id = k.deal_id
      and (k.deleted_at is null or s.outcome = 'failed')
    returning 1`.execute(trx);
  return {
    unchanged: Number(seen.rows[0]?.unchanged ?? 0),
    failed: failed.rows.length,
  };
}
