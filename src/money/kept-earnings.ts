import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { countOf, type Database, execute, rowOf } from '../db/statement.ts';
import { noteDeals } from '../rollups/changed-deals.ts';
import { isChosen, stateOfFacts, withWholeDeals } from './conditions.ts';
import { ratedOrders } from './rated-orders.ts';
import { scheduleTerms } from './schedule-terms.ts';
import type { StatementRules } from './statement.ts';

/*
 * To compute what a million orders have earned takes seconds. So `reporting.order_earnings` keeps the result for
 * each order (`keepEarnings`), and sums of it. It is never shown as it is:
 *
 * - Triggers note each change that can affect what an order has earned (accepted entries, adjustments, decisions,
 *   rates of the service, closed statements) in the transaction of the change. An order that is not noted has
 *   earned exactly what is kept.
 * - A reader computes the noted orders live, with the same expressions, in place of the kept ones. It reads all of
 *   it in one snapshot.
 * - With other rules than those that were kept, with too many changes, or for a month before a closed one, it
 *   computes all orders.
 */

/** Increase it with every change of `ratedOrders` that changes a result. All orders are then computed again. */
const FORMULA = 7;

/** With more noted changes, it is hardly slower to compute all orders. */
const MAX_CHANGES = 20_000;

/** Describes what may be taken from the kept earnings. */
export type Kept = {
  /** False if no change is noted, so that nothing need be computed. */
  readonly hasChanges: boolean;
};

/** SQL: digest of everything that the earnings of orders depend on beside what is noted. Fees are not kept. */
function hashRules(rules: StatementRules): RawBuilder<string> {
  const { terms, returnWindowDays, timeZone, customersSince } = rules;
  const decisive = terms.filter((row) => isChosen(row) || row.cap !== null);
  const stated = [FORMULA, scheduleTerms(terms), decisive, returnWindowDays, timeZone, customersSince];
  const digest = createHash('sha256').update(JSON.stringify(stated)).digest('hex');
  return sql`(${digest} || ${stateOfFacts(rules)})`;
}

/**
 * Finds out whether the kept earnings may be used.
 *
 * @param trx a transaction with one snapshot, in which they are then read, or one in which a refresh of the reports
 * has begun a step, so that no other process can replace them.
 * @param options.month the month of a statement.
 * @returns null if all orders must be computed.
 */
export async function findKept(
  trx: DatabaseTransaction,
  { month, rules }: { month: string; rules: StatementRules },
): Promise<Kept | null> {
  const state = await rowOf<{ is_usable: boolean; changes: number }>(trx)`
    select r.rules_hash = ${hashRules(rules)}
      and not exists (select from ops.statements s where s.month >= ${`${month}-01`}::date) as is_usable,
      (select count(*)::integer from (${changedEntries} limit ${MAX_CHANGES + 1}::integer) c) as changes
    from reporting.earning_rules r`;
  if (state?.is_usable !== true || state.changes > MAX_CHANGES) return null;
  return { hasChanges: state.changes > 0 };
}

/** The entries whose kept earnings may be outdated, some of them several times. */
const changedEntries = sql`
  select entry_id from reporting.changed_earnings where entry_id is not null
  union all
  select e.entry_id
  from (select distinct collab_id from reporting.changed_earnings where collab_id is not null) c
  cross join lateral (select e.entry_id from reporting.order_earnings e
    where e.collab_id = c.collab_id offset 0) e`;

/**
 * SQL: common table expressions, the last of which, `orders`, has what each order has earned, in the columns of
 * `reporting.order_earnings`, without those that are settled. With changes, `changed` lists their entries, and
 * `live` has their earnings.
 *
 * @param dealId only the orders of this deal. Null: all.
 */
