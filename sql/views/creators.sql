-- Creators: what the lists state, and which deal each of them has.

create view bi.creators_imported as
  select c.creator_id, c.source, c.influencer_handle, c.platform, coalesce(e.brand_id, nullif(c.brand_id, '')) as brand_id,
    coalesce(e.details ->> 'dealflow', nullif(c.dealflow_id, '')) as dealflow_id,
    case when c.outcome <> 'create' then c.outcome
      else case e.state when 'accepted' then 'created' when 'sending' then 'in_doubt' when 'rejected' then 'refused' when 'ready' then 'to_create'
        else coalesce(e.state, 'to_create') end end as state,
    coalesce(c.reason, e.state_reason) as state_reason, reporting.deal_id_of(c.deal_id) as deal_id, c.stage as stated_stage, c.stage_taken,
    c.is_active as is_stated_active, c.is_active_taken, c.code, c.code_percent, c.commission_percent, c.custom_link, c.custom_link_target,
    nullif(array_to_string(c.differing_terms, ', '), '') as differing_terms, c.update_problem, c.job, c.source_file_id, c.line_no,
    c.first_seen_at, c.stated_at
  from intake.creators c
  left join ledger.entries e on e.effect = 'create_deal' and e.key = c.deal_key and c.outcome = 'create';
comment on view bi.creators_imported is 'Creators as the lists state them now, one row per creator, platform, brand and dealflow, with their deals. Live. Answers: Which creators of the lists have no deal yet? Which deals have terms that differ from the list?';
comment on column bi.creators_imported.creator_id is 'Key of the row. Counts up.';
comment on column bi.creators_imported.source is 'Source in the configuration.';
comment on column bi.creators_imported.influencer_handle is 'Handle as the list writes it, without @.';
comment on column bi.creators_imported.platform is 'instagram, tiktok, youtube, or another word of the list.';
comment on column bi.creators_imported.brand_id is 'Brand that the row or the request names; null: the one of the job.';
comment on column bi.creators_imported.dealflow_id is 'Dealflow that the row or the request names; null: the one of the job.';
comment on column bi.creators_imported.state is 'created, known (had a deal), to_create, refused, in_doubt, written_off, held, superseded (a newer row states the same creator); null: not decided yet.';
comment on column bi.creators_imported.state_reason is 'Why, if that needs a reason.';
comment on column bi.creators_imported.deal_id is 'Deal of the creator, once it is known.';
comment on column bi.creators_imported.stated_stage is 'Stage that the list states.';
comment on column bi.creators_imported.stage_taken is 'Stage that the service last accepted.';
comment on column bi.creators_imported.is_stated_active is 'Whether the list states that the deal is active.';
comment on column bi.creators_imported.is_active_taken is 'Active status that the service last accepted.';
comment on column bi.creators_imported.code is 'Discount code that the list states.';
comment on column bi.creators_imported.code_percent is 'Discount in percent.';
comment on column bi.creators_imported.commission_percent is 'Commission in percent.';
comment on column bi.creators_imported.custom_link is 'Affiliate link.';
comment on column bi.creators_imported.custom_link_target is 'Where the link leads.';
comment on column bi.creators_imported.differing_terms is 'Terms in which the deal differs, separated by commas.';
comment on column bi.creators_imported.update_problem is 'Why the service last refused the stage or the status.';
comment on column bi.creators_imported.job is 'Job that decided.';
comment on column bi.creators_imported.source_file_id is 'List that states it.';
comment on column bi.creators_imported.line_no is 'Line of its last row in that file.';
comment on column bi.creators_imported.first_seen_at is 'When a list first stated it.';
comment on column bi.creators_imported.stated_at is 'When a list last stated it.';
