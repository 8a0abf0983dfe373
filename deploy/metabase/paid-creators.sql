-- Title: What was each creator paid?
-- Description: What the bank says was paid, or a person paid elsewhere, by creator and currency. What a creator owed and settled is not in it.
-- View: bi.payments
select influencer_handle, currency, sum(paid_amount) as paid_amount, max(paid_local) as last_paid
from bi.payments
where paid_amount > 0
group by influencer_handle, currency
order by influencer_handle, currency;
