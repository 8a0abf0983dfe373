import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/**
 * Has the orders that a seed names decided about again by the next run: their files count as not looked at, and decisions whose entries were
 * freed wait to be proposed again.
 */
export async function decideAgain(trx: Transaction<DB>, seedId: string): Promise<void> {
  await sql`
    update intake.attributions a set is_pending = true
    from ledger.evidence v join ledger.entries e on e.effect = 'referral' and e.order_id = v.order_id
      and lower(e.order_platform) = lower(v.order_platform)
    where v.seed_id = ${seedId}::bigint and e.state = 'held' and e.state_reason = 'no_longer_attributed'
      and a.entry_id = e.entry_id and a.outcome = 'attributed'`.execute(trx);
  await sql`
    delete from intake.attributed_files f
    where f.source_file_id in (
      select o.source_file_id from ledger.evidence v join intake.orders o on o.order_id = v.order_id and o.is_current
      where v.seed_id = ${seedId}::bigint)`.execute(trx);
}
