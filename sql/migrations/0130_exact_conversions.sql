-- Converted amounts keep all their decimals, so that a sum of many orders is rounded once, as that of a statement is.
alter table reporting.return_fees alter column fee_converted type numeric;
alter table reporting.return_months alter column net_converted type numeric, alter column commission_converted type numeric,
  alter column fee_converted type numeric;
-- What was rounded is computed again.
update reporting.return_rules set rules_hash = '';
