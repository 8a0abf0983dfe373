import type { Database } from '../../db/connect.ts';
import { rowOf, rowsOf } from '../../db/statement.ts';

/** Credited orders, by job and currency. */
export type Credited = {
  readonly job: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
};

/** Credited orders of one day, in one currency. */
export type CreditedDay = {
  readonly day: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
};

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
export async function readCredited(db: Database, { from, to }: Days): Promise<readonly Credited[]> {
  return rowsOf<Credited>(db)`
    select job, currency, sum(orders)::float8 as orders, sum(amount) as amount from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 1, 2`;
}

/** Sums that revenue by day. */
export async function readCreditedDays(db: Database, { from, to }: Days): Promise<readonly CreditedDay[]> {
  return rowsOf<CreditedDay>(db)`
    select to_char(day_utc, 'YYYY-MM-DD') as day, currency, sum(orders)::float8 as orders, sum(amount) as amount
    from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 2, 1`;
}

/** Reads the health of each job that has run. */
export async function readJobHealth(db: Database): Promise<readonly JobHealth[]> {
  return rowsOf<JobHealth>(db)`
    select job, kind, last_run_id as "lastRunId", last_status as "lastStatus", last_ok_at as "lastOkAt", missed_slots::float8 as "missedSlots"
    from bi.run_health order by job`;
}
