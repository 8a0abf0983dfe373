import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { hashRules, keptColumns, standingOf } from './kept-earnings.ts';
import { ratedOrders } from './rated-orders.ts';
import type { StatementRules } from './statement.ts';

/** Number of changes per step, so that a step takes a second or less. */
const STEP_CHANGES = 20_000;

/**
 * Updates `reporting.order_earnings` and its sums with all orders that have changed, or with all orders if the
 * rules have changed. Works in steps of one commit each, one step of one process at a time. If it is
 * interrupted, the changes that are left stay noted.
 *
 * @param options.onStep called after each step. If it throws, the work ends between two steps.
 */
export async function keepEarnings(
  db: Database,
  { rules, onStep = () => {} }: { readonly rules: StatementRules; readonly onStep?: () => void },
): Promise<void> {
  await inTransaction(db, (trx) => adoptRules(trx, rules));
  for (let isOver = false; !isOver; onStep()) isOver = await inTransaction(db, (trx) => keepStep(trx, rules));
}

/** With other rules, every order may have earned something else. */
async function adoptRules(trx: DatabaseTransaction, rules: StatementRules): Promise<void> {
  await lock(trx);
  const { numAffectedRows } = await sql`
    update reporting.earning_rules set rules_hash = ${hashRules(rules)} where rules_hash <> ${hashRules(rules)}`.execute(
    trx,
  );
  if (numAffectedRows === 0n) return;
  await sql`
    insert into reporting.changed_earnings (entry_id)
    select entry_id from (
      select entry_id from ledger.entries where effect = 'referral' and state = 'accepted'
      union select entry_id from reporting.order_earnings) e
    order by entry_id`.execute(trx);
}

/** Lets one refresh of the reports work at a time, like `beginStep` of src/rollups. */
async function lock(trx: DatabaseTransaction): Promise<void> {
  await suitLargeStatements(trx);
  await sql`select from reporting.refresh for update`.execute(trx);
}

/**
 * Takes some changes, and computes their orders again. A change is noted in the transaction that makes it, so
 * what commits before the orders are computed is included, and what commits later stays noted.
 *
 * @returns true if no change is left, or if another process has adopted other rules.
 */
async function keepStep(trx: DatabaseTransaction, rules: StatementRules): Promise<boolean> {
  await lock(trx);
  const { rows: adopted } = await sql`
    select from reporting.earning_rules where rules_hash = ${hashRules(rules)}`.execute(trx);
  if (adopted.length === 0) return true;
  const taken = await takeChanges(trx);
  if (taken === 0) return true;
  // Rows are compared by the order of their columns.
  await sql`create temporary table new_earnings (like reporting.order_earnings) on commit drop`.execute(trx);
  await sql`
    insert into pg_temp.new_earnings (${keptColumns()}, closed_amount, standing)
    with ${ratedOrders(rules, sql`select entry_id from pg_temp.taken_earnings`)}
    select ${keptColumns('e')}, c.amount as closed_amount, ${standingOf(sql`e`, sql`c.amount`)} as standing
    from earnings e
    left join lateral (
      select sum(l.amount) as amount from ops.statement_lines l where l.subject = e.subject having count(*) > 0) c on true`.execute(
    trx,
  );
  await moveOrders(trx);
  await addToSums(trx);
  return taken < STEP_CHANGES;
}

