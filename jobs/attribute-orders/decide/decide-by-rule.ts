import { sql } from 'kysely';
import type { RuleChange } from '../../../src/core/money/conflicts.ts';
import type { DatabaseTransaction } from '../../../src/db/in-transaction.ts';
import { execute, rowsOf } from '../../../src/db/statement.ts';
import { neverSent } from '../../../src/ledger/propose.ts';
import { type AttributeOrdersOptions, decideOrders } from './decide-orders.ts';
import { placesOf } from './decisions.ts';

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
  // An order that several sources state counts once: where it was posted, else for the one whose entry would be made first.
  return rowsOf<RuleChange>(trx)`
    with changed as (
      select ${shown('b')} as before, ${shown('a')} as after, a.currency, a.amount,
        coalesce(not e.never_sent and e.state <> 'rejected', false) as is_sent,
        row_number() over (
          partition by k.key order by a.outcome = 'attributed' desc, a.order_version_id) > 1 as is_repeated
      from intake.attributions a
      join decided_before b using (source, order_id)
      join ${placesOf(options.sources)} using (source)
      cross join lateral (select ledger.order_key(p.platform, a.order_id) as key) k
      left join lateral (
        select e.entry_id, e.state, e.job, e.source, ${neverSent} as never_sent from ledger.entries e
        where e.entry_id = a.entry_id
          or (e.account_id = (select account_id from ops.account) and e.effect = 'referral'
            and e.key = k.key and e.state_reason is distinct from 'no_longer_attributed')
        order by e.entry_id = a.entry_id desc nulls last
        limit 1) e on true
      where a.job = ${job} and row(a.outcome, a.target) is distinct from row(b.outcome, b.target)
        and (e.entry_id is null or a.entry_id = e.entry_id or row(e.job, e.source) = row(a.job, a.source))
    )
    select before, after, currency, count(*)::integer as orders, sum(amount)::text as amount,
      count(*) filter (where amount is null)::integer as "withoutAmount", is_sent as "isSent"
    from changed where not is_repeated
    group by 1, 2, currency, is_sent order by is_sent, 1, 2, currency`;
}

/** SQL for a decision in a word: its owner, or why nobody is credited. */
function shown(of: 'a' | 'b') {
  const column = (name: string) => sql.ref(`${of}.${name}`);
  return sql`coalesce(${column('target')}, ${column('outcome')} || coalesce(': ' || replace(${column('reason')}, '_', ' '), ''))`;
}
