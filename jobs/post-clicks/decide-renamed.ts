import { type RawBuilder, sql, type Transaction } from 'kysely';
import { EXIT } from '../../src/core/exit-code.ts';
import { KnownError } from '../../src/core/known-error.ts';
import type { DB } from '../../src/db/tables.ts';
import { neverSent } from '../../src/ledger/states.ts';

type Renamed = { readonly before: string; readonly now: string; readonly lastDay: string };

/**
 * Stops a run whose new clicks another source has stated before, which the job no longer reads. Clicks are
 * known by their source, because several sources may count the clicks of one day. So the clicks of a renamed
 * source would be added to the totals a second time. Call it once `desired_entries` is filled.
 *
 * @throws KnownError `click_source_renamed` (exit 2).
 */
export async function refuseRenamedSource(
  trx: Transaction<DB>,
  {
    job,
    accountId,
    sources,
  }: { readonly job: string; readonly accountId: string; readonly sources: readonly string[] },
): Promise<void> {
  const same = (name: string): RawBuilder<boolean> =>
    sql`e.details ->> ${sql.lit(name)} is not distinct from d.details ->> ${sql.lit(name)}`;
  const { rows } = await sql<Renamed>`
    with sent_before as materialized (
      select e.source, e.details from ledger.entries e
      where e.account_id = ${accountId} and e.effect is not distinct from 'click' and e.job = ${job}
        and e.source <> all(${[...sources]}::text[]) and not (${neverSent} or e.state = 'rejected')
    )
    select e.source as before, d.source as now, max(d.details ->> 'day') as "lastDay"
    from desired_entries d
    join sent_before e on ${same('target')} and ${same('day')} and ${same('country')}
    where d.body is not null and d.details ->> 'from' = '0'
      and not exists (select from ledger.entries k where k.account_id = ${accountId} and k.effect = 'click' and k.key = d.key)
    group by 1, 2 order by 1, 2 limit 1`.execute(trx);
  const [renamed] = rows;
  if (renamed !== undefined) throw sourceRenamed(job, renamed);
}

function sourceRenamed(job: string, { before, now, lastDay }: Renamed): KnownError {
  return new KnownError({
    code: 'click_source_renamed',
    message: `Source ${now} states clicks of days for which ${job} has posted the clicks of source ${before}, which it no longer reads.`,
    help: `If you renamed the source, change its name back to ${before}. If ${now} counts other clicks, set jobs.${job}.start_date to a day after ${lastDay}.`,
    safe: 'Nothing was sent, because the service would add the same clicks again.',
    exitCode: EXIT.configuration,
  });
}
