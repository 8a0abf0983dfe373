import { sql, type Transaction } from 'kysely';
import { countOf, countsOf, type Database, execute } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { outreachBody, outreachKey } from '../../src/ledger/effects/outreach.ts';
import { createDesiredEntries, neverSent, propose } from '../../src/ledger/propose.ts';
import type { SubmitOutreachSettings } from './settings.ts';

/*
 * Every run decides again about all influencers among the customers of a brand, and forms new batches of
 * those who were not sent yet. So an influencer who has unsubscribed or was forgotten in the meantime is in
 * no batch. An influencer is:
 *
 *   in_batch   in a ledger entry for this outreach that was sent, may have been sent, or is to be sent now; never
 *              chosen again
 *   excluded   by the rule of the job, or because they must never be submitted
 *   waiting    chosen by the rule, and beyond the credits, the limit or the approval of the run
 *
 * The service does not process a batch that it refuses (docs/ledger.md, T4). A single unknown id is enough
 * for a refusal. The next run splits such a batch into ten, and so on, until each unknown id is alone. An
 * influencer who was refused alone stays refused.
 */

/** Limits on the number of influencers in one run. */
export type Allowance = {
  readonly credits: number;
  readonly limit: number;
  /** The number that a person has approved. 0 before the approval. */
  readonly approved: number;
};

export type OutreachDecision = {
  readonly settings: SubmitOutreachSettings;
  readonly accountId: string;
  readonly runId: string;
  readonly allowance: Allowance;
};

/** Number of parts into which a refused batch is split. */
const PARTS = 10;

/**
 * Decides about every influencer, proposes the batches that may be submitted now to the ledger, and stores
 * the decisions.
 *
 * @returns the number of influencers, and the number that the run would submit if it were approved.
 */
export async function decideOutreach(
  trx: Transaction<DB>,
  decision: OutreachDecision,
): Promise<{ readonly candidates: number; readonly eligible: number }> {
  await listMembers(trx, decision.accountId);
  await chooseInfluencers(trx, decision);
  const resent = await countResent(trx, decision);
  await allow(trx, decision.allowance, resent);
  await proposeBatches(trx, decision);
  await keepDecisions(trx, decision);
  const { candidates, eligible } = await countsOf<'candidates' | 'eligible'>(trx)`
    select count(*) as candidates, count(*) filter (where is_chosen or reason = 'approval') as eligible
    from outreach_choice`;
  const { credits, limit } = decision.allowance;
  return { candidates, eligible: eligible + Math.min(resent, credits, limit) };
}

/**
 * Creates `outreach_members`, with one row for each influencer in any batch of the account. `is_gone` means
 * that the batch was withdrawn before it was sent. The members get a table of their own so that Postgres has
 * statistics about them; the statistics of the ledger do not include the size of batches.
 */
async function listMembers(trx: Transaction<DB>, accountId: string): Promise<void> {
  await execute(trx)`drop table if exists pg_temp.outreach_members`;
  await execute(trx)`
    create temporary table outreach_members on commit drop as
    select e.entry_id, e.job, e.state, e.resends_approved, e.state_changed_at,
      e.details ->> 'outreach' as outreach_id, e.details ->> 'platform' as platform, m.user_id, m.place,
      jsonb_array_length(e.details -> 'ids') as size, ${neverSent} as is_unsent,
      e.state = 'held' and ${neverSent} as is_gone
    from ledger.entries e
      cross join lateral jsonb_array_elements_text(e.details -> 'ids') with ordinality as m(user_id, place)
    where e.account_id = ${accountId} and e.effect = 'outreach'`;
  await execute(trx)`analyze outreach_members`;
}

/** SQL that is true if two look-ups `u` and `f` may be about accounts of one platform. */
const isSamePlatform = sql<boolean>`coalesce(u.platform = f.platform, true)`;

/**
 * Creates `outreach_choice`, with one row for each influencer. A row with neither an entry nor a reason meets
 * the rule.
 */
