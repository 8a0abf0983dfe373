import { sql, type Transaction } from 'kysely';
import type { Backfill, ChangedOrders, PlanChanges, PlannedFile } from '../../../src/core/backfill.ts';
import { rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import type { GatheredPlan } from './gather-plan.ts';

/** Maximum number of examples of each kind. */
const SHOWN = 3;

/**
 * Compares `planned_orders` with a stored plan. Returns null if both post the same orders with the same
 * requests.
 */
export async function comparePlan(
  trx: Transaction<DB>,
  stored: Backfill,
  now: GatheredPlan,
): Promise<PlanChanges | null> {
  if (stored.planHash === now.hash) return null;
  const rows = await rowsOf<{ kind: 'more' | 'fewer' | 'other'; orders: number; examples: string[] }>(trx)`
    with differing as (
      select coalesce(p.order_id, b.order_id) as order_id,
        case when b.key is null then 'more' when p.key is null then 'fewer' else 'other' end as kind
      from (select key, order_id, body_hash from planned_orders where standing = 'to_post') p
      full join (select key, order_id, body_hash from ops.backfill_orders
        where backfill_id = ${stored.backfillId}::bigint) b
        on b.key = p.key
      where b.body_hash is distinct from p.body_hash
    )
    select kind, count(*)::float8 as orders,
      (array_agg(order_id order by order_id))[1:${sql.lit(SHOWN)}] as examples
    from differing group by kind`;
  const of = (kind: string): ChangedOrders => {
    const { orders = 0, examples = [] } = rows.find((candidate) => candidate.kind === kind) ?? {};
    return { orders, examples };
  };
  return {
    more: of('more'),
    fewer: of('fewer'),
    other: of('other'),
    files: changedFiles(stored.plan.files, now.plan.files),
  };
}

function changedFiles(before: readonly PlannedFile[], now: readonly PlannedFile[]): readonly string[] {
  const nameOf = ({ uri, version }: PlannedFile): string => `${uri} ${version}`;
  const known = new Set(before.map(nameOf));
  const present = new Set(now.map(nameOf));
  const changed = [
    ...now.filter((file) => !known.has(nameOf(file))),
    ...before.filter((file) => !present.has(nameOf(file))),
  ];
  return [...new Set(changed.map(({ uri }) => uri))];
}
