import { sql } from 'kysely';
import type { RuleChange } from '../../../src/core/money/conflicts.ts';
import type { DatabaseTransaction } from '../../../src/db/in-transaction.ts';
import { execute, rowsOf } from '../../../src/db/statement.ts';
import { neverSent } from '../../../src/ledger/propose.ts';
import { type AttributeOrdersOptions, decideOrders } from './decide-orders.ts';

/**
 * Decides all orders of a job anew by a rule, as its next run would, and returns what changes. For a preview, roll the
 * transaction back. The files and codes are those that the last run read.
 *
 * @param options.attribution the rule.
 */
export async function decideByRule(
  trx: DatabaseTransaction,
  options: Omit<AttributeOrdersOptions, 'codesHash'>,
): Promise<readonly RuleChange[]> {
  const { job } = options;
  await execute(trx)`
    create temporary table decided_before on commit drop as
    select source, order_id, outcome, target, reason from intake.attributions where job = ${job}`;
  await decideOrders(trx, { ...options, codesHash: 'preview' });
  return rowsOf<RuleChange>(trx)`
    select ${shown('b')} as before, ${shown('a')} as after, a.currency, count(*)::integer as orders,
      sum(a.amount)::text as amount,
      count(*) filter (where a.amount is null)::integer as "withoutAmount", e.is_sent as "isSent"
    from intake.attributions a
    join decided_before b using (source, order_id)
    cross join lateral (
      select exists (
        select from ledger.entries e
        where e.entry_id = a.entry_id and not ${neverSent} and e.state <> 'rejected') as is_sent) e
    where a.job = ${job} and row(a.outcome, a.target) is distinct from row(b.outcome, b.target)
    group by 1, 2, a.currency, e.is_sent order by e.is_sent, 1, 2, a.currency`;
}

/** SQL for a decision in a word: its owner, or why nobody is credited. */
function shown(of: 'a' | 'b') {
  const column = (name: string) => sql.ref(`${of}.${name}`);
  return sql`coalesce(${column('target')}, ${column('outcome')} || coalesce(': ' || replace(${column('reason')}, '_', ' '), ''))`;
}
