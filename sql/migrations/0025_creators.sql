-- Lists of creators: what they state, and what became of each.

create table intake.creators (
  creator_id bigint generated always as identity primary key,
  source text not null,
  handle_folded text not null check (handle_folded <> ''),
  platform text not null,
  brand_id text not null,
  dealflow_id text not null,
  influencer_handle text not null,
  stated_deal_id text,
  stage integer,
  is_active boolean,
  note text,
  code text,
  code_percent numeric check (code_percent between 0 and 100),
  commission_percent numeric check (commission_percent between 0 and 100),
  custom_link text,
  custom_link_target text,
  source_file_id bigint not null,
  line_no bigint not null,
  first_seen_at timestamptz not null default now(),
  stated_at timestamptz not null default now(),
  job text,
  outcome text check (outcome in ('create', 'known', 'held', 'superseded')),
  reason text,
  deal_id text,
  deal_key text,
  note_key text,
  differing_terms text[] not null default '{}',
  decided_at timestamptz,
  looked_up_at timestamptz,
  found_deal_id text,
  stage_taken integer,
  is_active_taken boolean,
  update_problem text,
  unique (source, handle_folded, platform, brand_id, dealflow_id),
  constraint creators_that_create_nothing_say_why check (outcome is null or (outcome in ('held', 'superseded')) = (reason is not null)),
  constraint known_creators_have_a_deal check (outcome <> 'known' or deal_id is not null)
);
comment on table intake.creators is 'One row for each creator, platform, brand and dealflow of a source, as the list read last states it, and what became of it. Names, e-mail addresses, phone numbers and postal addresses are never read.';
comment on column intake.creators.creator_id is 'Counts up.';
comment on column intake.creators.source is 'Name of the source in pipeline.yaml.';
comment on column intake.creators.handle_folded is 'Handle in a form that all spellings share.';
comment on column intake.creators.platform is 'instagram, tiktok, youtube, or another word of the list.';
comment on column intake.creators.brand_id is 'Brand that the row names; empty: that of the job.';
comment on column intake.creators.dealflow_id is 'Dealflow that the row names; empty: that of the job.';
comment on column intake.creators.influencer_handle is 'Handle as written, without @.';
comment on column intake.creators.stated_deal_id is 'Deal that the row itself names.';
comment on column intake.creators.stage is 'Stage that the deal should be in.';
comment on column intake.creators.is_active is 'Whether the deal should be active.';
comment on column intake.creators.note is 'Note for the deal page. E-mail addresses in it are masked.';
comment on column intake.creators.code is 'Discount code.';
comment on column intake.creators.code_percent is 'Discount in percent.';
comment on column intake.creators.commission_percent is 'Commission in percent.';
comment on column intake.creators.custom_link is 'Affiliate link.';
comment on column intake.creators.custom_link_target is 'Where the link leads.';
comment on column intake.creators.source_file_id is 'File that states it.';
comment on column intake.creators.line_no is 'Physical line of its last row in that file.';
comment on column intake.creators.first_seen_at is 'When a file first stated it.';
comment on column intake.creators.stated_at is 'When a file last stated it. Of two rows about one creator, the one stated last counts.';
comment on column intake.creators.job is 'Job that decided; null before the first decision.';
comment on column intake.creators.outcome is 'create (no deal was known, so one is created); known (has a deal); held; superseded (a newer row states the same creator).';
comment on column intake.creators.reason is 'Why it is held or superseded.';
comment on column intake.creators.deal_id is 'The creator''s deal, once it is known.';
comment on column intake.creators.deal_key is 'Idempotency key of create_deal: handle, platform, brand, dealflow.';
comment on column intake.creators.note_key is 'Idempotency key of the note: deal and digest of the text.';
comment on column intake.creators.differing_terms is 'Terms that the service has otherwise, and that no operation changes: code, code_percent, commission_percent, custom_link, custom_link_target.';
comment on column intake.creators.decided_at is 'When it was decided.';
comment on column intake.creators.looked_up_at is 'When the service was asked for a deal of this handle; null: not yet.';
comment on column intake.creators.found_deal_id is 'Deal that it then answered with, whatever its platform and brand.';
comment on column intake.creators.stage_taken is 'Stage that the service took last for this deal.';
comment on column intake.creators.is_active_taken is 'Active status that the service took last for this deal.';
comment on column intake.creators.update_problem is 'Why the service refused the stage or the status last; null: it did not.';
create index creators_deal on intake.creators (deal_id);
create index creators_handle on intake.creators (handle_folded);
