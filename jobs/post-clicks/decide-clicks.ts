import { type RawBuilder, sql, type Transaction } from 'kysely';
import { ownersOf } from '../../src/codes/owners-of.ts';
import { configurationError } from '../../src/core/known-error.ts';
import { CONFLICTING_STATES } from '../../src/core/source.ts';
import { execute, rowOf, toJsonParameter } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { EXPORTED_AT, latestTime } from '../../src/intake/files/exported-at.ts';
import { isContradicted, type RowTable } from '../../src/intake/files/replace-rows.ts';
import { clickBody, clickKey } from '../../src/ledger/effects/click.ts';
import { createDesiredEntries, neverSent, type Proposed, propose } from '../../src/ledger/propose.ts';

/*
 * The service adds a click to a total and cannot remove it. So the clicks of one influencer, day, source and
 * country are posted as a chain of entries: the first entry posts the clicks stated at that time, and each
 * later entry posts the increase that a newer file states. The key of an entry contains the number of clicks
 * posted before it (`start_at`), so that no click is ever posted twice:
 *
 *   a file states 10        → [target, day, source, country, 0]  posts 10
 *   a later file states 14  → [target, day, source, country, 10] posts 4
 *   a later file states 12  → nothing is sent; an adjustment is recorded
 *
 * An entry that was not sent yet, or was refused, is replaced while it waits: if the first entry had not been
 * sent, it would post 14.
 */

/** What files state about the clicks of a link, code or influencer on a day. Rows of one file are added up. */
export const CLICKS: RowTable = {
  table: 'intake.clicks',
  key: ['subject', 'day', 'country'],
  states: ['clicks'],
  describes: ['written', 'references_folded', 'influencer_handle', 'deal_id', 'collab_id'],
  statedAt: sql`case when c.clicks = excluded.clicks then c.stated_at else now() end`,
  stated: (sourceFileId) => sql`
    select s.subject, s.day, s.country, sum(s.clicks)::bigint as clicks, min(s.written) as written,
      -- Rows of one code may have several links.
      coalesce((
        select array_agg(distinct t.name)
        from jsonb_array_elements(jsonb_agg(r.content -> 'references')) a(refs)
        cross join lateral jsonb_array_elements_text(a.refs) t(name)), '{}') as references_folded,
      min(s.handle) as influencer_handle, min(s.deal) as deal_id,
      min(s.collab) as collab_id, min(r.line_no) as line_no
    from intake.staged_rows r
    cross join lateral (
      select r.content ->> 'subject' as subject, r.content ->> 'written' as written,
        (r.content ->> 'day')::date as day,
        r.content ->> 'country' as country, (r.content ->> 'clicks')::bigint as clicks,
        r.content ->> 'influencerHandle' as handle,
        r.content ->> 'dealId' as deal, r.content ->> 'collabId' as collab) s
    where r.source_file_id = ${sourceFileId}::bigint
    group by s.subject, s.day, s.country`,
};

export type ClickRules = {
  readonly job: string;
  readonly sources: readonly { readonly source: string; readonly timeZone: string | null }[];
  readonly brandId: string;
  /** First day that is posted. Null means all days. */
  readonly startDate: string | null;
};

/**
 * Attributes the clicks of the job's sources: to the influencer that the export names, else to the owner of a
 * code, a link or a handle in what was clicked. If any of these name different creators, the clicks are held. An owner counts if
 * it was valid at any time of that day. Clicks of a day of which some were posted stay with their influencer.
 *
 * @returns the number of click rows whose decision has changed.
 */
