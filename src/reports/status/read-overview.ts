import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

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
  const { rows } = await sql<{ day: string | null }>`
    select to_char(max(day_utc), 'YYYY-MM-DD') as day from reporting.funnel_days
    where day_utc <= (${now.toISOString()}::timestamptz at time zone 'UTC')::date`.execute(db);
  return rows[0]?.day ?? null;
}

/** Days in UTC, both included. */
export type Days = { readonly from: string; readonly to: string };

/** Sums the revenue that the service has accepted for the orders of these days. */
export async function readCredited(db: Database, { from, to }: Days): Promise<readonly Credited[]> {
  const { rows } = await sql<Omit<Credited, 'orders'> & { orders: string }>`
    select job, currency, sum(orders) as orders, sum(amount) as amount from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Sums that revenue by day. */
export async function readCreditedDays(db: Database, { from, to }: Days): Promise<readonly CreditedDay[]> {
  const { rows } = await sql<Omit<CreditedDay, 'orders'> & { orders: string }>`
    select to_char(day_utc, 'YYYY-MM-DD') as day, currency, sum(orders) as orders, sum(amount) as amount
    from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 2, 1`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Reads the health of each job that has run. */
export async function readJobHealth(db: Database): Promise<readonly JobHealth[]> {
  const { rows } = await sql<Omit<JobHealth, 'missedSlots'> & { missedSlots: string }>`
    select job, kind, last_run_id as "lastRunId", last_status as "lastStatus", last_ok_at as "lastOkAt", missed_slots as "missedSlots"
    from bi.run_health order by job`.execute(db);
  return rows.map((row) => ({ ...row, missedSlots: Number(row.missedSlots) }));
}
