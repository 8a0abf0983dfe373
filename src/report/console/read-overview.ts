import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

/** Orders of one job and day with one disposition. */
export type OutcomeOfDay = {
  readonly day: string;
  readonly job: string;
  readonly disposition: string;
  readonly orders: number;
};

/** What was credited, by currency. */
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

/** The newest day, in UTC and not after `now`, of which there are orders; null where there are none. */
export async function findLastDay(db: Database, now: Date): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`
    select to_char(max(day_utc), 'YYYY-MM-DD') as day from reporting.funnel_days
    where day_utc <= (${now.toISOString()}::timestamptz at time zone 'UTC')::date`.execute(db);
  return rows[0]?.day ?? null;
}

/** Days in UTC, both included. */
export type Days = { readonly from: string; readonly to: string };

/** What became of the orders of each of these days, as of the last refresh of the reports. */
export async function readOutcomesByDay(db: Database, { from, to }: Days): Promise<readonly OutcomeOfDay[]> {
  const { rows } = await sql<Omit<OutcomeOfDay, 'orders'> & { orders: string }>`
    select to_char(day_utc, 'YYYY-MM-DD') as day, job, disposition, sum(orders) as orders from reporting.funnel_days
    where day_utc between ${from}::date and ${to}::date
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Revenue that the service has accepted for orders of these days. */
export async function readCredited(db: Database, { from, to }: Days): Promise<readonly Credited[]> {
  const { rows } = await sql<Omit<Credited, 'orders'> & { orders: string }>`
    select job, currency, sum(orders) as orders, sum(amount) as amount from reporting.funnel_days
    where disposition = 'accepted' and day_utc between ${from}::date and ${to}::date
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** How each job that has run is. */
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

/** Orders that were held before they were sent, and those that the service refused, as of the last refresh of the reports. */
export async function readWaitingOrders(db: Database): Promise<readonly WaitingOrders[]> {
  const { rows } = await sql<Omit<WaitingOrders, 'orders'> & { orders: string }>`
    select disposition, currency, count(*) as orders, coalesce(sum(amount), 0) as amount from reporting.order_dispositions
    where is_open and disposition in ('held', 'rejected') group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}