export async function decideClicks(trx: Transaction<DB>, rules: ClickRules): Promise<number> {
  const { job, sources, brandId, startDate } = rules;
  return execute(trx)`
    with sources as materialized (
      select * from jsonb_to_recordset(${toJsonParameter(sources)}::jsonb) as s(source text, "timeZone" text)
    ),
    ${ownersOf(job)},
    hits as materialized (
      select c.click_id, o.*, array_position(array['code', 'link', 'handle'], o.owner_of) as rank,
        case
          when o.brand_id <> ${brandId} then 'code_of_other_brand'
          when (c.day::timestamp at time zone coalesce(s."timeZone", 'UTC')) >= o.valid_to then 'code_expired'
          when ((c.day + 1)::timestamp at time zone coalesce(s."timeZone", 'UTC')) <= o.valid_from
            then 'code_not_yet_valid'
        end as fault
      from intake.clicks c
      join sources s on s.source = c.source
      cross join lateral unnest(c.references_folded) as r(folded)
      join owners o on o.folded = case o.owner_of when 'handle' then ltrim(r.folded, '@') else r.folded end
        and (o.link_folded is null or o.link_folded <@ c.references_folded)
    ),
    best as (
      select distinct on (h.click_id) h.*, h2.targets, exists (
          select from hits o where o.click_id = h.click_id and o.rank > h.rank and o.fault is null
          group by o.rank having not bool_or(o.target = h.target)) as is_contradicted
      from hits h
      cross join lateral (
        select count(distinct o.target) as targets from hits o
        where o.click_id = h.click_id and o.rank = h.rank and o.fault is null) h2
      where h.fault is null
      order by h.click_id, h.rank, h.line_no
    ),
    -- A row that names an influencer, beside a code, link or handle of another one, or a deal that another one has.
    named as (
      select c.click_id, c.deal_id, c.collab_id,
        coalesce(c.influencer_handle, w.influencer_handle) as handle,
        ledger.fold_handle(c.influencer_handle) <> ledger.fold_handle(w.influencer_handle) as is_of_another
      from intake.clicks c join sources s on s.source = c.source
      left join reporting.deal_owners w on w.deal_id = reporting.deal_id_of(c.deal_id)
      where coalesce(c.deal_id, c.collab_id, c.influencer_handle) is not null
    ),
    beside as (
      select n.click_id
      from named n join hits h on h.click_id = n.click_id and h.fault is null
      join intake.codes k on k.job = ${job} and k.line_no = h.line_no
      left join reporting.deal_owners w on w.deal_id = reporting.deal_id_of(k.deal_id)
      group by n.click_id, h.rank
      having bool_and(case
        when reporting.deal_id_of(n.deal_id) = reporting.deal_id_of(k.deal_id) or n.collab_id = k.collab_id then false
        else coalesce(
          ledger.fold_handle(n.handle) <> ledger.fold_handle(coalesce(k.influencer_handle, w.influencer_handle)),
          n.deal_id <> k.deal_id, n.collab_id <> k.collab_id, false) end)
    ),
    faults as (select click_id, min(fault) as fault from hits group by click_id),
    decided as (
      select c.click_id, c.source, c.day, c.country,
        case
          when ${isContradicted} then ${CONFLICTING_STATES}
          -- Day and month may be swapped: no run has counted these clicks yet.
          when c.day::timestamp at time zone coalesce(s."timeZone", 'UTC') > ${latestTime(EXPORTED_AT)}
            then 'after_export'
        end as held_as,
        case
          when c.day < ${startDate}::date then 'excluded'
          when n.is_of_another or c.click_id in (select click_id from beside) then 'held'
          when n.click_id is not null then 'attributed'
          when b.targets > 1 or b.is_contradicted then 'held'
          when b.targets = 1 then 'attributed'
          else 'unattributed'
        end as outcome,
        n.click_id is not null as is_explicit, n.is_of_another, b.owner_of,
        b.target, b.targets, t.fault, k.influencer_handle, k.deal_id, k.collab_id, c.influencer_handle as own_handle,
        c.deal_id as own_deal_id, c.collab_id as own_collab_id,
        -- It is part of the keys of what was posted, so its fold never changes.
        coalesce('deal:' || c.deal_id, 'collab:' || c.collab_id,
          'handle:' || lower(ltrim(c.influencer_handle, '@'))) as own_target
      from intake.clicks c join sources s on s.source = c.source
      join intake.source_files f on f.source_file_id = c.source_file_id
      left join named n on n.click_id = c.click_id
      left join best b on b.click_id = c.click_id
      left join intake.codes k on k.job = ${job} and k.line_no = b.line_no
      left join faults t on t.click_id = c.click_id
    ),
    owned as materialized (
      select click_id, source, day, country, held_as, outcome,
        case outcome
          when 'excluded' then 'before_start'
          when 'held' then case
            when is_of_another then 'deal_of_another'
            when is_explicit then 'named_and_code'
            when targets > 1 then 'ambiguous_codes' else 'link_and_code' end
          when 'unattributed' then coalesce(fault, 'unknown') end as reason,
        case
          when outcome = 'attributed'
            then case when is_explicit then 'explicit' else owner_of end end as matched_by,
        case when outcome = 'attributed' then coalesce(own_target, target) end as target,
        case
          when outcome = 'attributed'
            then case when is_explicit then own_handle else influencer_handle end end as handle,
        case
          when outcome = 'attributed'
            then case when is_explicit then own_deal_id else deal_id end end as deal,
        case
          when outcome = 'attributed'
            then case when is_explicit then own_collab_id else collab_id end end as collab
      from decided
    ),
    -- The service cannot move what it has counted. So the clicks of a day stay with whom the first of them were posted for.
    posted as materialized (
      select c.click_id, c.matched_by, c.target, c.owner_handle as handle, c.owner_deal_id as deal,
        c.owner_collab_id as collab
      from owned o join intake.clicks c on c.click_id = o.click_id
      where c.job = ${job} and o.outcome <> 'excluded' and c.target <> coalesce(o.target, '') and exists (
        select from ledger.entries e
        where e.effect is not distinct from 'click' and e.job = ${job} and e.source = c.source
          and e.details ->> 'target' = c.target and e.details ->> 'day' = c.day::text
          and e.details ->> 'country' = c.country and not (${neverSent} or e.state = 'rejected'))
    ),
    settled as materialized (
      select click_id, source, day, country, held_as, outcome, reason, matched_by, target, handle, deal, collab
      from owned where click_id not in (select click_id from posted)
      union all
      select p.click_id, o.source, o.day, o.country, o.held_as, 'attributed', null, p.matched_by, p.target, p.handle,
        p.deal, p.collab
      from posted p join owned o on o.click_id = p.click_id
    ),
    -- Clicks of one influencer, day and country are posted together, so they wait together.
    unknown as materialized (
      select source, target, day, country, max(held_as) as held_as from settled
      where held_as is not null and target is not null
      group by source, target, day, country
    ),
    said as (
      select o.click_id, case when u.held_as is null then o.outcome else 'held' end as outcome,
        coalesce(u.held_as, o.reason) as reason, o.matched_by, o.target, o.handle, o.deal, o.collab
      from settled o left join unknown u using (source, target, day, country)
    )
    update intake.clicks c
    set job = ${job}, outcome = d.outcome, reason = d.reason, matched_by = d.matched_by, target = d.target,
      owner_handle = d.handle,
        owner_deal_id = d.deal, owner_collab_id = d.collab, decided_at = now()
    from said d
    where c.click_id = d.click_id
      and row(c.job, c.outcome, c.reason, c.matched_by, c.target, c.owner_handle, c.owner_deal_id,
        c.owner_collab_id)
        is distinct from row(${job}::text, d.outcome, d.reason, d.matched_by, d.target, d.handle, d.deal,
          d.collab)`;
}

