-- Title: Which claims of creators wait for an answer?
-- Description: Orders that creators say were not credited, by creator and currency, with the first day by which an answer is due.
-- View: bi.credit_claims
select influencer_handle, currency, count(*) as claims, sum(amount) as amount, min(deadline_local) as first_deadline
from bi.credit_claims
where state = 'open'
group by influencer_handle, currency
order by first_deadline nulls last, influencer_handle, currency;
