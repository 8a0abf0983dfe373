-- The account of the service, as the mirror last read it. Brands, dealflows and deals are published together: a reader sees all of a run or
-- nothing of it. The service says its sums without a currency; they are in that of the account.

create view bi.brands as
  select brand_id, name as brand_name, not is_current as is_deleted, valid_to as deleted_at, first_seen_at, valid_from as changed_at,
    seen_at as synced_at, run_id
  from mirror.brand_versions where is_latest;
comment on view bi.brands is 'Brands of the account, one row per brand, as last read. Answers: Which brands are there, and since when?';
comment on column bi.brands.brand_id is 'Key of the row: identity at the service.';
comment on column bi.brands.brand_name is 'Name of the brand.';
comment on column bi.brands.is_deleted is 'Whether it is gone: a complete listing does not contain it.';
comment on column bi.brands.deleted_at is 'When it was found to be gone; null if it is not.';
comment on column bi.brands.first_seen_at is 'When it was first read.';
comment on column bi.brands.changed_at is 'When its present state was first read.';
comment on column bi.brands.synced_at is 'When it was last read.';
comment on column bi.brands.run_id is 'Run that published its last change, see bi.runs.';

create view bi.dealflows as
  select f.dealflow_id, f.name as dealflow_name, f.brand_id, b.name as brand_name, not f.is_current as is_deleted, f.valid_to as deleted_at,
    f.first_seen_at, f.valid_from as changed_at, f.seen_at as synced_at, f.run_id
  from mirror.dealflow_versions f
  left join mirror.brand_versions b on b.brand_id = f.brand_id and b.is_latest
  where f.is_latest;
comment on view bi.dealflows is 'Dealflows of the account, one row per dealflow, as last read. Answers: How many deals does each dealflow have, and how many of them are active?';
comment on column bi.dealflows.dealflow_id is 'Key of the row: identity at the service.';
comment on column bi.dealflows.dealflow_name is 'Name of the dealflow.';
comment on column bi.dealflows.brand_id is 'Brand to which it belongs, if the service says so.';
comment on column bi.dealflows.brand_name is 'Name of that brand.';
comment on column bi.dealflows.is_deleted is 'Whether it is gone: a complete listing does not contain it.';
comment on column bi.dealflows.deleted_at is 'When it was found to be gone; null if it is not.';
comment on column bi.dealflows.first_seen_at is 'When it was first read.';
comment on column bi.dealflows.changed_at is 'When its present state was first read.';
comment on column bi.dealflows.synced_at is 'When it was last read.';
comment on column bi.dealflows.run_id is 'Run that published its last change, see bi.runs.';

create view bi.deals as
  select d.deal_id, d.influencer_handle, d.platform, d.brand_id, b.name as brand_name, d.dealflow_id, f.name as dealflow_name, d.is_active,
    d.funnel_step, d.total_clicks, d.total_referrals, d.total_sales as total_sales_in_account_currency,
    d.total_payouts as total_payouts_in_account_currency, d.total_commission_earned as total_commission_in_account_currency,
    d.total_fixed_fee_earned as total_fixed_fee_in_account_currency, not d.is_current as is_deleted, d.valid_to as deleted_at,
    k.first_way as found_by, d.first_seen_at, d.valid_from as changed_at, k.read_at as synced_at, d.run_id
  from mirror.deal_versions d
  left join mirror.known_deals k on k.deal_id = d.deal_id
  left join mirror.brand_versions b on b.brand_id = d.brand_id and b.is_latest
  left join mirror.dealflow_versions f on f.dealflow_id = d.dealflow_id and f.is_latest
  where d.is_latest;
comment on view bi.deals is 'Deals that were discovered and read, one row per deal, as last read. Others may exist: see bi.mirror_coverage. Answers: Which deals are active and sell nothing? Which influencers have several deals?';
comment on column bi.deals.deal_id is 'Key of the row: identity at the service.';
comment on column bi.deals.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column bi.deals.platform is 'Social platform of the influencer.';
comment on column bi.deals.brand_id is 'Brand, see bi.brands.';
comment on column bi.deals.brand_name is 'Name of the brand.';
comment on column bi.deals.dealflow_id is 'Dealflow, see bi.dealflows.';
comment on column bi.deals.dealflow_name is 'Name of the dealflow.';
comment on column bi.deals.is_active is 'Active, as the service says.';
comment on column bi.deals.funnel_step is 'Stage in its dealflow. The service does not say what the numbers mean.';
comment on column bi.deals.total_clicks is 'Clicks that the service has counted.';
comment on column bi.deals.total_referrals is 'Orders that the service has counted, including those of its own shop integration.';
comment on column bi.deals.total_sales_in_account_currency is 'Sales that the service has counted, in the currency of the account.';
comment on column bi.deals.total_payouts_in_account_currency is 'Payouts made, in the currency of the account.';
comment on column bi.deals.total_commission_in_account_currency is 'Commission earned, in the currency of the account.';
comment on column bi.deals.total_fixed_fee_in_account_currency is 'Fixed fees earned, in the currency of the account.';
comment on column bi.deals.is_deleted is 'Whether it is gone: the service said twice that there is no such deal.';
comment on column bi.deals.deleted_at is 'When it was found to be gone; null if it is not.';
comment on column bi.deals.found_by is 'How it was first discovered: referral, click, create_deal, note, task, event, codes, order, handle, autocomplete, deal.';
comment on column bi.deals.first_seen_at is 'When it was first read.';
comment on column bi.deals.changed_at is 'When its present state was first read.';
comment on column bi.deals.synced_at is 'When it was last read.';
comment on column bi.deals.run_id is 'Run that published its last change, see bi.runs.';