async function chooseInfluencers(
  trx: Transaction<DB>,
  { settings: { name: job, brandId, outreachId, rule } }: OutreachDecision,
): Promise<void> {
  const { platforms, minFollowers, maxFollowers, isVerified, minOrders, minSpent, withCode } = rule;
  await execute(trx)`drop table if exists pg_temp.outreach_choice`;
  await execute(trx)`
    create temporary table outreach_choice on commit drop as
    with found as (
      select coalesce(lower(l.platform), '?') || ':'
        || coalesce(l.user_id, '@' || lower(l.username), l.profile_url, '?') as influencer,
        lower(l.platform) as platform, l.user_id, l.username, l.profile_url, l.followers, l.is_verified,
        l.looked_up_at, l.brand_id,
        c.customer_hash is null as is_forgotten, c.is_unsubscribed, c.orders_count, c.spent, c.currency,
        c.bought_with_code
      from intake.lookups l left join intake.customers c on c.customer_hash = l.customer_hash
      where l.outcome = 'influencer'
    ),
    -- Who has unsubscribed as a customer of one brand hears of none, by whatever a look-up names the account.
    unsubscribed as materialized (
      select influencer from found where is_unsubscribed
      union select f.influencer
      from found f join found u on u.is_unsubscribed and u.user_id = f.user_id and ${isSamePlatform}
      union select f.influencer
      from found f
        join found u on u.is_unsubscribed and ledger.fold_handle(u.username) = ledger.fold_handle(f.username)
          and ${isSamePlatform}
      union select f.influencer
      from found f join found u on u.is_unsubscribed and u.profile_url = f.profile_url
    ),
    -- Amounts of several currencies cannot be compared with one limit.
    units as materialized (
      select count(distinct coalesce(currency, '')) as currencies
      from found
      where brand_id = ${brandId} and spent is not null
    ),
    newest as (select distinct on (influencer) * from found where brand_id = ${brandId}
      order by influencer, looked_up_at desc),
    -- One influencer may be several customers, with an address each.
    bought as (
      select influencer, bool_and(is_forgotten) as is_forgotten, max(orders_count) as orders,
        max(spent) as spent, bool_or(bought_with_code) as with_code
      from found where brand_id = ${brandId} group by influencer
    ),
    batched as (
      select distinct on (platform, user_id) platform, user_id, entry_id from outreach_members
      where outreach_id = ${outreachId} and not is_gone and not (is_unsent and job = ${job})
        and (state <> 'rejected' or size = 1)
      order by platform, user_id, state = 'rejected', entry_id desc
    ),
    refused as (
      select distinct on (platform, user_id) platform, user_id, entry_id, place, size from outreach_members
      where outreach_id = ${outreachId} and state = 'rejected' and size > 1
      order by platform, user_id, size, entry_id desc
    ),
    contacted as (
      select distinct platform, user_id from outreach_members
      where outreach_id <> ${outreachId} and not is_gone and state <> 'rejected'
        and state_changed_at > now() - ${rule.notContactedDays}::double precision * interval '1 day'
    ),
    deals as (
      select distinct ledger.fold_handle(influencer_handle) as handle, lower(platform) as platform
      from mirror.deal_versions
      where is_latest and is_current and influencer_handle is not null
      union
      -- Who owns a code is a creator, though the mirror may not know the deal yet.
      select handle_folded, null from intake.codes
      where handle_folded is not null and (valid_to is null or valid_to > now())
    )
    select n.influencer, n.platform, n.user_id, n.username, n.followers, b.entry_id, r.entry_id as refused_id,
      r.place, r.size,
      case
        when b.entry_id is not null then null
        when u.influencer is not null then 'unsubscribed'
        when w.is_forgotten then 'forgotten'
        when n.user_id is null then 'no_user_id'
        when n.platform is null or n.platform <> all (${platforms}::text[]) then 'other_platform'
        when n.followers < ${minFollowers}::bigint
          or (n.followers is null and ${minFollowers}::bigint is not null) then 'too_few_followers'
        when n.followers > ${maxFollowers}::bigint
          or (n.followers is null and ${maxFollowers}::bigint is not null) then 'too_many_followers'
        when n.is_verified <> ${isVerified}::boolean
          then case when n.is_verified then 'verified' else 'not_verified' end
        when n.is_verified is null and ${isVerified}::boolean is not null then 'verification_unknown'
        when coalesce(w.orders, 0) < ${minOrders}::integer then 'too_few_orders'
        when coalesce(w.spent, 0) <= 0 and ${minSpent}::numeric > 0 then 'spent_too_little'
        when ${minSpent}::numeric is not null and m.currencies > 1 then 'spent_in_several_currencies'
        when w.spent < ${minSpent}::numeric then 'spent_too_little'
        when ${withCode}::boolean and w.with_code is not true then 'no_code_used'
        when k.has_deal then 'has_deal'
        when c.user_id is not null then 'contacted_recently'
      end as reason,
      -- Why nothing may be sent to somebody, not even again.
      case when u.influencer is not null then 'unsubscribed' when w.is_forgotten then 'forgotten'
        when k.has_deal then 'has_deal' end as barred,
      false as is_chosen
    from newest n
    cross join units m
    join bought w using (influencer)
    left join unsubscribed u using (influencer)
    left join batched b using (platform, user_id)
    left join refused r using (platform, user_id)
    left join contacted c using (platform, user_id)
    cross join lateral (
      select exists (
        select from deals d
        where d.handle = ledger.fold_handle(n.username) and (d.platform is null or d.platform = n.platform)
      ) as has_deal) k`;
  await execute(trx)`analyze outreach_choice`;
}

