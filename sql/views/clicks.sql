-- Clicks: what the exports state, whose they are, and what of them was posted.

create view bi.clicks as
  select c.click_id, c.source, c.day as day_local, nullif(c.country, '') as country_code, reporting.without_addresses(c.written) as clicked,
    c.clicks as stated_clicks, c.outcome, c.reason as outcome_reason, c.matched_by, reporting.deal_id_of(c.owner_deal_id) as deal_id,
    c.owner_collab_id as collab_id, reporting.without_addresses(c.owner_handle) as influencer_handle, c.job, c.source_file_id, c.line_no,
    c.first_seen_at, c.stated_at as changed_at
  from intake.clicks c;
comment on view bi.clicks is 'Clicks as the exports state them now, one row per link, code or influencer, day and country. Live. Answers: Which links and codes are clicked and belong to no influencer?';
comment on column bi.clicks.click_id is 'Key of the row. Counts up.';
comment on column bi.clicks.source is 'Source in the configuration, for example one link shortener.';
comment on column bi.clicks.day_local is 'Day of the clicks, as the export counts days.';
comment on column bi.clicks.country_code is 'ISO 3166-1 alpha-2; null if the export does not say.';
comment on column bi.clicks.clicked is 'The link, code, handle or deal that was clicked. E-mail addresses are masked.';
comment on column bi.clicks.stated_clicks is 'Clicks of that day, as the newest file states.';
comment on column bi.clicks.outcome is 'attributed, unattributed (no owner), held (several owners, or conflicting_states: a held file states another number), excluded (before the first day of the job, or of a source that the job no longer reads); null: not decided yet.';
comment on column bi.clicks.outcome_reason is 'Why it is not attributed; null if it is, or source_removed if the job no longer reads the source of attributed clicks: no more of them are posted.';
comment on column bi.clicks.matched_by is 'explicit (the export names the influencer), code, link or handle.';
comment on column bi.clicks.deal_id is 'Deal of the owner, if one is named.';
comment on column bi.clicks.collab_id is 'Collaboration of the owner, if one is named.';
comment on column bi.clicks.influencer_handle is 'Handle of the owner, if one is named.';
comment on column bi.clicks.job is 'Job that decided.';
comment on column bi.clicks.source_file_id is 'Export that states it.';
comment on column bi.clicks.line_no is 'Line of its first row in that file.';
comment on column bi.clicks.first_seen_at is 'When a file first stated it.';
comment on column bi.clicks.changed_at is 'When a file last stated a different number.';

create view bi.clicks_posted as
  select e.entry_id, e.job, e.source, (e.details ->> 'day')::date as day_local, nullif(e.details ->> 'country', '') as country_code, e.brand_id,
    reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id')) as deal_id,
    coalesce(e.collab_id, e.body::json ->> 'collab_id') as collab_id,
    reporting.without_addresses(e.body::json ->> 'influencer_handle') as influencer_handle, (e.details ->> 'clicks')::bigint as clicks,
    (e.details ->> 'from')::bigint as posted_before, case e.state when 'sending' then 'in_doubt' else e.state end as state, e.state_reason,
    e.state_changed_at, e.run_id
  from ledger.entries e
  where e.effect = 'click' and not (e.state = 'held' and e.attempt = e.not_sent);
comment on view bi.clicks_posted is 'Requests that add clicks to a deal, one row each. If a newer export states more clicks of a day, another request adds the difference. Live. Answers: How many clicks were posted for each deal?';
comment on column bi.clicks_posted.entry_id is 'Key of the row: entry of the ledger. Counts up.';
comment on column bi.clicks_posted.job is 'Job that made the request.';
comment on column bi.clicks_posted.source is 'Source of the clicks.';
comment on column bi.clicks_posted.day_local is 'Day of the clicks, as the export counts days.';
comment on column bi.clicks_posted.country_code is 'ISO 3166-1 alpha-2; null if the export does not say.';
comment on column bi.clicks_posted.brand_id is 'Brand.';
comment on column bi.clicks_posted.deal_id is 'Deal that the service credited, else the one that was named.';
comment on column bi.clicks_posted.collab_id is 'Collaboration that the service credited, else the one that was named.';
comment on column bi.clicks_posted.influencer_handle is 'Influencer, if the request names a handle.';
comment on column bi.clicks_posted.clicks is 'Clicks that the request adds.';
comment on column bi.clicks_posted.posted_before is 'Clicks of the same day that were posted before this request.';
comment on column bi.clicks_posted.state is 'accepted, ready (to be posted), rejected, in_doubt, written_off.';
comment on column bi.clicks_posted.state_reason is 'Why it is in its state, if that needs a reason.';
comment on column bi.clicks_posted.state_changed_at is 'When it reached its state.';
comment on column bi.clicks_posted.run_id is 'Run that made the request, see bi.runs.';