create view bi.deal_history as
  select deal_id, valid_from, valid_to, is_current, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
    total_referrals, total_sales as total_sales_in_account_currency, total_payouts as total_payouts_in_account_currency,
    total_commission_earned as total_commission_in_account_currency, total_fixed_fee_earned as total_fixed_fee_in_account_currency,
    run_id
  from mirror.deal_versions;
comment on view bi.deal_history is 'How deals changed, one row per deal and version. The newest version has no valid_to, unless the deal is gone. For the state at one time, use bi.deals_as_of(moment). Answers: When did a deal change its stage? How much did each deal sell within a month, by the service''s own count?';
comment on column bi.deal_history.deal_id is 'Deal, see bi.deals. With valid_from, the key of the row.';
comment on column bi.deal_history.valid_from is 'When this version was first read.';
comment on column bi.deal_history.valid_to is 'When a different version was first read, or the deal was found to be gone; null while it is in force.';
comment on column bi.deal_history.is_current is 'Whether it is in force: valid_to is null.';
comment on column bi.deal_history.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column bi.deal_history.platform is 'Social platform of the influencer.';
comment on column bi.deal_history.brand_id is 'Brand, see bi.brands.';
comment on column bi.deal_history.dealflow_id is 'Dealflow, see bi.dealflows.';
comment on column bi.deal_history.is_active is 'Active, as the service says.';
comment on column bi.deal_history.funnel_step is 'Stage in its dealflow. The service does not say what the numbers mean.';
comment on column bi.deal_history.total_clicks is 'Clicks that the service had counted.';
comment on column bi.deal_history.total_referrals is 'Orders that the service had counted.';
comment on column bi.deal_history.total_sales_in_account_currency is 'Sales that the service had counted, in the currency of the account.';
comment on column bi.deal_history.total_payouts_in_account_currency is 'Payouts made, in the currency of the account.';
comment on column bi.deal_history.total_commission_in_account_currency is 'Commission earned, in the currency of the account.';
comment on column bi.deal_history.total_fixed_fee_in_account_currency is 'Fixed fees earned, in the currency of the account.';
comment on column bi.deal_history.run_id is 'Run that published this version, see bi.runs.';

create function bi.deals_as_of(moment timestamptz) returns setof bi.deal_history
  language sql stable parallel safe
  as 'select h.* from bi.deal_history h where h.valid_from <= moment and (h.valid_to is null or h.valid_to > moment)';
comment on function bi.deals_as_of(timestamptz) is 'Deals as they were at a given time, one row per deal, as far as they had been read by then. Answers: Which deals were active on the first of the month?';

create view bi.mirror_coverage as
  select c.run_id, p.published_at, c.way, c.known as known_deals, c.also_known as also_known_deals, c.fresh as fresh_deals,
    c.stale as stale_deals, c.unread as unread_deals, c.failing as failing_deals, c.deleted as deleted_deals, c.oldest_read_at,
    c.newest_read_at, c.run_id = (select max(l.run_id) from mirror.publications l) as is_latest
  from mirror.coverage c
  join mirror.publications p on p.run_id = c.run_id;
comment on view bi.mirror_coverage is 'How complete the mirror of deals is, one row per publication and way of discovery. It counts discovered deals only: the service has no list of deals. Answers: How many deals are known, how were they discovered, and how fresh are they?';
comment on column bi.mirror_coverage.run_id is 'Run that made the publication, see bi.runs. With way, the key of the row.';
comment on column bi.mirror_coverage.published_at is 'When the run published.';
comment on column bi.mirror_coverage.way is 'How deals were first discovered: see bi.deals.found_by; all: every deal, each once.';
comment on column bi.mirror_coverage.known_deals is 'Deals first discovered this way. The rows add up to all.';
comment on column bi.mirror_coverage.also_known_deals is 'Deals first discovered in another way, and in this one too.';
comment on column bi.mirror_coverage.fresh_deals is 'Of known_deals: read within refresh_after_hours of the job.';
comment on column bi.mirror_coverage.stale_deals is 'Of known_deals: read longer ago.';
comment on column bi.mirror_coverage.unread_deals is 'Of known_deals: not read yet.';
comment on column bi.mirror_coverage.failing_deals is 'Of known_deals: could not be read when it was last tried.';
comment on column bi.mirror_coverage.deleted_deals is 'Of known_deals: gone.';
comment on column bi.mirror_coverage.oldest_read_at is 'When the one that was read longest ago was read, without those that are gone.';
comment on column bi.mirror_coverage.newest_read_at is 'When the one that was read last was read.';
comment on column bi.mirror_coverage.is_latest is 'Whether the row belongs to the last publication.';
