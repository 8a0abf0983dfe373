-- How codes are used, day by day.

create view bi.code_use_daily as
  select u.day_utc, u.code_folded as code, o.deal_id, reporting.without_addresses(o.influencer_handle) as influencer_handle, u.orders,
    u.without_link as orders_without_link
  from reporting.code_use_days u
  left join (
    select code_folded, min(deal_id) as deal_id, min(influencer_handle) as influencer_handle from intake.codes group by code_folded
  ) o on o.code_folded = u.code_folded;
comment on view bi.code_use_daily is 'Orders that carry a code, one row per day and code. Cancelled orders, tests, and codes that contain an e-mail address are left out. The command `leaks` judges these figures. As of the last refresh. Answers: Which codes are used without a link more than before?';
comment on column bi.code_use_daily.day_utc is 'Day of the orders, in UTC. With code, the key of the row.';
comment on column bi.code_use_daily.code is 'The code in lower case and without blanks.';
comment on column bi.code_use_daily.deal_id is 'Deal that owns the code, if any; of several owners the first by id.';
comment on column bi.code_use_daily.influencer_handle is 'Influencer who owns the code, if known.';
comment on column bi.code_use_daily.orders is 'Orders that carry the code.';
comment on column bi.code_use_daily.orders_without_link is 'Of those: orders without a link, so that only the code leads to a creator. Many of them at once may mean that the code has leaked.';