/** SQL that is true for a batch `e` of a job that a person has approved to be sent again. */
const isResent = (job: string) => sql`
  e.job = ${job} and e.effect = 'outreach' and not e.is_settled and e.state = 'ready' and not ${neverSent}`;

/** SQL for the members of batch `e` to whom nothing may be sent any more, or of whom nothing is known any more. */
const barredOf = sql`
  select coalesce(o.barred, 'forgotten') as barred
  from outreach_members m
  left join outreach_choice o using (platform, user_id)
  where m.entry_id = e.entry_id and (o.influencer is null or o.barred is not null)`;

/**
 * Counts the influencers in batches that a person has approved to be sent again. They are sent first, and
 * count towards the allowance.
 */
async function countResent(trx: Transaction<DB>, { settings: { name } }: OutreachDecision): Promise<number> {
  return countOf(trx)`
    select coalesce(sum(jsonb_array_length(e.details -> 'ids')), 0) as people from ledger.entries e
    where ${isResent(name)} and not exists (${barredOf})`;
}

/**
 * Chooses the influencers with the most followers within the allowance. The others get the reason why they
 * wait.
 */
async function allow(trx: Transaction<DB>, { credits, limit, approved }: Allowance, resent: number) {
  await execute(trx)`
    update outreach_choice o
    set reason = w.reason, is_chosen = w.reason is null
    from (
      select influencer,
        case when place > ${credits - resent}::bigint then 'credits'
          when place > ${limit - resent}::bigint then 'limit'
        when place > ${approved - resent}::bigint then 'approval' end as reason
      from (
        select influencer, row_number() over (order by followers desc nulls last, influencer) as place
        from outreach_choice where entry_id is null and reason is null) ranked
    ) w
    where o.influencer = w.influencer`;
}

/**
 * Creates ledger entries for the chosen influencers. Withdraws waiting batches with other members, and those to be sent
 * again to somebody who may not be contacted any more: that batch cannot be changed, because the service may have it.
 */
