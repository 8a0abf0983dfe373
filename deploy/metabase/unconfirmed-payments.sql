-- Title: Which payments has the bank not confirmed?
-- Description: Payments in a file for the bank that are not, or not wholly, paid, by currency.
-- View: bi.payments
select currency, state, count(*) as payments, sum(amount - paid_amount) as amount, min(exported_at)::date as first_exported
from bi.payments
where state in ('exported', 'partly_paid')
group by currency, state
order by currency, state;
