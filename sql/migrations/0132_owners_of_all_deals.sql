-- Pages and statements ask for the creators of many deals at once. Grouped over both of its halves, reporting.deal_owners was
-- sorted as a whole, and the planner expected 200 rows of it. Each deal that the mirror has read has a latest version.
create view reporting.code_owners as
  select deal_id, case when min(handle_folded) = max(handle_folded) then min(influencer_handle) end as influencer_handle
  from intake.codes where deal_id is not null and handle_folded <> ''
  group by deal_id;
comment on view reporting.code_owners is 'The creator whom the codes and links of a deal name. Live.';
comment on column reporting.code_owners.deal_id is 'Deal that a code or link is assigned to.';
comment on column reporting.code_owners.influencer_handle is 'Creator. Null: they name several.';

create or replace view reporting.deal_owners as
  select d.deal_id, coalesce(nullif(d.influencer_handle, ''), c.influencer_handle) as influencer_handle
  from mirror.deal_versions d left join reporting.code_owners c using (deal_id)
  where d.is_latest
  union all
  select c.deal_id, c.influencer_handle from reporting.code_owners c
  where not exists (select from mirror.deal_versions d where d.deal_id = c.deal_id and d.is_latest);

-- What was closed to a creator is on their page, also if another one has the deal by now.
create index statement_headings_handle on ops.statement_headings (ledger.fold_handle(influencer_handle), deal_id);
