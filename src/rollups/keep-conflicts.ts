import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';

/*
 * `reporting.conflicts` contains a row for each order of `intake.order_claims` that somebody is or may still be
 * credited for. A row depends on the claims and on the disposition of its order, and on nothing else. A decision
 * replaces claims together with the date of its file, so the orders that a refresh compares include all whose
 * claims have changed.
 */

/** An order of the job that is being refreshed. */
export type OrderKey = { readonly source: string; readonly orderId: string };

/**
 * SQL for the orders that have claims, or that are in `reporting.conflicts`: rows with source and order_id.
 *
 * @param orders current orders with source and order_id.
 */
export function ordersWithClaims(job: string, orders: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select p.source, p.order_id from ${orders} p
    cross join lateral (
      select true from (
        select true
        from intake.order_claims c
        where c.job = ${job} and c.source = p.source and c.order_id = p.order_id
        union all
        select true
        from reporting.conflicts k
        where k.job = ${job} and k.source = p.source and k.order_id = p.order_id
      ) known limit 1) found`;
}

/**
 * Updates the conflicts of some orders. Call it once their dispositions are up to date.
 *
 * @param orders orders with claims, or that are in `reporting.conflicts`.
 */
export async function keepConflicts(
  trx: Transaction<DB>,
  { job, orders }: { job: string; orders: readonly OrderKey[] },
): Promise<void> {
  if (orders.length === 0) return;
  const changed = await rowsOf<OrderKey>(trx)`
    select o.source, o.order_id as "orderId" from ${keysOf(job, orders)} o
    left join lateral (${conflictOf('o')}) n on true
    left join lateral (
      select k.*
      from reporting.conflicts k
      where k.job = o.job and k.source = o.source and k.order_id = o.order_id
      limit 1) k
        on true
    where row(n.*) is distinct from row(k.*)`;
  if (changed.length === 0) return;
  const keys = keysOf(job, changed);
  await execute(trx)`
    delete from reporting.conflicts k
    where k.job = ${job} and k.source = any (array(select source from ${keys} o))
      and k.order_id = any (array(select order_id from ${keys} o))
      and (k.source, k.order_id) in (select source, order_id from ${keys} o)`;
  await insertConflicts(trx, keys);
}

/** Reads all conflicts again. */
export async function rebuildConflicts(trx: Transaction<DB>): Promise<void> {
  await trx.deleteFrom('reporting.conflicts').execute();
  await insertConflicts(trx, sql`(select distinct job, source, order_id from intake.order_claims)`);
}

async function insertConflicts(trx: Transaction<DB>, orders: RawBuilder<unknown>): Promise<void> {
  await execute(trx)`
    insert into reporting.conflicts (job, source, order_id, ordered_at, day_utc, conflict, currency, amount,
      disposition, target, first_target, last_target, explicit_target)
    select n.*
    from ${orders} o cross join lateral (${conflictOf('o')}) n
    order by n.day_utc, n.source, n.order_id`;
}

/** SQL for a table of orders with job, source and order_id. */
function keysOf(job: string, orders: readonly OrderKey[]): RawBuilder<unknown> {
  return sql`(
    select ${job}::text as job, source, "orderId" as order_id
    from jsonb_to_recordset(${toJsonParameter(orders)}::jsonb) as given (source text, "orderId" text))`;
}

/**
 * SQL for the row of `reporting.conflicts` of one order, if it belongs there: looked up by keys, independent of
 * the planner's statistics (see db/large-statements.ts).
 *
 * @param order alias of a row with job, source and order_id.
 */
function conflictOf(order: string): RawBuilder<unknown> {
  const isOrder = (alias: string): RawBuilder<unknown> =>
    sql.join(
      ['job', 'source', 'order_id'].map(
        (key) => sql`${sql.ref(`${alias}.${key}`)} = ${sql.ref(`${order}.${key}`)}`,
      ),
      sql` and `,
    );
  return sql`
    select s.job, s.source, s.order_id, s.ordered_at, s.day_utc, c.conflict, s.currency, s.amount,
      s.disposition, s.target,
      -- Two claims at one place are a code with two owners. Neither stands before the other.
      case
        when c.places[c.named + 1] is distinct from c.places[c.named + 2]
          then c.targets[c.named + 1] end as first_target,
      case
        when c.places[c.claims] is distinct from c.places[c.claims - 1]
          then c.targets[c.claims] end as last_target,
      c.explicit_target
    from (
      select case when bool_or(kind = 'explicit') then 'named'
        when bool_or(kind = 'link') and bool_or(kind = 'code') then 'link_and_code'
          when bool_or(kind = 'code') then 'codes' else 'links' end as conflict,
        -- Sorted as the primary key. What the export names stands first, at place 0.
        count(*)::integer as claims, count(*) filter (where place = 0)::integer as named,
        array_agg(place order by place, target) as places,
        array_agg(target order by place, target) as targets,
        min(target) filter (where place = 0) as explicit_target
      from intake.order_claims c where ${isOrder('c')}
    ) c
    cross join lateral (select s.* from reporting.order_dispositions s where ${isOrder('s')} limit 1) s
    where c.claims > 0 and s.disposition not in ('excluded', 'unattributed', 'organic', 'unaccounted')`;
}
