-- Influencers among the customers, and whether they are submitted to an outreach campaign. What was sent is in the ledger; this says why somebody was not.

create table intake.outreach_candidates (
  job text not null,
  influencer text not null,
  outreach_id text not null,
  platform text,
  user_id text,
  username text,
  followers bigint,
  outcome text not null check (outcome in ('in_batch', 'waiting', 'excluded')),
  reason text,
  entry_id bigint,
  run_id bigint not null,
  decided_at timestamptz not null default now(),
  primary key (job, influencer),
  constraint who_is_in_a_batch_has_an_entry check ((outcome = 'in_batch') = (entry_id is not null)),
  constraint who_is_in_no_batch_says_why check ((outcome = 'in_batch') = (reason is null))
);
comment on table intake.outreach_candidates is 'One row a job of the kind submit-outreach and influencer among the customers of its brand: what the last run decided. Whoever was forgotten is dropped by the next run.';
comment on column intake.outreach_candidates.job is 'Job that decided.';
comment on column intake.outreach_candidates.influencer is 'Platform and its user id, or what else is known where there is none.';
comment on column intake.outreach_candidates.outreach_id is 'Outreach campaign of the job.';
comment on column intake.outreach_candidates.platform is 'instagram, tiktok, youtube or another word of the service, in lower case.';
comment on column intake.outreach_candidates.user_id is 'Id of the influencer on the platform.';
comment on column intake.outreach_candidates.username is 'Public handle on the platform.';
comment on column intake.outreach_candidates.followers is 'Followers when last looked up.';
comment on column intake.outreach_candidates.outcome is 'in_batch (in an entry of the ledger), waiting (chosen, and beyond what the run may submit), excluded.';
comment on column intake.outreach_candidates.reason is 'Why in no batch: credits, limit, approval; or unsubscribed, forgotten, no_user_id, other_platform, too_few_followers, …';
comment on column intake.outreach_candidates.entry_id is 'Entry of the ledger whose batch holds the influencer.';
comment on column intake.outreach_candidates.run_id is 'Run that decided so.';
comment on column intake.outreach_candidates.decided_at is 'When that was decided.';
create index outreach_candidates_user on intake.outreach_candidates (user_id);

-- Batches are few among millions of orders.
create index entries_outreach on ledger.entries (entry_id) where effect = 'outreach';