/** Proposes the clicks to post to the ledger. Call it after `decideClicks`, in the same transaction. */
export async function proposeClicks(
  trx: Transaction<DB>,
  rules: ClickRules & { readonly runId: string; readonly accountId: string },
): Promise<Proposed> {
  const { job, brandId, runId, accountId, sources } = rules;
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, source, brand_id, details, undesired_as,
      undesired_because)
    select b.key, b.body, encode(sha256(convert_to(b.body, 'UTF8')), 'hex'), b.source, ${brandId},
      jsonb_build_object('target', b.target, 'day', b.day, 'country', b.country, 'from', b.start_at, 'clicks',
        b.clicks),
      'changed', 'fewer clicks are stated now'
    from (
      select p.*, ${clickKey('p')} as key,
        case when p.clicks > 0 then coalesce(p.sent_body, ${clickBody('p')}) end as body
      from (${parts({ job, accountId, brandId })}) p
    ) b
    order by b.day, b.target, b.source, b.country`;
  await execute(trx)`analyze desired_entries`;
  await refuseRenamedSource(trx, { job, accountId, sources: sources.map(({ source }) => source) });
  return propose(trx, { effect: 'click', job, runId, accountId });
}

/**
 * SQL for the relevant parts of each chain: the newest part that was sent, with the clicks that it should
 * have now, and the part that is waiting or has to be created. Each part has the number of clicks that it
 * posts; 0 means none.
 */
function parts({ job, accountId, brandId }: { job: string; accountId: string; brandId: string }) {
  return sql`
    with stated as (
      select source, target, day, country, sum(clicks)::bigint as clicks,
        min(owner_handle) as influencer_handle, min(owner_deal_id) as deal_id,
        min(owner_collab_id) as collab_id, bool_or(outcome = 'held') as is_held
      from intake.clicks where job = ${job} and target is not null
      group by source, target, day, country
    ),
    posted as materialized (
      select e.source, e.details ->> 'target' as target, (e.details ->> 'day')::date as day,
        e.details ->> 'country' as country,
        (e.details ->> 'from')::bigint as start_at, (e.details ->> 'clicks')::bigint as clicks, e.body,
        not (${neverSent} or e.state = 'rejected') as is_sent
      from ledger.entries e
      where e.account_id = ${accountId} and e.effect is not distinct from 'click' and e.job = ${job}
    ),
    sent as (
      select distinct on (source, target, day, country) * from posted where is_sent
      order by source, target, day, country, start_at desc
    ),
    open as (
      select distinct on (source, target, day, country) * from posted where not is_sent
      order by source, target, day, country, start_at desc
    ),
    chains as (
      -- While it is held, nothing is posted, and nothing is said about what was posted.
      select source, target, day, country,
        case when s.is_held then coalesce(t.start_at + t.clicks, 0) else coalesce(s.clicks, 0) end as stated,
        s.influencer_handle, s.deal_id, s.collab_id,
        t.start_at as sent_at, t.clicks as sent, t.body as sent_body,
        coalesce(t.start_at + t.clicks, 0) as covered, o.start_at as open_at
      from stated s
      full join sent t using (source, target, day, country)
      full join open o using (source, target, day, country)
    )
    select source, target, day, country, sent_at as start_at, influencer_handle, deal_id, collab_id,
      ${brandId}::text as brand_id, nullif(country, '') as country_code,
      case when stated < covered then greatest(stated - sent_at, 0) else sent end as clicks,
      case when stated >= covered then sent_body end as sent_body
    from chains where sent_at is not null
    union all
    select source, target, day, country, covered, influencer_handle, deal_id, collab_id, ${brandId},
      nullif(country, ''), greatest(stated - covered, 0), null
    from chains where stated > covered or open_at = covered`;
}

type Renamed = { readonly before: string; readonly now: string; readonly lastDay: string };

/**
 * Stops a run whose new clicks another source has stated before, which the job no longer reads. Clicks are
 * known by their source, because several sources may count the clicks of one day. So the clicks of a renamed
 * source would be added to the totals a second time. Call it once `desired_entries` is filled.
 */
async function refuseRenamedSource(
  trx: Transaction<DB>,
  { job, accountId, sources }: { job: string; accountId: string; sources: readonly string[] },
): Promise<void> {
  const same = (name: string): RawBuilder<boolean> =>
    sql`e.details ->> ${sql.lit(name)} is not distinct from d.details ->> ${sql.lit(name)}`;
  const renamed = await rowOf<Renamed>(trx)`
    with sent_before as materialized (
      select e.source, e.details from ledger.entries e
      where e.account_id = ${accountId} and e.effect is not distinct from 'click' and e.job = ${job}
        and e.source <> all(${[...sources]}::text[]) and not (${neverSent} or e.state = 'rejected')
    )
    select e.source as before, d.source as now, max(d.details ->> 'day') as "lastDay"
    from desired_entries d
    join sent_before e on ${same('target')} and ${same('day')} and ${same('country')}
    where d.body is not null and d.details ->> 'from' = '0'
      and not exists (select from ledger.entries k
        where k.account_id = ${accountId} and k.effect = 'click' and k.key = d.key)
    group by 1, 2 order by 1, 2 limit 1`;
  if (renamed !== undefined)
    throw configurationError({
      code: 'click_source_renamed',
      message: `Source ${renamed.now} states clicks of days for which ${job} has posted the clicks of source ${renamed.before}, which it no longer reads.`,
      help: `If you renamed the source, change its name back to ${renamed.before}. If ${renamed.now} counts other clicks, set jobs.${job}.start_date to a day after ${renamed.lastDay}.`,
      safe: 'Nothing was sent, because the service would add the same clicks again.',
    });
}

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
  { job, sources }: { job: string; sources: readonly string[] },
): Promise<void> {
  await execute(trx)`
    with removed as materialized (
      select click_id, source, target, day, country from intake.clicks
      where job = ${job} and source <> all(${[...sources]}::text[]) and outcome <> 'excluded'
    ),
    kept as materialized (
      select distinct e.source, e.details ->> 'target' as target, (e.details ->> 'day')::date as day,
        e.details ->> 'country' as country
      from ledger.entries e
      where e.effect is not distinct from 'click' and e.job = ${job}
        and e.source = any (array(select distinct source from removed))
        and e.state <> 'rejected'
    )
    update intake.clicks c
    set outcome = d.outcome, reason = ${SOURCE_REMOVED}, decided_at = now(),
        matched_by = case when d.is_kept then c.matched_by end,
        target = case when d.is_kept then c.target end,
        owner_handle = case when d.is_kept then c.owner_handle end,
        owner_deal_id = case when d.is_kept then c.owner_deal_id end,
        owner_collab_id = case when d.is_kept then c.owner_collab_id end
    from (
      select r.click_id, k.target is not null as is_kept,
        case when k.target is null then 'excluded' else 'attributed' end as outcome
      from removed r left join kept k using (source, target, day, country)
    ) d
    where c.click_id = d.click_id and (c.outcome <> d.outcome or c.reason is distinct from ${SOURCE_REMOVED})`;
}