export function keptOrders(
  rules: StatementRules,
  { kept, dealId }: { kept: Kept; dealId: string | null },
): RawBuilder<unknown> {
  const ofDeal = dealId === null ? sql`` : sql`and deal_id = ${dealId}`;
  const stored = sql`
    select ${keptColumns('k')}, k.closed_amount, k.standing
    from reporting.order_earnings k where k.standing <> 'settled' ${ofDeal}`;
  if (!kept.hasChanges) return sql`orders as not materialized (${stored})`;
  return sql`
    ${changedOrders(rules)},
    orders as not materialized (
      ${stored} and k.entry_id not in (select entry_id from changed)
      union all select ${keptColumns('l')}, l.closed_amount, l.standing from live l
      where l.standing <> 'settled' ${ofDeal}
    )`;
}

/** SQL: common table expressions `changed` and `live` for the changes, as `keptOrders` explains. */
export function changedOrders(rules: StatementRules): RawBuilder<unknown> {
  return sql`
    changed as materialized (select distinct entry_id from (${withWholeDeals(rules, changedEntries)}) c),
    ${ratedOrders(rules, sql`select entry_id from changed`)},
    live as materialized (
      select ${keptColumns('e')}, closed_amount, standing
      from (${standingOrders(CLOSED_OF_ORDER)}) e
    )`;
}

/**
 * SQL: common table expressions, the last of which, `earned`, has what some orders have earned: the columns of
 * `keptColumns`.
 *
 * @param options.entries ids of their entries.
 * @param options.areKept true: as it is kept, without the changes that are noted, so that what is made of it is stale only
 *   if a kept row moves. False: all of them are computed.
 */
export function earnedOrders(
  rules: StatementRules,
  { areKept, entries }: { areKept: boolean; entries: RawBuilder<unknown> },
): RawBuilder<unknown> {
  if (areKept)
    return sql`
      earned as not materialized (
        select ${keptColumns('k')} from reporting.order_earnings k where k.entry_id = any (array(${entries})))`;
  return sql`
    ${ratedOrders(rules, withWholeDeals(rules, entries))},
    earned as not materialized (select ${keptColumns('e')} from earnings e where e.entry_id in (${entries}))`;
}

const COLUMNS = [
  'entry_id',
  'source',
  'order_platform',
  'order_id',
  'ordered_on',
  'due_on',
  'deal_id',
  'collab_id',
  'brand_id',
  'influencer_handle',
  'currency',
  'sent_amount',
  'net_amount',
  'excluded_amount',
  'rate_percent',
  'rate_from',
  'terms_lines',
  'earned_amount',
];

/** The columns of `earnings` that `reporting.order_earnings` keeps, of a relation. */
export function keptColumns(of: string | null = null): RawBuilder<unknown> {
  return sql.join(COLUMNS.map((column) => sql.ref(of === null ? column : `${of}.${column}`)));
}

/**
 * SQL: `earnings` with `closed_amount` and `standing`, as the comments of the columns explain. An order with closed
 * lines is of the creator to whom they were closed.
 *
 * @param closed join of a row `c` with `amount` and `handle` (`closedTo`), the sum of the closed lines; null if there
 * are none.
 */
export function standingOrders(closed: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = COLUMNS.filter((column) => column !== 'influencer_handle');
  return sql`
    select ${sql.join(columns.map((column) => sql.ref(`e.${column}`)))},
      coalesce(c.handle, e.influencer_handle) as influencer_handle, c.amount as closed_amount,
      case when e.net_amount is null then 'unknown_net'
        when e.earned_amount is null then e.unknown_why
        when c.amount is null then case when e.earned_amount = 0 then 'nothing' else 'new' end
        when e.earned_amount = c.amount then 'settled' else 'correction' end as standing
    from earnings e left join ${closed}`;
}

/** SQL: the handle that all rows name that name one, in any spelling. Null: none, or several. */
export function onlyHandle(handle: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`
    case when count(distinct ledger.fold_handle(nullif(${handle}, ''))) = 1
      then min(nullif(${handle}, '')) end`;
}

/** SQL: the creator to whom lines `l` were closed, with their headings `h`, if there are any. */
export const closedTo = onlyHandle(sql`coalesce(h.influencer_handle, l.influencer_handle)`);

