-- Whose money a deal earns: one place for statements, their documents, payments, returns and the pages of creators. What an
-- export or codes.csv decides about an order later may be another deal, and that of the money is the posted one.
create view reporting.deal_owners as
  select deal_id, coalesce(min(handle) filter (where is_mirrored),
      case when min(handle_folded) = max(handle_folded) then min(handle) end) as influencer_handle
  from (
    select deal_id, nullif(influencer_handle, '') as handle, null as handle_folded, true as is_mirrored from mirror.deals
    union all
    select deal_id, influencer_handle, handle_folded, false from intake.codes where deal_id is not null and handle_folded <> ''
  ) o
  group by deal_id;
comment on view reporting.deal_owners is 'The creator who has a deal now: by the mirror, otherwise by the codes that are assigned to the deal. Live.';
comment on column reporting.deal_owners.deal_id is 'Deal that the mirror has read or that a code or link is assigned to.';
comment on column reporting.deal_owners.influencer_handle is 'Creator. Null: unknown, or its codes name several.';

-- An attribution names the creator of its own deal, which matters only while that is the deal that was posted.
create or replace function reporting.note_changed_attribution() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select c.entry_id
  from (
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from new_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from old_rows) n
    union
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from old_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from new_rows) o
  ) c
  left join lateral (
    select e.xmin from ledger.entries e where e.entry_id = c.entry_id limit 1) e on true
  where c.entry_id is not null and e.xmin is distinct from pg_current_xact_id()::xid;
  return null;
end $note$;
