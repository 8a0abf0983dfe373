-- A fee stands beside the orders of its deal and month, so that no reader has to match the two.

alter table reporting.return_months add column fee_amount numeric(18,4) not null default 0;
comment on column reporting.return_months.fee_amount is 'Fixed fees of the terms that begin in the month; of a deal with several brands, beside the first.';

-- Everything is added up anew.
update reporting.return_rules set rules_hash = '';