/** @returns how many changes were taken. */
async function takeChanges(trx: DatabaseTransaction): Promise<number> {
  await sql`
    with taken as (
      delete from reporting.changed_earnings
      where change_no = any (array(select change_no from reporting.changed_earnings where collab_id is not null))
      returning collab_id
    )
    insert into reporting.changed_earnings (entry_id)
    select e.entry_id from (select distinct collab_id from taken) t
    cross join lateral (select e.entry_id from reporting.order_earnings e where e.collab_id = t.collab_id offset 0) e`.execute(
    trx,
  );
  await sql`create temporary table taken_earnings (entry_id bigint) on commit drop`.execute(trx);
  const { rows } = await sql<{ changes: string }>`
    with taken as (
      delete from reporting.changed_earnings
      where change_no = any (array(
        select change_no from reporting.changed_earnings order by change_no limit ${STEP_CHANGES}::integer))
      returning entry_id
    ),
    listed as (insert into pg_temp.taken_earnings select distinct entry_id from taken)
    select count(*) as changes from taken`.execute(trx);
  return Number(rows[0]?.changes ?? 0);
}

/** Replaces the rows that differ, and keeps both versions of them in the temporary table `moved_earnings`. */
async function moveOrders(trx: DatabaseTransaction): Promise<void> {
  await sql`
    create temporary table moved_earnings on commit drop as
    with pairs as materialized (
      select k.before, n.after
      from pg_temp.taken_earnings t
      left join lateral (
        select k as before from reporting.order_earnings k where k.entry_id = t.entry_id limit 1) k on true
      left join (select n.entry_id, n as after from pg_temp.new_earnings n) n on n.entry_id = t.entry_id
      where row((k.before).*) is distinct from row((n.after).*)
    )
    select -1 as sign, (p.before).* from pairs p where (p.before).entry_id is not null
    union all select 1, (p.after).* from pairs p where (p.after).entry_id is not null`.execute(trx);
  await sql`
    delete from reporting.order_earnings
    where entry_id = any (array(select entry_id from pg_temp.moved_earnings where sign = -1))`.execute(trx);
  await sql`
    insert into reporting.order_earnings (${keptColumns()}, closed_amount, standing)
    select ${keptColumns('m')}, closed_amount, standing from pg_temp.moved_earnings m where sign = 1 order by entry_id`.execute(
    trx,
  );
}

/** Adds the differences to the sums. They are exact, so sums do not drift away from their parts. */
async function addToSums(trx: DatabaseTransaction): Promise<void> {
  const sums = sql`
    sum(sign) as orders, sum(sign * coalesce(net_amount, 0)) as net, sum(sign * coalesce(earned_amount, 0)) as earned,
    sum(sign * coalesce(closed_amount, 0)) as closed
    from pg_temp.moved_earnings where standing <> 'settled'`;
  const added = sql`
    orders = s.orders + excluded.orders, net_amount = s.net_amount + excluded.net_amount,
    earned_amount = s.earned_amount + excluded.earned_amount, closed_amount = s.closed_amount + excluded.closed_amount`;
  const differs = sql`sum(sign) <> 0 or sum(sign * coalesce(net_amount, 0)) <> 0 or sum(sign * coalesce(earned_amount, 0)) <> 0
    or sum(sign * coalesce(closed_amount, 0)) <> 0`;
  await sql`
    insert into reporting.deal_earnings as s (deal_id, currency, standing, ordered_month, due_month, influencer_handle, orders, net_amount,
      earned_amount, closed_amount)
    select coalesce(deal_id, ''), currency, standing, date_trunc('month', ordered_on)::date, date_trunc('month', due_on)::date,
      coalesce(influencer_handle, ''), ${sums}
    group by 1, 2, 3, 4, 5, 6 having ${differs}
    on conflict (deal_id, currency, standing, ordered_month, due_month, influencer_handle) do update set ${added}`.execute(
    trx,
  );
  await sql`delete from reporting.deal_earnings where orders = 0`.execute(trx);
  await sql`
    insert into reporting.earning_days as s (currency, standing, ordered_on, due_on, orders, net_amount, earned_amount, closed_amount)
    select currency, standing, ordered_on, due_on, ${sums}
    group by 1, 2, 3, 4 having ${differs}
    on conflict (currency, standing, ordered_on, due_on) do update set ${added}`.execute(trx);
  await sql`delete from reporting.earning_days where orders = 0`.execute(trx);
}
