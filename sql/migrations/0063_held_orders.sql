-- The console lists held orders. Those of two owners have no entry and are not open, so the index of open orders does not have them all.
create index order_dispositions_held on reporting.order_dispositions (day_utc) where disposition = 'held';
