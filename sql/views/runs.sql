-- What ran, and whether what is shown here can be relied on.

create view bi.runs as
  select r.run_id, r.job, r.kind,
    case when r.status = 'running' and not exists (
      select from ops.leases l
      where l.name = 'job:' || r.job and l.expires_at > clock_timestamp() and l.acquired_at <= r.started_at + interval '1 minute'
    ) then 'lost' else r.status end as status,
    r.started_at, r.finished_at, (r.started_at at time zone 'UTC')::date as day_utc,
    round(extract(epoch from r.finished_at - r.started_at), 3) as duration_seconds,
    r.exit_code, r.status = 'ok' as is_ok, r.problem,
    (r.counts ->> 'files')::bigint as files_read, (r.counts ->> 'rows')::bigint as rows_read,
    (r.counts ->> 'rejected_rows')::bigint as rejected_rows,
    (r.counts -> 'entries' ->> 'accepted')::bigint as accepted_orders, (r.counts ->> 'submitted')::bigint as submitted_customers,
    (r.counts -> 'lookups' ->> 'influencers')::bigint as influencers_found, (r.counts -> 'deals' ->> 'asked')::bigint as deals_read
  from ops.runs r;
comment on view bi.runs is 'Every run of every job, one row per run. Live. Answers: What ran last night, and how did it end? How long do runs take?';
comment on column bi.runs.run_id is 'Key of the row. Counts up.';
comment on column bi.runs.job is 'Job in the configuration.';
comment on column bi.runs.kind is 'Kind of the job, for example attribute-orders.';
comment on column bi.runs.status is 'running, ok, issues (something was rejected, held or is in doubt), failed, interrupted, lost (its process does not respond).';
comment on column bi.runs.started_at is 'When it began.';
comment on column bi.runs.finished_at is 'When it ended; null while it runs, or when it is lost.';
comment on column bi.runs.day_utc is 'Day of started_at in UTC.';
comment on column bi.runs.duration_seconds is 'How long it took; null while it runs.';
comment on column bi.runs.exit_code is 'Exit code of the process; 0 is success.';
comment on column bi.runs.is_ok is 'Whether the run ended with status ok.';
comment on column bi.runs.problem is 'Why it failed or stopped, without secrets and addresses.';
comment on column bi.runs.files_read is 'Exports read; null for kinds that read none.';
comment on column bi.runs.rows_read is 'Rows of these exports.';
comment on column bi.runs.rejected_rows is 'Rows of these that could not be used.';
comment on column bi.runs.accepted_orders is 'Orders that the service accepted in this run; null for kinds that send none.';

comment on column bi.runs.submitted_customers is 'Customers that the service accepted for identification in this run; null for other kinds.';
comment on column bi.runs.influencers_found is 'Customers whom a look-up in real time found to be influencers; null for other kinds.';
comment on column bi.runs.deals_read is 'Deals that were read for the mirror; null for other kinds.';

create view bi.rejected_rows as
  select f.source, f.uri as file, r.line_no, r.record_no, r.code, r.column_name, r.reason, r.row_count as rows, r.order_id, r.order_name,
    r.first_seen_at as rejected_at, (r.first_seen_at at time zone 'UTC')::date as day_utc, r.run_id,
    r.order_id is not null and exists (
      select from intake.orders c
      cross join lateral (
        select v.order_version_id, v.source_file_id, v.stated_hash from intake.orders v
        where v.order_version_id = coalesce(c.stated_version_id, c.order_version_id)
        limit 1) v
      join intake.source_files stated on stated.source_file_id = v.source_file_id and stated.state = 'sealed'
      where c.source = f.source and c.order_id = r.order_id and c.is_current
        and ((v.source_file_id > r.source_file_id
            and case when v.stated_hash is not null then stated.aged_at > f.aged_at
              else coalesce(stated.aged_at >= f.aged_at, stated.aged_at is null and f.aged_at is null) end)
          or exists (
            select from intake.restated_orders s join intake.source_files again on again.source_file_id = s.source_file_id
            where s.source_file_id > r.source_file_id and (s.order_version_ids @> v.order_version_id or s.order_version_ids @> c.order_version_id)
              and coalesce(again.aged_at >= f.aged_at, again.aged_at is null and f.aged_at is null)))
    ) as is_settled
  from intake.rejected_rows r join intake.source_files f on f.source_file_id = r.source_file_id
  where f.state <> 'reading' and not exists (
    select from intake.source_files later where later.source_file_id = f.superseded_by and later.state = 'sealed');
