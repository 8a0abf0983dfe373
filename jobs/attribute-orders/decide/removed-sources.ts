import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute, rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';

/** The reason of these decisions. It is also the rule by which their files count as decided. */
const SOURCE_REMOVED = 'source_removed';

/**
 * Excludes the orders of sources that the job no longer reads, for example because a source was renamed and now
 * states the same orders under its new name. Otherwise its codes without an owner would count twice, and
 * orders that the service refused could never be corrected, because no file under the old name is read again.
 *
 * Orders that were sent, or that wait to be sent, are left alone: money moved, or will move, under the old name.
 * If the job reads the source again, it decides anew about its orders. The caller holds the job's lock.
 *
 * @param options.sources the sources that the job reads.
 * @returns the sources that the job no longer reads, and about whose orders it has decided.
 */
export async function excludeRemovedSources(
  trx: Transaction<DB>,
  { job, sources }: { readonly job: string; readonly sources: readonly string[] },
): Promise<readonly string[]> {
  const excluded = sql`
    outcome = 'excluded', reason = ${SOURCE_REMOVED}, matched_by = null, target = null, is_pending = false, decided_at = now()`;
  // The service may refuse an order, or another source withdraw it, long after its file was set aside below.
  await execute(trx)`
    update intake.attributions a set ${excluded}
    where a.entry_id = any (array(
        select e.entry_id from ledger.entries e where e.job = ${job} and e.state = 'rejected' and e.effect = 'referral'
        union all
        select e.entry_id from ledger.entries e
        where e.job = ${job} and not e.is_settled and e.state = 'held' and e.state_reason = 'no_longer_attributed' and e.effect = 'referral'))
      and a.job = ${job} and a.outcome = 'attributed' and a.source <> all(${[...sources]}::text[])`;
  const decided = await sourcesOf(trx, job);
  const removed = decided.filter((source) => !sources.includes(source));
  if (removed.length === 0) return [];
  await execute(trx)`drop table if exists pg_temp.removed_orders, pg_temp.removed_files`;
  await execute(trx)`
    create temporary table removed_files on commit drop as
    select f.source_file_id
    from intake.source_files f
    cross join lateral (
      select d.rules_hash from intake.attributed_files d where d.job = ${job} and d.source_file_id = f.source_file_id limit 1) d
    where f.source = any(${removed}::text[]) and d.rules_hash <> ${SOURCE_REMOVED}`;
  const files = await rowsOf(trx)`select from removed_files limit 1`;
  if (files.length === 0) return removed;
  await execute(trx)`
    create temporary table removed_orders on commit drop as
    select o.source, o.order_id
    from removed_files f
    cross join lateral (
      select o.source, o.order_id from intake.orders o where o.source_file_id = f.source_file_id and o.is_current offset 0) o`;
  await execute(trx)`analyze removed_orders`;
  await execute(trx)`
    update intake.attributions a set ${excluded}
    from removed_orders o
    where a.job = ${job} and a.source = o.source and a.order_id = o.order_id and a.entry_id is null
      and a.source = any (array(select distinct source from removed_orders))
      and a.order_id = any (array(select order_id from removed_orders))`;
  // The new time makes the reports compare these files again.
  await execute(trx)`
    update intake.attributed_files d set rules_hash = ${SOURCE_REMOVED}, attributed_at = now()
    where d.job = ${job} and d.source_file_id in (select source_file_id from removed_files)`;
  return removed;
}

/** Lists the sources of the orders that a job has decided about. Skips from one to the next in the key of the decisions. */
async function sourcesOf(trx: Transaction<DB>, job: string): Promise<readonly string[]> {
  const next = (after: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select min(a.source) as source from intake.attributions a where a.job = ${job} and ${after}`;
  const rows = await rowsOf<{ source: string }>(trx)`
    with recursive s as (
      (${next(sql`true`)})
      union all
      select (${next(sql`a.source > s.source`)}) from s where s.source is not null
    )
    select source from s where source is not null`;
  return rows.map(({ source }) => source);
}
