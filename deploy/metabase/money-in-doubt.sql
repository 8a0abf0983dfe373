-- Title: How much money is in doubt, and since when?
-- Description: Orders that were sent but whose answer was lost, by currency.
-- View: bi.doubts
select currency, count(*) as orders, sum(amount) as amount, min(doubted_at) as oldest_at
from bi.doubts
where currency is not null
group by currency
order by currency;
