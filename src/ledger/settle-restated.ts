import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { amountAfter, isInSentCurrency, isOwnAdjustment } from './propose.ts';

/**
 * What a sent order comes to that is stated in another currency since: what it came to before (`sent`), or nothing
 * (`returned`).
 */
export type ComesTo = 'sent' | 'returned';

/**
 * Records what a person says that sent orders come to, of which the last adjustment is `held` or was decided by a person. It
 * is in the currency that was sent, so it names no version. `sent` is what the order came to by what exports last stated in
 * that currency, also if a person decided otherwise since, and no more than what was held in it. The digest of the request
 * stays, so that only what is stated otherwise is held again.
 *
 * @returns how many there were.
 */
export function settleRestated(
  trx: Transaction<DB>,
  { entryIds, comesTo }: { entryIds: readonly string[]; comesTo: ComesTo },
): Promise<number> {
  const isReturned = comesTo === 'returned';
  const before = sql`case when d.kind is null then last.old_amount else ${amountAfter('d')} end`;
  return execute(trx)`
    insert into ledger.adjustments
      (entry_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash, detail, is_decision,
        run_id)
    select last.entry_id, ${isReturned ? sql`'refunded'` : sql`coalesce(d.kind, 'changed')`}, last.old_amount,
      ${isReturned ? sql`0` : sql`least(${before}, h.new_amount)`},
      last.currency, last.old_body_hash, last.new_body_hash,
      ${isReturned ? 'A person decided that all of it was returned.' : 'A person decided that it stays as it was before.'},
      true, last.run_id
    from unnest(${[...entryIds]}::bigint[]) as g (entry_id)
    cross join lateral (${newestOf(sql`true`)}) last
    left join lateral (
      ${newestOf(sql`r.kind <> 'held' and not r.is_decision and ${isInSentCurrency('r')}`)}) d
        on true
    left join lateral (
      ${newestOf(sql`r.adjustment_id > coalesce(d.adjustment_id, 0) and r.kind = 'held' and r.new_amount > 0`)})
        h
        on true
    where last.kind = 'held' or last.is_decision`;
}

/** SQL: the newest adjustment `r` of the entry for which the condition holds. By the entry's index: hence the 0. */
function newestOf(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select r.* from ledger.adjustments r
    where r.entry_id = g.entry_id and ${isOwnAdjustment('r')} and ${condition}
    order by r.adjustment_id + 0 desc
    limit 1`;
}
