import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { isChosen, stateOfFacts, withWholeDeals } from './conditions.ts';
import { ratedOrders } from './rated-orders.ts';
import { scheduleTerms } from './schedule-terms.ts';
import type { StatementRules } from './statement.ts';

/*
 * To compute what a million orders have earned takes seconds. So `reporting.order_earnings` keeps the result for
 * each order (keep-earnings.ts), and sums of it. It is never shown as it is:
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
const FORMULA = 4;

/** With more noted changes, it is hardly slower to compute all orders. */
const MAX_CHANGES = 20_000;

/** Describes what may be taken from the kept earnings. */
export type Kept = {
  /** False if no change is noted, so that nothing need be computed. */
  readonly hasChanges: boolean;
};

/** SQL: digest of everything that the earnings of orders depend on beside what is noted. Fees are not kept. */
export function hashRules(rules: StatementRules): RawBuilder<string> {
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
 * @param options.month the month of a statement. Null: only what orders have earned matters, and not what is closed.
 * @returns null if all orders must be computed.
 */
export async function findKept(
  trx: DatabaseTransaction,
  { month, rules }: { readonly month: string | null; readonly rules: StatementRules },
): Promise<Kept | null> {
  const first = month === null ? null : `${month}-01`;
  const { rows } = await sql<{ is_usable: boolean; changes: number }>`
    select r.rules_hash = ${hashRules(rules)} and not exists (select from ops.statements s where s.month >= ${first}::date) as is_usable,
      (select count(*)::integer from (${changedEntries} limit ${MAX_CHANGES + 1}::integer) c) as changes
    from reporting.earning_rules r`.execute(trx);
  const [state] = rows;
  if (state?.is_usable !== true || state.changes > MAX_CHANGES) return null;
  return { hasChanges: state.changes > 0 };
}

/** The entries whose kept earnings may be outdated, some of them several times. */
const changedEntries = sql`
  select entry_id from reporting.changed_earnings where entry_id is not null
  union all
  select e.entry_id
  from (select distinct collab_id from reporting.changed_earnings where collab_id is not null) c
  cross join lateral (select e.entry_id from reporting.order_earnings e where e.collab_id = c.collab_id offset 0) e`;

/**
 * SQL: common table expressions, the last of which, `orders`, has what each order has earned, in the columns of
 * `reporting.order_earnings`, without those that are settled. With changes, `changed` lists their entries, and
 * `live` has their earnings.
 *
 * @param dealId only the orders of this deal. Null: all.
 */
export function keptOrders(
  rules: StatementRules,
  { kept, dealId }: { readonly kept: Kept; readonly dealId: string | null },
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
      union all select ${keptColumns('l')}, l.closed_amount, l.standing from live l where l.standing <> 'settled' ${ofDeal}
    )`;
}

/** SQL: common table expressions `changed` and `live` for the changes, as `keptOrders` explains. */
export function changedOrders(rules: StatementRules): RawBuilder<unknown> {
  return sql`
    changed as materialized (select distinct entry_id from (${withWholeDeals(rules, changedEntries)}) c),
    ${ratedOrders(rules, sql`select entry_id from changed`)},
    live as materialized (
      select ${keptColumns('e')}, c.amount as closed_amount, ${standingOf(sql`e`, sql`c.amount`)} as standing
      from earnings e
      left join lateral (
        select sum(l.amount) as amount from ops.statement_lines l where l.subject = e.subject having count(*) > 0) c on true
    )`;
}

/**
 * SQL: common table expressions, the last of which, `earned`, has what some orders have earned: the columns of
 * `keptColumns`. A change that is noted at the time of the statement is included, even if it was not yet noted when
 * `findKept` looked.
 *
 * @param options.entries ids of their entries.
 * @param options.kept null: compute all of them.
 */
export function earnedOrders(
  rules: StatementRules,
  { kept, entries }: { readonly kept: Kept | null; readonly entries: RawBuilder<unknown> },
): RawBuilder<unknown> {
  if (kept === null)
    return sql`
      ${ratedOrders(rules, withWholeDeals(rules, entries))},
      earned as not materialized (select ${keptColumns('e')} from earnings e where e.entry_id in (${entries}))`;
  return sql`
    ${changedOrders(rules)},
    earned as not materialized (
      select ${keptColumns('k')} from reporting.order_earnings k
      where k.entry_id = any (array(${entries})) and k.entry_id not in (select entry_id from changed)
      union all
      select ${keptColumns('l')} from live l where l.entry_id in (${entries})
    )`;
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
 * SQL for the standing of an order, as the comment of the column explains.
 *
 * @param of the relation `earnings`.
 * @param closed the sum of its closed lines; null if it has none.
 */
export function standingOf(of: RawBuilder<unknown>, closed: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    case when ${of}.net_amount is null then 'unknown_net'
      when ${of}.earned_amount is null then ${of}.unknown_why
      when ${closed} is null then case when ${of}.earned_amount = 0 then 'nothing' else 'new' end
      when ${of}.earned_amount = ${closed} then 'settled' else 'correction' end`;
}