const CLOSED_OF_ORDER = sql`
  lateral (
    select sum(l.amount) as amount, ${closedTo} as handle
    from ops.statement_lines l left join ops.statement_headings h using (statement_id, deal_id)
    where l.subject = e.subject) c on true`;

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
  { rules, onStep = () => {} }: { rules: StatementRules; onStep?: () => void },
): Promise<void> {
  await inTransaction(db, (trx) => adoptRules(trx, rules));
  for (let isOver = false; !isOver; onStep()) isOver = await inTransaction(db, (trx) => keepStep(trx, rules));
}

/** With other rules, every order may have earned something else. */
async function adoptRules(trx: DatabaseTransaction, rules: StatementRules): Promise<void> {
  await lock(trx);
  const rules_hash = hashRules(rules);
  const adopt = trx.updateTable('reporting.earning_rules').set({ rules_hash });
  const { numUpdatedRows } = await adopt.where('rules_hash', '<>', rules_hash).executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return;
  await execute(trx)`
    insert into reporting.changed_earnings (entry_id)
    select entry_id from (
      select entry_id from ledger.entries where effect = 'referral' and state = 'accepted'
      union select entry_id from reporting.order_earnings) e
    order by entry_id`;
}

/** True if the earnings are kept by these rules. Call it in a step of a refresh. */
export async function areAdopted(trx: DatabaseTransaction, rules: StatementRules): Promise<boolean> {
  const adopted = trx.selectFrom('reporting.earning_rules').where('rules_hash', '=', hashRules(rules));
  return (await adopted.execute()).length > 0;
}

/** Lets one refresh of the reports work at a time, like `beginStep` of src/rollups. */
async function lock(trx: DatabaseTransaction): Promise<void> {
  await suitLargeStatements(trx);
  await trx.selectFrom('reporting.refresh').forUpdate().execute();
}

/**
 * Takes some changes, and computes their orders again. A change is noted in the transaction that makes it, so
 * what commits before the orders are computed is included, and what commits later stays noted.
 *
 * @returns true if no change is left, or if another process has adopted other rules.
 */
async function keepStep(trx: DatabaseTransaction, rules: StatementRules): Promise<boolean> {
  await lock(trx);
  if (!(await areAdopted(trx, rules))) return true;
  const taken = await takeChanges(trx);
  if (taken === 0) return true;
  await takeWholeDeals(trx, rules);
  // Rows are compared by the order of their columns.
  await execute(trx)`create temporary table new_earnings (like reporting.order_earnings) on commit drop`;
  await execute(trx)`
    insert into pg_temp.new_earnings (${keptColumns()}, closed_amount, standing)
    with ${ratedOrders(rules, sql`select entry_id from pg_temp.taken_earnings`)}
    select ${keptColumns('e')}, closed_amount, standing
    from (${standingOrders(CLOSED_OF_ORDER)}) e`;
  await moveOrders(trx);
  await addToSums(trx);
  await noteReturns(trx);
  return taken < STEP_CHANGES;
}

/** @returns how many changes were taken. */
async function takeChanges(trx: DatabaseTransaction): Promise<number> {
  await execute(trx)`
    with taken as (
      delete from reporting.changed_earnings
      where change_no = any (array(select change_no from reporting.changed_earnings
          where collab_id is not null))
      returning collab_id
    )
    insert into reporting.changed_earnings (entry_id)
    select e.entry_id from (select distinct collab_id from taken) t
    cross join lateral (select e.entry_id from reporting.order_earnings e
      where e.collab_id = t.collab_id offset 0) e`;
  await execute(trx)`create temporary table taken_earnings (entry_id bigint) on commit drop`;
  return countOf(trx)`
    with taken as (
      delete from reporting.changed_earnings
      where change_no = any (array(
        select change_no from reporting.changed_earnings order by change_no limit ${STEP_CHANGES}::integer))
      returning entry_id
    ),
    listed as (insert into pg_temp.taken_earnings select distinct entry_id from taken)
    select count(*) from taken`;
}