async function proposeBatches(
  trx: Transaction<DB>,
  { settings: { name, brandId, outreachId, batchSize }, accountId, runId }: OutreachDecision,
): Promise<void> {
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, brand_id, details)
    select d.key, d.body, encode(sha256(convert_to(d.body, 'UTF8')), 'hex'), ${brandId},
      jsonb_build_object('outreach', d.outreach_id, 'platform', d.platform, 'ids', to_jsonb(d.ids))
    from (
      select b.*, ${outreachKey('b')} as key, ${outreachBody('b')} as body
      from (
        select ${outreachId}::text as outreach_id, platform,
          array_agg(user_id order by user_id collate "C") as ids, max(followers) as followers
        from (
          select o.platform, o.user_id, o.followers, o.refused_id,
            case
              when o.refused_id is null
                then (row_number() over (partition by o.platform, o.refused_id
                    order by o.followers desc nulls last, o.influencer) - 1) / ${batchSize}::bigint
              else (o.place - 1) / least(${batchSize}::bigint, ceil(o.size / ${PARTS}::numeric)::bigint)
            end as batch
          from outreach_choice o where o.is_chosen) c
        group by platform, refused_id, batch
      ) b
    ) d
    order by d.followers desc nulls last, d.key`;
  await execute(trx)`
    insert into desired_entries (key, details)
    select e.key, e.details from ledger.entries e
    where e.account_id = ${accountId} and e.effect = 'outreach' and e.job = ${name} and e.state = 'ready'
      and ${neverSent}
      and e.key not in (select key from desired_entries)`;
  await execute(trx)`
    insert into desired_entries (key, details, undesired_because)
    select e.key, e.details,
      'some of its influencers may not be submitted any more ('
        || (select string_agg(distinct b.barred, ', ') from (${barredOf}) b) || ')'
    from ledger.entries e
    where e.account_id = ${accountId} and ${isResent(name)} and exists (${barredOf})`;
  await execute(trx)`analyze desired_entries`;
  await propose(trx, { effect: 'outreach', job: name, runId, accountId });
  await listMembers(trx, accountId);
  await execute(trx)`
    update outreach_choice o set entry_id = m.entry_id
    from outreach_members m
    where o.is_chosen and m.job = ${name} and m.outreach_id = ${outreachId} and m.state = 'ready'
      and m.is_unsent
      and m.platform = o.platform and m.user_id = o.user_id`;
}

/**
 * Stores the decisions for reports and `explain`. Deletes influencers about whom nothing is known any more.
 */
async function keepDecisions(
  trx: Transaction<DB>,
  { settings: { name, outreachId }, runId }: OutreachDecision,
): Promise<void> {
  await execute(trx)`
    delete from intake.outreach_candidates k
    where k.job = ${name} and not exists (select from outreach_choice o where o.influencer = k.influencer)`;
  await execute(trx)`
    insert into intake.outreach_candidates as k (job, influencer, outreach_id, platform, user_id, username,
      followers, outcome, reason, entry_id, run_id)
    select ${name}, influencer, ${outreachId}, platform, user_id, username, followers,
      case when entry_id is not null then 'in_batch'
        when reason in ('credits', 'limit', 'approval') then 'waiting' else 'excluded' end,
      case when entry_id is null then coalesce(reason, 'not_proposed') end, entry_id, ${runId}::bigint
    from outreach_choice
    on conflict (job, influencer) do update
    set outreach_id = excluded.outreach_id, platform = excluded.platform, user_id = excluded.user_id,
      username = excluded.username,
      followers = excluded.followers, outcome = excluded.outcome, reason = excluded.reason,
      entry_id = excluded.entry_id, run_id = excluded.run_id, decided_at = now()
    where row(k.outreach_id, k.platform, k.user_id, k.username, k.followers, k.outcome, k.reason, k.entry_id)
      is distinct from row(excluded.outreach_id, excluded.platform, excluded.user_id, excluded.username,
        excluded.followers,
        excluded.outcome, excluded.reason, excluded.entry_id)`;
}

/** Counts the ready requests, oldest first, that together contain at most this number of influencers. */
export async function countWithin(
  db: Database,
  { job, influencers }: { job: string; influencers: number },
): Promise<number> {
  return countOf(db)`
    select count(*) filter (where people <= ${influencers}::bigint) as requests
    from (
      select sum(jsonb_array_length(e.details -> 'ids')) over (order by e.entry_id) as people
      from ledger.entries e
      where e.job = ${job} and e.effect = 'outreach' and not e.is_settled and e.state = 'ready'
        and (e.not_before is null or e.not_before <= clock_timestamp())) ready`;
}
