-- An order of a channel may stand in the channel's export and in that of the shop, whose tags name the channel's id.

alter table intake.orders add column other_ids text[] not null default '{}';
comment on column intake.orders.other_ids is 'Ids of orders at other channels that its tags and notes name, folded: it may be one of them.';
create index orders_other_ids on intake.orders using gin (other_ids) where is_current and other_ids <> '{}';
