-- Customers who turned out to be influencers: public profiles only. Who they are as customers stays in schema ledger, behind a hash.

create view bi.influencers_among_customers as
  select l.brand_id, b.name as brand_name, l.platform, l.user_id as platform_user_id, l.username, l.followers, l.is_verified, l.profile_url,
    l.picture_url, c.orders_count, c.spent as spent_amount, c.currency, c.bought_with_code as is_code_user, d.deal_id,
    d.deal_id is not null as is_in_a_deal, c.source, c.submitted_at, l.looked_up_at, l.run_id
  from intake.lookups l
  left join intake.customer_states c on c.customer_hash = l.customer_hash
  left join mirror.brand_versions b on b.brand_id = l.brand_id and b.is_latest
  left join lateral (
    select v.deal_id from mirror.deal_versions v
    where v.is_latest and v.is_current and ledger.fold_handle(v.influencer_handle) = ledger.fold_handle(l.username)
    order by v.deal_id limit 1
  ) d on true
  where l.outcome = 'influencer';
comment on view bi.influencers_among_customers is 'Customers whom the service found to be influencers, one row per customer and brand; only those that were looked up in real time. Live. Answers: Which customers are influencers, and have no deal yet?';
comment on column bi.influencers_among_customers.brand_id is 'Brand of the customer, see bi.brands.';
comment on column bi.influencers_among_customers.brand_name is 'Name of the brand, if it is mirrored.';
comment on column bi.influencers_among_customers.platform is 'instagram, tiktok, youtube or another word of the service.';
comment on column bi.influencers_among_customers.platform_user_id is 'Id of the influencer on the platform.';
comment on column bi.influencers_among_customers.username is 'Public handle on the platform.';
comment on column bi.influencers_among_customers.followers is 'Followers when looked up.';
comment on column bi.influencers_among_customers.is_verified is 'Whether the platform has verified the account.';
comment on column bi.influencers_among_customers.profile_url is 'Address of the public profile.';
comment on column bi.influencers_among_customers.picture_url is 'Address of the profile''s picture.';
comment on column bi.influencers_among_customers.orders_count is 'Orders as a customer, according to the export that was read last; null if it does not say.';
comment on column bi.influencers_among_customers.spent_amount is 'Spent as a customer, in currency, according to the export that was read last; null if it does not say.';
comment on column bi.influencers_among_customers.currency is 'ISO 4217, of spent_amount. Never add up amounts of different currencies.';
comment on column bi.influencers_among_customers.is_code_user is 'Whether the customer has used a discount code; null if only exports of customers were read.';
comment on column bi.influencers_among_customers.deal_id is 'A deal with the same handle, on any platform and for any brand, see bi.deals; null: none is known.';
comment on column bi.influencers_among_customers.is_in_a_deal is 'Whether there is such a deal.';
comment on column bi.influencers_among_customers.source is 'Source that stated the customer first.';
comment on column bi.influencers_among_customers.submitted_at is 'When the customer was last submitted to be identified; null: never.';
comment on column bi.influencers_among_customers.looked_up_at is 'When the service was asked.';
comment on column bi.influencers_among_customers.run_id is 'Run that asked, see bi.runs.';
