-- Forgets where orders stand and what the days add up to; the next run of each job works all of it out again from intake and ledger. Nothing is
-- lost by it. Until then the daily views of bi are empty. There should be no need: if there was one, please report it.
truncate reporting.counted_files, reporting.order_dispositions, reporting.funnel_days, reporting.deal_days, reporting.brand_days, reporting.code_days,
  reporting.code_use_days;
