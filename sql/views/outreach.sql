-- Influencers who were submitted to outreach campaigns, each with what became of the request. Public profiles only.

create view bi.outreach_submissions as
  select e.entry_id, e.job, e.details ->> 'outreach' as outreach_id, e.brand_id, e.details ->> 'platform' as platform,
    reporting.without_addresses(m.user_id) as platform_user_id, reporting.without_addresses(l.username) as username, l.followers,
    jsonb_array_length(e.details -> 'ids') as influencers_in_request, case e.state when 'sending' then 'in_doubt' else e.state end as state,
    e.state_reason, e.state_changed_at, d.deal_id, d.deal_id is not null as is_in_a_deal, e.run_id
  from ledger.entries e
  cross join lateral jsonb_array_elements_text(e.details -> 'ids') as m(user_id)
  left join lateral (
    select l.username, l.followers from intake.outreach_candidates l
    where l.user_id = m.user_id and l.platform = e.details ->> 'platform' order by l.decided_at desc limit 1) l on true
  left join (
    select ledger.fold_handle(influencer_handle) as handle, lower(platform) as platform, min(deal_id) as deal_id
    from mirror.deal_versions where is_latest and is_current and influencer_handle is not null group by 1, 2
  ) d on d.handle = ledger.fold_handle(l.username) and d.platform = e.details ->> 'platform'
  where e.effect = 'outreach' and not (e.state = 'held' and e.attempt = e.not_sent);
comment on view bi.outreach_submissions is 'Influencers among the customers who were or will be submitted to an outreach campaign, one row per request and influencer. After a refused request, the next run sends smaller ones. Live. Answers: How many influencers were submitted to each outreach, and how many have a deal by now? Which submissions were refused or are in doubt?';
comment on column bi.outreach_submissions.entry_id is 'Request: entry of the ledger. Counts up.';
comment on column bi.outreach_submissions.job is 'Job that made the request.';
comment on column bi.outreach_submissions.outreach_id is 'Outreach campaign.';
comment on column bi.outreach_submissions.brand_id is 'Brand of the customer, see bi.brands.';
comment on column bi.outreach_submissions.platform is 'instagram, tiktok or youtube.';
comment on column bi.outreach_submissions.platform_user_id is 'Id of the influencer on the platform.';
comment on column bi.outreach_submissions.username is 'Public handle; null if the customer was forgotten since.';
comment on column bi.outreach_submissions.followers is 'Followers when last looked up; null if the customer was forgotten since.';
comment on column bi.outreach_submissions.influencers_in_request is 'Number of influencers in the same request.';
comment on column bi.outreach_submissions.state is 'State of the request: accepted, ready (to be sent), rejected, in_doubt, written_off.';
comment on column bi.outreach_submissions.state_reason is 'Why it is in its state; for an accepted request, how many influencers the service added.';
comment on column bi.outreach_submissions.state_changed_at is 'When it reached its state.';
comment on column bi.outreach_submissions.deal_id is 'A deal with the same handle and platform, see bi.deals; null: none is known.';
comment on column bi.outreach_submissions.is_in_a_deal is 'Whether there is such a deal.';
comment on column bi.outreach_submissions.run_id is 'Run that made the request, see bi.runs.';