/** Takes the orders, too, that may earn something else because of those that were taken, with what is noted of them. */
async function takeWholeDeals(trx: DatabaseTransaction, rules: StatementRules): Promise<void> {
  const taken = sql`select entry_id from pg_temp.taken_earnings`;
  const all = withWholeDeals(rules, taken);
  if (all === taken) return;
  await execute(
    trx,
  )`insert into pg_temp.taken_earnings select entry_id from (${all}) a where entry_id not in (${taken})`;
  await trx.deleteFrom('reporting.changed_earnings').where(sql<boolean>`entry_id in (${taken})`).execute();
}

/** Replaces the rows that differ, and keeps both versions of them in the temporary table `moved_earnings`. */
async function moveOrders(trx: DatabaseTransaction): Promise<void> {
  await execute(trx)`
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
    union all select 1, (p.after).* from pairs p where (p.after).entry_id is not null`;
  await execute(trx)`
    delete from reporting.order_earnings
    where entry_id = any (array(select entry_id from pg_temp.moved_earnings))`;
  await execute(trx)`
    insert into reporting.order_earnings (${keptColumns()}, closed_amount, standing)
    select ${keptColumns('m')}, closed_amount, standing
    from pg_temp.moved_earnings m
    where sign = 1
    order by entry_id`;
}

/**
 * Notes the deals and months whose orders have earned something else than before, so that their returns are computed
 * again: those in which the reports count the orders, whatever the entry calls its deal.
 */
async function noteReturns(trx: DatabaseTransaction): Promise<void> {
  await noteDeals(
    trx,
    sql`
    select distinct s.deal_id, date_trunc('month', s.day_utc)::date
    from (
      select entry_id from pg_temp.moved_earnings
      group by entry_id, ordered_on, currency, brand_id, influencer_handle, sent_amount, net_amount,
        rate_percent, earned_amount
      having sum(sign) <> 0) m
    cross join lateral (
      select t.job, t.source, t.order_id from intake.attributions t where t.entry_id = m.entry_id offset 0) t
    cross join lateral (
      select s.deal_id, s.day_utc from reporting.order_dispositions s
      where s.job = t.job and s.source = t.source and s.order_id = t.order_id
        and s.disposition = 'accepted' offset 0) s
    where s.deal_id is not null`,
  );
}

/** Adds the differences to the sums. They are exact, so sums do not drift away from their parts. */
async function addToSums(trx: DatabaseTransaction): Promise<void> {
  const sums = sql`
    sum(sign) as orders, sum(sign * coalesce(net_amount, 0)) as net,
    sum(sign * coalesce(earned_amount, 0)) as earned, sum(sign * coalesce(closed_amount, 0)) as closed
    from pg_temp.moved_earnings where standing <> 'settled'`;
  const added = sql`
    orders = s.orders + excluded.orders, net_amount = s.net_amount + excluded.net_amount,
    earned_amount = s.earned_amount + excluded.earned_amount,
    closed_amount = s.closed_amount + excluded.closed_amount`;
  await execute(trx)`
    insert into reporting.deal_earnings as s (deal_id, currency, standing, ordered_month, due_month,
      influencer_handle, orders, net_amount, earned_amount, closed_amount)
    select coalesce(deal_id, ''), currency, standing, date_trunc('month', ordered_on)::date,
      date_trunc('month', due_on)::date, coalesce(influencer_handle, ''), ${sums}
    group by 1, 2, 3, 4, 5, 6
    on conflict (deal_id, currency, standing, ordered_month, due_month,
      influencer_handle) do update set ${added}`;
  await trx.deleteFrom('reporting.deal_earnings').where('orders', '=', '0').execute();
  await execute(trx)`
    insert into reporting.earning_days as s (currency, standing, ordered_on, due_on, orders, net_amount,
      earned_amount, closed_amount)
    select currency, standing, ordered_on, due_on, ${sums}
    group by 1, 2, 3, 4
    on conflict (currency, standing, ordered_on, due_on) do update set ${added}`;
  await trx.deleteFrom('reporting.earning_days').where('orders', '=', '0').execute();
}
