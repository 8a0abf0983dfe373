-- What the document of a closed statement says about its deal, kept with the closing: a handle or a brand that is renamed
-- later changes no document, and a statement still goes to the creator to whom it was made.
create table ops.statement_headings (
  statement_id bigint not null,
  deal_id text not null check (deal_id <> ''),
  influencer_handle text check (influencer_handle <> ''),
  brand_id text check (brand_id <> ''),
  brand_name text,
  primary key (statement_id, deal_id)
);
create trigger statement_headings_are_closed before delete or update or truncate on ops.statement_headings
  for each statement execute function ops.refuse_change();
comment on table ops.statement_headings is 'What is at the head of a closed statement for the creator of a deal, as it was when the statement was closed; of those closed before there was this table, when it was made. Append-only: a trigger refuses any change.';
comment on column ops.statement_headings.statement_id is 'Statement, see ops.statements.';
comment on column ops.statement_headings.deal_id is 'Deal with lines in it.';
comment on column ops.statement_headings.influencer_handle is 'Influencer of the deal, by the mirror or by its codes. Null: not known.';
comment on column ops.statement_headings.brand_id is 'Brand of the deal by the mirror. Null: not known.';
comment on column ops.statement_headings.brand_name is 'Name of that brand in the account. Null: not known.';

insert into ops.statement_headings (statement_id, deal_id, influencer_handle, brand_id, brand_name)
select distinct s.statement_id, s.deal_id, nullif(coalesce(d.influencer_handle, c.handle), ''), nullif(d.brand_id, ''), b.name
from reporting.statement_deals s
left join mirror.deals d using (deal_id)
left join mirror.brands b on b.brand_id = d.brand_id
left join (
  select deal_id, min(influencer_handle) as handle from intake.codes
  where handle_folded <> '' group by deal_id having count(distinct handle_folded) = 1) c using (deal_id)
where s.deal_id <> '';

-- The orders of one creator are a page of the console.
create index order_dispositions_creator on reporting.order_dispositions (influencer_handle, day_utc)
  where influencer_handle is not null;
