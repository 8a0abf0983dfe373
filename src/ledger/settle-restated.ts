import { sql, type Transaction } from 'kysely';
import { execute } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { isOwnAdjustment } from './propose.ts';

/**
 * What a sent order comes to that is stated in another currency since: what it came to before (`sent`), or nothing
 * (`returned`).
 */
export type ComesTo = 'sent' | 'returned';

/**
 * Records what a person says that sent orders come to, of which the last adjustment is `held`. The new adjustment has the
 * digest of the request of the held one, so that the order is held again only when it is stated otherwise.
 *
 * @returns how many there were.
 */
export function settleRestated(
  trx: Transaction<DB>,
  { entryIds, comesTo }: { readonly entryIds: readonly string[]; readonly comesTo: ComesTo },
): Promise<number> {
  const isReturned = comesTo === 'returned';
  return execute(trx)`
    insert into ledger.adjustments
      (entry_id, order_version_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash,
        detail, run_id)
    select held.entry_id, held.order_version_id,
      ${isReturned ? sql`'refunded', held.old_amount, 0` : sql`coalesce(d.kind, 'changed'), held.old_amount, case when d.kind is null then held.old_amount else d.new_amount end`},
      held.currency, held.old_body_hash, held.new_body_hash,
      ${isReturned ? 'A person decided that all of it was returned.' : 'A person decided that it stays as it was.'},
      held.run_id
    from unnest(${[...entryIds]}::bigint[]) as g (entry_id)
    cross join lateral (
      select d.*
      from ledger.adjustments d
      where d.entry_id = g.entry_id and not d.is_elsewhere
      order by d.adjustment_id + 0 desc
      limit 1) held
    left join lateral (
      select d.kind, d.new_amount from ledger.adjustments d
      where d.entry_id = g.entry_id and d.kind <> 'held' and ${isOwnAdjustment('d')}
      order by d.adjustment_id + 0 desc
      limit 1) d
        on true
    where held.kind = 'held'`;
}
