import { sql, type Transaction } from 'kysely';
import { CONFLICTING_STATES } from '../../src/core/source.ts';
import { execute } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { isContradicted } from '../../src/intake/files/replace-rows.ts';
import { dealBody, dealKey } from '../../src/ledger/effects/deal.ts';
import { noteBody, noteKey } from '../../src/ledger/effects/note.ts';
import { createDesiredEntries, neverSent, propose } from '../../src/ledger/propose.ts';
import { CREATORS } from './decide-conflicting.ts';

/*
 * A deal that exists must not be created again. The job creates a deal for a creator only if it knows of
 * none:
 *
 *   this ledger has sent one for the same handle, platform, brand and dealflow   → that one, whatever its result
 *   the row names a deal of another handle or platform                           → held
 *   the row names a deal                                                         → known
 *   the mirror or this ledger has one deal of that handle, platform and brand    → known
 *   they have several                                                            → held: a person names one in the row
 *   another handle of the brand has the code that the row states                 → held: the code would have two owners
 *   the service answers with a deal of that handle which the mirror has not read → held until mirror-account has read it
 *   otherwise                                                                    → create
 *
 * The dealflow is compared only if the row names one. In that case a creator may have one deal in each
 * dealflow. If the mirror does not know the platform or the brand of a deal, the deal is assumed to match.
 */

export type DealRules = {
  readonly job: string;
  readonly sources: readonly string[];
  /** Brand of rows that name no brand. */
  readonly brandId: string;
  /** Dealflow of rows that name no dealflow. Null means that such a row creates nothing. */
  readonly dealflowId: string | null;
  readonly createAffiliateDetails: boolean;
  readonly runId: string;
  readonly accountId: string;
  /** A plan sends no requests to the service, so it also lists deals that a run would look up first. */
  readonly isPlan: boolean;
};

/** SQL condition: the service may know entry `e`, because it was sent and not refused. */
const wasSent = sql`(not ${neverSent} and e.state <> 'rejected')`;

/**
 * The creators of the job, with the defaults for brand and dealflow filled in. If several rows name the same creator, in
 * several sources or with and without the brand of the job, the one of the newest file has `place` 1. `is_disputed`: rows
 * of which nothing says which is newer state different things.
 */
function statedCreators({ sources, brandId, dealflowId }: DealRules) {
  const says = sql.join(CREATORS.states.map((column) => sql.ref(`c.${column}`)));
  const creator = sql`partition by s.handle_folded, s.platform, s.brand_id, s.dealflow_id`;
  return sql`
    select s.*, ${dealKey('s')} as deal_key,
      row_number() over (${creator}
        order by s.aged_at desc nulls last, s.stated_at desc, s.source_file_id desc, s.line_no desc) as place,
      min(s.may_be_newest) over (${creator}) <> max(s.may_be_newest) over (${creator}) as is_disputed
    from (
      select s.*,
        case
          when s.aged_at is null
            or s.aged_at = max(s.aged_at) over (${creator}) then s.says end as may_be_newest
      from (
        select c.creator_id, c.source, c.handle_folded, c.platform,
          coalesce(nullif(c.brand_id, ''), ${brandId}) as brand_id,
          coalesce(nullif(c.dealflow_id, ''), ${dealflowId}) as dealflow_id,
          nullif(c.dealflow_id, '') as stated_dealflow_id,
          c.influencer_handle, c.stated_deal_id, c.stage, c.note, c.code, c.code_percent,
          c.commission_percent, c.custom_link,
          c.custom_link_target, c.stated_at, c.source_file_id, c.line_no, c.looked_up_at, c.found_deal_id,
          c.deal_id as deal_before, ${isContradicted} as is_contradicted, row(${says})::text as says,
          -- Of a file that was read before ages were stored, it is known when it was first seen.
          case when f.age_basis is null then coalesce(f.modified_at, f.first_seen_at)
            else f.aged_at end as aged_at
        from intake.creators c left join intake.source_files f on f.source_file_id = c.source_file_id
        where c.source = any(${sources}::text[])
      ) s
    ) s`;
}

