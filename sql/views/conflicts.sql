-- Orders with evidence for more than one owner.

create view bi.conflicts as
  select k.job, k.source, k.order_id, k.ordered_at, k.day_utc, k.conflict, reporting.without_addresses(c.evidence) as evidence, c.is_same_creator,
    k.currency, k.amount, k.disposition, s.disposition_reason, s.matched_by, k.target,
    reporting.without_addresses(coalesce(s.influencer_handle,
      (select m.influencer_handle from mirror.deal_versions m where m.deal_id = s.deal_id and m.is_latest))) as influencer_handle,
    k.first_target, case when k.first_target is not null then reporting.without_addresses(c.handles[c.named + 1]) end as first_influencer_handle,
    k.last_target, case when k.last_target is not null then reporting.without_addresses(c.handles[c.claims]) end as last_influencer_handle,
    k.explicit_target, reporting.without_addresses(c.explicit_handle) as explicit_influencer_handle
  from reporting.conflicts k
  -- A query that needs neither evidence nor creators reads neither of these tables.
  left join reporting.order_dispositions s on s.job = k.job and s.source = k.source and s.order_id = k.order_id
  left join lateral (
    select string_agg(kind || ' ' || written, ', ' order by place, target) as evidence,
      case when count(*) = count(handle) then min(ledger.fold_handle(handle)) = max(ledger.fold_handle(handle)) end as is_same_creator,
      -- What the export names stands first, at place 0.
      count(*)::integer as claims, count(*) filter (where place = 0)::integer as named,
      array_agg(handle order by place, target) as handles, min(handle) filter (where place = 0) as explicit_handle
    from (
      select c.*, coalesce(c.influencer_handle,
          (select m.influencer_handle from mirror.deal_versions m where m.deal_id = reporting.deal_id_of(c.deal_id) and m.is_latest)) as handle
      from intake.order_claims c where c.job = k.job and c.source = k.source and c.order_id = k.order_id offset 0
    ) claims
  ) c on true;
comment on view bi.conflicts is 'Orders with evidence for more than one owner, one row per order: who is credited, and who would be credited by other rules. It changes no decision. As of the last refresh. Answers: Which orders carry evidence for two creators? How much revenue would other rules move?';
comment on column bi.conflicts.job is 'Job that decided about the order.';
comment on column bi.conflicts.source is 'Source in the configuration. With job and order_id, the key of the row.';
comment on column bi.conflicts.order_id is 'Order, see bi.orders.';
comment on column bi.conflicts.ordered_at is 'When it was ordered.';
comment on column bi.conflicts.day_utc is 'Day of ordered_at in UTC.';
comment on column bi.conflicts.conflict is 'Kind of conflict: named (the export names one owner, and a code or link another), link_and_code, codes or links.';
comment on column bi.conflicts.evidence is 'The owned codes, links and names of the order, in the assumed order of time: names of the export, links, codes.';
comment on column bi.conflicts.is_same_creator is 'Whether all the evidence belongs to deals of one creator. Null: the creator of one deal is unknown.';
comment on column bi.conflicts.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.conflicts.amount is 'Revenue, in currency. Null: unknown, which is not 0.';
comment on column bi.conflicts.disposition is 'Disposition of the order, see bi.orders_attributed.';
comment on column bi.conflicts.disposition_reason is 'Why it is held, if it is.';
comment on column bi.conflicts.matched_by is 'What decided who is credited: explicit, code or link. Null: nothing.';
comment on column bi.conflicts.target is 'Who is credited: deal:<id>, collab:<id> or handle:<name>. Null: no one, because the order is held.';
comment on column bi.conflicts.influencer_handle is 'Creator who is credited, if known.';
comment on column bi.conflicts.first_target is 'Who would be credited if the first link or code counted. Links come before codes, because a visit comes before the checkout, and otherwise in the order of the export. Null: it has two owners.';
comment on column bi.conflicts.first_influencer_handle is 'Creator of first_target, if known.';
comment on column bi.conflicts.last_target is 'Who would be credited if the last link or code counted. Null: it has two owners.';
comment on column bi.conflicts.last_influencer_handle is 'Creator of last_target, if known.';
comment on column bi.conflicts.explicit_target is 'Who would be credited if only the name in the export counted. Null: it names no one.';
comment on column bi.conflicts.explicit_influencer_handle is 'Creator of explicit_target, if known.';
