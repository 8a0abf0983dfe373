import type { Transaction } from 'kysely';
import { execute } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';

/** The reason of these decisions. `isRefusedAndGone` knows attributed clicks by it, too. */
const SOURCE_REMOVED = 'source_removed';

/**
 * Excludes the clicks of sources that the job no longer reads, as `excludeRemovedSources` does with orders.
 * Otherwise clicks without an owner would stay on the list, and those that the service refused would stay open for
 * ever, because no file of the source is read again.
 *
 * Clicks of which some were sent, or wait to be sent, stay attributed, with the reason `source_removed`: an increase
 * that the service refused is closed by it. If the job reads the source again, `decideClicks` decides anew. The caller
 * holds the job's lock.
 *
 * @param options.sources the sources that the job reads.
 */
export async function excludeRemovedClicks(
  trx: Transaction<DB>,
  { job, sources }: { readonly job: string; readonly sources: readonly string[] },
): Promise<void> {
  await execute(trx)`
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
    set outcome = d.outcome, reason = ${SOURCE_REMOVED}, decided_at = now(),
        matched_by = case when d.is_kept then c.matched_by end, target = case when d.is_kept then c.target end,
        owner_handle = case when d.is_kept then c.owner_handle end, owner_deal_id = case when d.is_kept then c.owner_deal_id end,
        owner_collab_id = case when d.is_kept then c.owner_collab_id end
    from (
      select r.click_id, k.target is not null as is_kept, case when k.target is null then 'excluded' else 'attributed' end as outcome
      from removed r left join kept k using (source, target, day, country)
    ) d
    where c.click_id = d.click_id and (c.outcome <> d.outcome or c.reason is distinct from ${SOURCE_REMOVED})`;
}