/**
 * Decides for each creator of the job whether the creator has a deal, and which of its terms differ from the
 * row.
 *
 * @returns the number of creators whose decision has changed.
 */
export async function decideCreators(trx: Transaction<DB>, rules: DealRules): Promise<number> {
  const { job, accountId } = rules;
  const ofAccount = sql`e.account_id = ${accountId} and e.effect = 'create_deal'`;
  return execute(trx)`
    with stated as materialized (${statedCreators(rules)}),
    mirrored as materialized (
      select deal_id, ledger.fold_handle(influencer_handle) as handle_folded, lower(platform) as platform,
        brand_id, dealflow_id
      from mirror.deal_versions where is_latest and is_current and influencer_handle is not null
    ),
    -- A deal is in the brand and the dealflow of each of its collaborations, too.
    deals as materialized (
      select * from mirrored
      union
      select m.deal_id, m.handle_folded, m.platform, c.brand_id, c.dealflow_id
      from mirrored m
        join mirror.collaboration_versions c on c.deal_id = m.deal_id and c.is_latest and c.is_current
      union
      select e.deal_id, e.key::json ->> 0, e.key::json ->> 1, e.key::json ->> 2, e.key::json ->> 3
      from ledger.entries e where ${ofAccount} and ${wasSent} and e.state <> 'written_off'
    ),
    fitting as materialized (
      select s.creator_id, count(distinct d.deal_id) as deals, min(d.deal_id) as deal_id,
        count(*) filter (where d.deal_id is null) as doubts
      from stated s
      join deals d on d.handle_folded = s.handle_folded and coalesce(d.platform, s.platform) = s.platform
        and coalesce(d.brand_id, s.brand_id) = s.brand_id
        and (s.stated_dealflow_id is null
          or coalesce(d.dealflow_id, s.stated_dealflow_id) = s.stated_dealflow_id)
      where s.place = 1
      group by s.creator_id
    ),
    codes as materialized (
      select lower(s.code) as code, s.brand_id, s.handle_folded
      from stated s where s.place = 1 and s.code is not null
      union
      select lower(c.code), c.brand_id, m.handle_folded
      from mirrored m
        join mirror.collaboration_versions c on c.deal_id = m.deal_id and c.is_latest and c.is_current
      where c.code is not null
    ),
    with_code_of_another as materialized (
      select distinct s.creator_id
      from stated s
      join codes k on k.code = lower(s.code) and coalesce(k.brand_id, s.brand_id) = s.brand_id
        and k.handle_folded <> s.handle_folded
      where s.place = 1
    ),
    decided as (
      select s.*, own.deal_id as own_deal_id, own.body as own_body, f.deal_id as fitting_deal_id,
        case
          when s.place > 1 then 'superseded'
          when s.is_contradicted or s.is_disputed then 'held'
          when own.entry_id is not null then 'create'
          when of_another.creator is not null then 'held'
          when s.stated_deal_id is not null or (f.deals = 1 and f.doubts = 0) then 'known'
          when f.deals > 1 or f.doubts > 0 or s.dealflow_id is null or is_unread then 'held'
          when k.creator_id is not null then 'held'
          else 'create'
        end as outcome,
        case when s.is_contradicted then ${CONFLICTING_STATES} when s.is_disputed then 'conflicting_rows'
          when of_another.creator is not null then 'deal_of_another' when f.deals > 1 then 'several_deals'
          when f.doubts > 0 then 'deal_in_doubt' when s.dealflow_id is null then 'no_dealflow'
          when is_unread then 'deal_not_mirrored' else 'code_of_another' end as hold_reason
      from stated s
      left join lateral (
        select e.entry_id, e.deal_id, e.body::json as body
        from ledger.entries e
        where ${ofAccount} and e.key = s.deal_key and ${wasSent}
        limit 1
      ) own on true
      left join fitting f on f.creator_id = s.creator_id
      left join with_code_of_another k on k.creator_id = s.creator_id
      -- The deal that the row names belongs to another handle.
      left join lateral (
        select min(m.handle_folded) as creator from mirrored m where m.deal_id = s.stated_deal_id
        having not bool_or(m.handle_folded = s.handle_folded
          and coalesce(m.platform, s.platform) = s.platform)
      ) of_another on true
      cross join lateral (
        select s.found_deal_id is not null
          and not exists (select from mirror.deal_versions v
            where v.deal_id = s.found_deal_id and v.is_latest and v.influencer_handle is not null
            ) as is_unread) unread
    ),
    with_deal as (
      select d.*,
        case outcome when 'create' then own_deal_id
          when 'known' then coalesce(stated_deal_id, fitting_deal_id)
          -- What its deal has taken is not forgotten meanwhile.
          when 'held' then case when is_contradicted or is_disputed then deal_before end end as deal_id,
        case outcome when 'superseded' then 'newer_row' when 'held' then hold_reason end as reason
      from decided d
    ),
    said as (
      select w.*, case when w.note is not null and w.deal_id is not null then ${noteKey('w')} end as note_key,
        case when w.outcome = 'create' then (w.own_body ->> 'funnel_step')::integer end as created_stage,
        ${differingTerms} as differing_terms
      from with_deal w
      left join lateral (
        select count(*) as known, array_agg(lower(v.code)) as codes, array_agg(v.code_perc) as code_percents,
          array_agg(v.commission_perc) as commission_percents, array_agg(v.custom_url) as links,
          array_agg(v.custom_url_target) as targets
        from (
          select c.code, c.code_perc, c.commission_perc, c.custom_url, c.custom_url_target
          from mirror.collaboration_versions c
          where w.outcome = 'known' and c.deal_id = w.deal_id and c.is_latest and c.is_current
            and coalesce(c.brand_id, w.brand_id) = w.brand_id
          union all
          select w.own_body ->> 'code', (w.own_body ->> 'code_perc')::numeric,
            (w.own_body ->> 'commission_perc')::numeric,
            w.own_body ->> 'custom_url', w.own_body ->> 'custom_url_target'
          where w.outcome = 'create' and w.own_body is not null
        ) v
      ) terms on true
    )
    update intake.creators c
    set job = ${job}, outcome = s.outcome, reason = s.reason, deal_id = s.deal_id, deal_key = s.deal_key,
      note_key = s.note_key,
        differing_terms = s.differing_terms, decided_at = now(),
        stage_taken = case when c.deal_id is distinct from s.deal_id then s.created_stage
          else c.stage_taken end,
        is_active_taken = case when c.deal_id is not distinct from s.deal_id then c.is_active_taken end,
        update_problem = case when c.deal_id is not distinct from s.deal_id then c.update_problem end
    from said s
    where c.creator_id = s.creator_id
      and row(c.job, c.outcome, c.reason, c.deal_id, c.deal_key, c.note_key, c.differing_terms)
        is distinct from row(${job}::text, s.outcome, s.reason, s.deal_id, s.deal_key, s.note_key,
          s.differing_terms)`;
}

