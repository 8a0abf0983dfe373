import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

/** Orders of one job and day with one disposition. */
export type OutcomeOfDay = {
  readonly day: string;
  readonly job: string;
  readonly disposition: string;
  readonly orders: number;
};

/** Credited orders, by job and currency. */
export type Credited = {
  readonly job: string;
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

/** Counts the orders of each day by disposition, as of the last refresh of the reports. */
export async function readOutcomesByDay(db: Database, { from, to }: Days): Promise<readonly OutcomeOfDay[]> {
  const { rows } = await sql<Omit<OutcomeOfDay, 'orders'> & { orders: string }>`
    select to_char(day_utc, 'YYYY-MM-DD') as day, job, disposition, sum(orders) as orders from reporting.funnel_days
    where day_utc between ${from}::date and ${to}::date
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Sums the revenue that the service has accepted for the orders of these days. */
export async function readCredited(db: Database, { from, to }: Days): Promise<readonly Credited[]> {
  const { rows } = await sql<Omit<Credited, 'orders'> & { orders: string }>`
    select job, currency, sum(orders) as orders, sum(amount) as amount from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Reads the health of each job that has run. */
export async function readJobHealth(db: Database): Promise<readonly JobHealth[]> {
  const { rows } = await sql<Omit<JobHealth, 'missedSlots'> & { missedSlots: string }>`
    select job, kind, last_run_id as "lastRunId", last_status as "lastStatus", last_ok_at as "lastOkAt", missed_slots as "missedSlots"
    from bi.run_health order by job`.execute(db);
  return rows.map((row) => ({ ...row, missedSlots: Number(row.missedSlots) }));
}

/** Orders of one disposition that wait for a person. */
export type WaitingOrders = {
  readonly disposition: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
};

/** Sums orders that are held or that the service refused, as of the last refresh of the reports. */
export async function readWaitingOrders(db: Database): Promise<readonly WaitingOrders[]> {
  const { rows } = await sql<Omit<WaitingOrders, 'orders'> & { orders: string }>`
    select disposition, currency, sum(orders) as orders, sum(amount) as amount from reporting.funnel_days
    where disposition in ('held', 'rejected') group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}