comment on view bi.rejected_rows is 'Rows of files that could not be used, one row per rejection. Live. Answers: Which rows still wait for a correction?';
comment on column bi.rejected_rows.source is 'Source in the configuration.';
comment on column bi.rejected_rows.file is 'Address of the file. With record_no, the key of the row.';
comment on column bi.rejected_rows.line_no is 'Physical line on which the row begins, 1-based.';
comment on column bi.rejected_rows.record_no is 'Number of the record, header excluded, 1-based.';
comment on column bi.rejected_rows.code is 'Kind of problem, for example bad_money.';
comment on column bi.rejected_rows.column_name is 'Header of the column at fault; null if it is the whole row.';
comment on column bi.rejected_rows.reason is 'What is wrong.';
comment on column bi.rejected_rows.rows is 'Number of rows of the file: more than one if a whole order is rejected.';
comment on column bi.rejected_rows.order_id is 'Order that the row states, see bi.orders; null if it is not known.';
comment on column bi.rejected_rows.order_name is 'Name of that order for people, if the row says it.';
comment on column bi.rejected_rows.rejected_at is 'When it was rejected.';
comment on column bi.rejected_rows.day_utc is 'Day of rejected_at in UTC.';
comment on column bi.rejected_rows.run_id is 'Run that rejected it, see bi.runs.';
comment on column bi.rejected_rows.is_settled is 'Whether a file that was read later, and is not older, states the order.';

create view bi.run_amounts as
  select r.run_id, r.job, r.started_at, a.currency, a.accepted as accepted_amount
  from ops.runs r
  cross join lateral jsonb_to_recordset(r.amounts) as a(currency text, accepted numeric)
  where jsonb_typeof(r.amounts) = 'array';
comment on view bi.run_amounts is 'What the service accepted in each run, one row per run and currency. Answers: How much was credited by each run?';
comment on column bi.run_amounts.run_id is 'Run, see bi.runs. With currency, the key of the row.';
comment on column bi.run_amounts.job is 'Job in the configuration.';
comment on column bi.run_amounts.started_at is 'When the run began.';
comment on column bi.run_amounts.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.run_amounts.accepted_amount is 'Revenue of the orders that were accepted, in currency.';

create view bi.run_health as
  with recursive jobs as (
    (select job from ops.runs order by job limit 1)
    union all
    select (select r.job from ops.runs r where r.job > j.job order by r.job limit 1) from jobs j where j.job is not null
  )
  select j.job, l.kind, l.run_id as last_run_id, l.status as last_status, l.started_at as last_started_at, l.finished_at as last_finished_at,
    k.finished_at as last_ok_at, round(extract(epoch from now() - k.finished_at) / 3600, 1) as hours_since_ok,
    (select count(*) from ops.runs f
      where f.job = j.job and f.run_id > coalesce(k.run_id, 0) and f.status in ('failed', 'interrupted')) as failures_since_ok,
    l.status = 'running' as is_running, l.status = 'lost' as is_lost,
    -- Each on its own and with nothing volatile, so that whoever asks for neither does not wait for a million entries to be counted.
    (select count(*) from ledger.entries e
      where e.job = j.job and not e.is_settled and (e.state = 'ready' or (e.state = 'sending' and exists (
        select from ops.leases o where o.owner = e.owner and o.expires_at > statement_timestamp())))) as ready_orders,
    (select count(*) from ledger.entries e
      where e.job = j.job and not e.is_settled and (e.state = 'in_doubt' or (e.state = 'sending' and not exists (
        select from ops.leases o where o.owner = e.owner and o.expires_at > statement_timestamp())))) as in_doubt_orders,
    (select count(*) from ops.slots s
      where s.job = j.job and s.state = 'missed' and s.slot >= now() - interval '7 days') as missed_slots,
    (select refreshed_at from reporting.refresh) as refreshed_at
  from jobs j
  cross join lateral (select * from bi.runs r where r.job = j.job order by r.run_id desc limit 1) l
  left join lateral (
    select r.run_id, r.finished_at from ops.runs r
    where r.job = j.job and r.status in ('ok', 'issues') order by r.run_id desc limit 1) k on true;
comment on view bi.run_health is 'Health of each job, one row per job. Live. Answers: Does every job run as it should? When were the daily sums last refreshed?';
comment on column bi.run_health.job is 'Key of the row: job in the configuration that has run at least once.';
comment on column bi.run_health.kind is 'Kind of the job.';
comment on column bi.run_health.last_run_id is 'Its last run, see bi.runs.';
comment on column bi.run_health.last_status is 'How that run ended, as in bi.runs.status.';
comment on column bi.run_health.last_started_at is 'When that run began.';
comment on column bi.run_health.last_finished_at is 'When that run ended; null while it runs.';
comment on column bi.run_health.last_ok_at is 'End of the last run that finished with status ok or issues. Null: none has.';
comment on column bi.run_health.hours_since_ok is 'Hours since last_ok_at: alert on this.';
comment on column bi.run_health.failures_since_ok is 'Runs since last_ok_at that failed or were interrupted.';
comment on column bi.run_health.is_running is 'Whether the job runs now.';
comment on column bi.run_health.is_lost is 'Whether the process of its running run does not respond.';
comment on column bi.run_health.ready_orders is 'Orders that wait to be sent, or are in flight.';
comment on column bi.run_health.in_doubt_orders is 'Orders in doubt, see bi.doubts.';
comment on column bi.run_health.missed_slots is 'Slots of the last 7 days that no process ran.';
comment on column bi.run_health.refreshed_at is 'When any job last refreshed the daily sums and bi.orders_attributed.';