/**
 * Terms of the row that differ from the terms at the service. A deal whose terms were never read has no
 * differing terms.
 */
const differingTerms = sql`array_remove(array[
  case when w.code is not null and lower(w.code) <> all (array_remove(terms.codes, null)) then 'code' end,
  case
    when w.code_percent is not null
      and w.code_percent <> all (array_remove(terms.code_percents, null)) then 'code_percent' end,
  case
    when w.commission_percent is not null
      and w.commission_percent <> all (array_remove(terms.commission_percents, null))
        then 'commission_percent' end,
  case
    when w.custom_link is not null
      and w.custom_link <> all (array_remove(terms.links, null)) then 'custom_link' end,
  case
    when w.custom_link_target is not null
      and w.custom_link_target <> all (array_remove(terms.targets, null)) then 'custom_link_target' end
], null)`;

/**
 * Proposes the deals to create. Call it after `decideCreators`, in the same transaction. A deal that was sent
 * keeps its handle, its stage (`update_dealstage` changes the stage) and the terms that the row no longer
 * states, so that it differs only if a stated term differs.
 */
export async function proposeDeals(trx: Transaction<DB>, rules: DealRules): Promise<void> {
  const { job, accountId, runId, createAffiliateDetails, isPlan } = rules;
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, source, brand_id, details, undesired_as,
      undesired_because)
    select b.key, b.body, encode(sha256(convert_to(b.body, 'UTF8')), 'hex'), b.source, b.brand_id,
      jsonb_build_object('handle', b.influencer_handle, 'platform', b.platform, 'dealflow', b.dealflow_id),
      'changed', 'no row asks for it now'
    from (
      select p.*, case when p.is_wanted then ${dealBody('p')} end as body
      from (
        select coalesce(w.deal_key, o.key) as key, coalesce(o.source, w.source) as source, w.brand_id,
          w.platform, w.dealflow_id, w.creator_id, w.creator_id is not null as is_wanted,
          coalesce(o.sent ->> 'influencer_handle', w.influencer_handle) as influencer_handle,
          case when o.sent is null then w.stage else (o.sent ->> 'funnel_step')::integer end as stage,
          coalesce(w.code, o.sent ->> 'code') as code,
          coalesce(w.code_percent, (o.sent ->> 'code_perc')::numeric) as code_percent,
          coalesce(w.commission_percent, (o.sent ->> 'commission_perc')::numeric) as commission_percent,
          coalesce(w.custom_link, o.sent ->> 'custom_url') as custom_link,
          coalesce(w.custom_link_target, o.sent ->> 'custom_url_target') as custom_link_target,
          coalesce((o.sent ->> 'create_affiliate_details')::boolean,
            ${createAffiliateDetails}::boolean) as create_affiliate_details
        from (
          select s.* from (${statedCreators(rules)}) s join intake.creators c on c.creator_id = s.creator_id
          where c.outcome = 'create' and (${isPlan}::boolean or c.looked_up_at is not null)
        ) w
        full join (
          select e.key, e.source, case when ${wasSent} then e.body::json end as sent from ledger.entries e
          where e.account_id = ${accountId} and e.effect = 'create_deal' and e.job = ${job}
        ) o on o.key = w.deal_key
        where w.creator_id is not null or o.sent is null
      ) p
    ) b
    order by b.creator_id`;
  await execute(trx)`analyze desired_entries`;
  await propose(trx, { effect: 'create_deal', job, runId, accountId });
}

/**
 * Proposes notes for creators whose deal is known. Call it after `decideCreators`, in the same transaction.
 */
export async function proposeNotes(
  trx: Transaction<DB>,
  { job, accountId, runId }: DealRules,
): Promise<void> {
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, source, brand_id, details, undesired_as,
      undesired_because)
    select b.key, b.body, encode(sha256(convert_to(b.body, 'UTF8')), 'hex'), b.source, b.brand_id,
      jsonb_build_object('handle', b.handle), 'changed', 'the row has another note now'
    from (
      select coalesce(w.note_key, o.key) as key,
        case when w.note_key is not null then ${noteBody('w')} end as body,
        coalesce(o.source, w.source) as source, nullif(w.brand_id, '') as brand_id,
        w.influencer_handle as handle, w.creator_id
      from (
        select distinct on (c.note_key) c.* from intake.creators c
        where c.job = ${job} and c.outcome in ('create', 'known') and c.note_key is not null
        order by c.note_key, c.creator_id
      ) w
      full join (
        select e.key, e.source, ${neverSent} as is_open from ledger.entries e
        where e.account_id = ${accountId} and e.effect = 'note' and e.job = ${job}
      ) o on o.key = w.note_key
      where w.note_key is not null or o.is_open
    ) b
    order by b.creator_id`;
  await execute(trx)`analyze desired_entries`;
  await propose(trx, { effect: 'note', job, runId, accountId });
}
