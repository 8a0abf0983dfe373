-- Title: What were claims answered?
-- Description: Claims of creators by answer and currency, with what is credited to them for these orders. An order with several claims counts once.
-- View: bi.credit_claims
select answer, currency, count(*) as claims, sum(amount) filter (where not is_repeated) as amount,
  sum(credited_amount) filter (where not is_repeated) as credited_amount
from bi.credit_claims
where answer is not null
group by answer, currency
order by claims desc, answer, currency;
