-- The page of a creator reads the rows of their deals from bi.returns_monthly, where a deal that is not known is null.
create index return_months_deal on reporting.return_months (nullif(deal_id, ''));
