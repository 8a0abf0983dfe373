import { GONE_AFTER } from '../../core/work.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { jobsOf } from '../runs/list-runs.ts';

/** Credited orders, by job and currency. */
export type Credited = {
  readonly job: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
};

/** Credited orders of one day, in one currency. */
export type CreditedDay = Omit<Credited, 'job'> & { readonly day: string };

export type JobHealth = {
  readonly job: string;
  readonly kind: string;
  readonly lastRunId: string;
  readonly lastStatus: string;
  readonly lastOkAt: Date | null;
  readonly missedSlots: number;
};

/** Finds the newest day with orders, in UTC and not after `now`; null if there are no orders. */
export async function findLastDay(db: Database, now: Date): Promise<string | null> {
  const row = await rowOf<{ day: string | null }>(db)`
    select to_char(max(day_utc), 'YYYY-MM-DD') as day from reporting.funnel_days
    where day_utc <= (${now.toISOString()}::timestamptz at time zone 'UTC')::date`;
  return row?.day ?? null;
}

/** Days in UTC, both included. */
export type Days = { readonly from: string; readonly to: string };

/** Sums the revenue that the service has accepted for the orders of these days. */
export function readCredited(db: Database, { from, to }: Days) {
  return rowsOf<Credited>(db)`
    select job, currency, sum(orders)::float8 as orders, sum(amount) as amount from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 1, 2`;
}

/** Sums that revenue by day. */
export function readCreditedDays(db: Database, { from, to }: Days) {
  return rowsOf<CreditedDay>(db)`
    select to_char(day_utc, 'YYYY-MM-DD') as day, currency, sum(orders)::float8 as orders,
      sum(amount) as amount
    from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 2, 1`;
}

/** Reads the health of each job that has run. */
export function readJobHealth(db: Database) {
  return rowsOf<JobHealth>(db)`
    select job, kind, last_run_id as "lastRunId", last_status as "lastStatus", last_ok_at as "lastOkAt",
      missed_slots::float8 as "missedSlots"
    from bi.run_health order by job`;
}

/** Returns a text that changes whenever data on a page of the console changes. Costs a few index look-ups. */
export async function readChangeVersion(db: Database): Promise<string> {
  const row = await rowOf<{ version: string }>(db)`
    select concat_ws('/',
      (select run_id || status from ops.runs order by run_id desc limit 1),
      (select count(*) from (select status from ops.runs order by run_id desc limit 50) r
        where r.status <> 'running'),
      (select string_agg(concat_ws('.', s.run_id, s.position, s.times, s.done), ',') from ops.run_steps s
        join (select run_id, status from ops.runs order by run_id desc limit 50) r using (run_id)
        where r.status = 'running'),
      (select max(audit_id) from ops.audit), (select max(notice_id) from ops.notices),
      (select string_agg(bulk_id || state || (ended_at is null), ',' order by bulk_id)
        from (select * from ops.bulk_actions order by bulk_id desc limit 20) b),
      (select string_agg(worker_id::text || (draining_since is null), ',' order by worker_id) from ops.workers
        where seen_at > clock_timestamp() - ${GONE_AFTER}::interval),
      (select max(decision_id) from ledger.decisions),
      (select max(t.claim_no) from (select run_id, status from ops.runs order by run_id desc limit 50) r
        cross join lateral (
          select max(claim_no) as claim_no from ledger.attempts a
          where a.run_id = r.run_id and a.claimed_at > statement_timestamp() - interval '1 minute') t
        where r.status = 'running'),
      (select string_agg(s.job || s.slot || s.state, ',' order by s.job) from ${jobsOf('ops.slots')} j
        cross join lateral (select job, slot, state from ops.slots l where l.job = j.job order by l.slot desc
          limit 1) s)
    ) as version`;
  return row?.version ?? '';
}
