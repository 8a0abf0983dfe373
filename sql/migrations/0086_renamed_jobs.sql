-- contract: all processes of an earlier version. They would exclude the orders of a job that gets another name, and read layouts otherwise than workers of this version.
-- A job that gets another name keeps what it has decided, what waits to be sent, and what it has earned.

create function ops.rename_job(p_old text, p_new text) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  entries bigint;
begin
  update ledger.entries set job = p_new where job = p_old;
  get diagnostics entries = row_count;
  update intake.attributions set job = p_new where job = p_old;
  update intake.attributed_files set job = p_new where job = p_old;
  update intake.order_claims set job = p_new where job = p_old;
  update intake.code_lists set job = p_new where job = p_old;
  update intake.codes set job = p_new where job = p_old;
  update intake.code_assignments set job = p_new where job = p_old;
  update intake.revenue_rules set job = p_new where job = p_old;
  update intake.clicks set job = p_new where job = p_old;
  update intake.creators set job = p_new where job = p_old;
  update intake.outreach_candidates set job = p_new where job = p_old;
  update intake.identify_batches set job = p_new where job = p_old;
  update intake.waiting_batches set job = p_new where job = p_old;
  update reporting.accepted_sums set job = p_new where job = p_old;
  update reporting.counted_files set job = p_new where job = p_old;
  update reporting.order_dispositions set job = p_new where job = p_old;
  update reporting.conflicts set job = p_new where job = p_old;
  update reporting.code_days set job = p_new where job = p_old;
  update reporting.funnel_days set job = p_new where job = p_old;
  update ops.backfills set job = p_new where job = p_old;
  -- Whoever paused it wants nothing to be sent, under whatever name.
  update ops.paused_jobs set job = p_new where job = p_old and not exists (select from ops.paused_jobs where job = p_new);
  return entries;
end $body$;
revoke execute on function ops.rename_job(text, text) from public;
comment on function ops.rename_job(text, text) is 'Gives what a job has decided, sent and earned to the job that continues it under another name, and returns the number of its entries. What tells its history (runs, schedules, problems, units of work) keeps the old name.';
