import { sql, type Transaction } from 'kysely';
import type { DB } from '../../src/db/tables.ts';

/**
 * Excludes the clicks of sources that the job no longer reads, as `excludeRemovedSources` does with orders.
 * Otherwise clicks without an owner would stay on the list, and those that the service refused would stay open for
 * ever, because no file of the source is read again.
 *
 * Clicks of which some were sent, or wait to be sent, are left alone. If the job reads the source again,
 * `decideClicks` decides anew. The caller holds the job's lock.
 *
 * @param options.sources the sources that the job reads.
 */
export async function excludeRemovedClicks(
  trx: Transaction<DB>,
  { job, sources }: { readonly job: string; readonly sources: readonly string[] },
): Promise<void> {
  await sql`
    with removed as materialized (
      select click_id, source, target, day, country from intake.clicks
      where job = ${job} and source <> all(${[...sources]}::text[]) and outcome <> 'excluded'
    ),
    kept as materialized (
      select distinct e.source, e.details ->> 'target' as target, (e.details ->> 'day')::date as day, e.details ->> 'country' as country
      from ledger.entries e
      where e.effect is not distinct from 'click' and e.job = ${job} and e.source = any (array(select distinct source from removed))
        and e.state <> 'rejected'
    )
    update intake.clicks c
    set outcome = 'excluded', reason = 'source_removed', matched_by = null, target = null, owner_handle = null, owner_deal_id = null,
        owner_collab_id = null, decided_at = now()
    from removed r
    where c.click_id = r.click_id and not exists (
      select from kept k where k.source = r.source and k.target = r.target and k.day = r.day and k.country = r.country)`.execute(
    trx,
  );
}
