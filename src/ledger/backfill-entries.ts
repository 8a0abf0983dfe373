import type { Transaction } from 'kysely';
import { databaseClock } from '../db/clock.ts';
import { countOf } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { neverSent, type ProposeOptions } from './propose.ts';

/**
 * Creates the entries of an approved plan from `desired_entries` (propose.ts). New entries are created in the
 * order of their versions. Entries that were held and never sent (`linked_id`) are made ready with the plan's
 * body. From then on only the backfill posts them.
 *
 * @throws Error if an entry cannot be created. The plan was made in the same transaction, so this would be a
 * bug; the transaction must be rolled back.
 */
export async function takeForBackfill(
  trx: Transaction<DB>,
  { effect, job, runId, accountId, backfillId }: ProposeOptions & { readonly backfillId: string },
): Promise<void> {
  const missing = await countOf(trx)`
    with made as (
      insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, source,
        order_platform, order_id, brand_id, amount, currency, details, run_id, backfill_id)
      select ${effect}, ${accountId}, p.key, 'ready', p.body, p.body_hash, ${job}, p.source, p.order_platform,
        p.order_id, p.brand_id, p.amount, p.currency, p.details, ${runId}::bigint, ${backfillId}::bigint
      from desired_entries p where p.linked_id is null
      order by p.version_id
      returning 1
    ),
    taken as (
      update ledger.entries e
      set state = 'ready', state_reason = null, body = p.body, body_hash = p.body_hash, job = ${job},
        source = p.source,
          brand_id = p.brand_id, amount = p.amount, currency = p.currency, details = p.details,
          run_id = ${runId}::bigint,
          backfill_id = ${backfillId}::bigint, not_before = null, state_changed_at = clock_timestamp()
      from desired_entries p
      where e.entry_id = p.linked_id
        and e.entry_id = any (array(select linked_id from desired_entries)) and e.state = 'held'
        and ${neverSent}
      returning 1
    )
    select (select count(*) from desired_entries) - (select count(*) from made)
      - (select count(*) from taken) as missing`;
  if (missing !== 0) throw new Error(`${missing} entries of the plan could not be made`);
}

/** Holds the entries of a backfill that were never sent. They are not posted until they are desired again. */
export async function holdForBackfill(trx: Transaction<DB>, backfillId: string): Promise<void> {
  await trx
    .updateTable('ledger.entries as e')
    .set({ state: 'held', state_reason: 'backfill_cancelled', state_changed_at: databaseClock })
    .where((eb) => eb.and({ 'e.backfill_id': backfillId, 'e.state': 'ready' }))
    .where(neverSent)
    .execute();
}

/**
 * Returns the entries of a backfill to the normal runs of its job. Entries that are being sent stay with the
 * backfill until their answer is recorded.
 */
export async function giveBack(trx: Transaction<DB>, backfillId: string): Promise<void> {
  await trx
    .updateTable('ledger.entries')
    .set({ backfill_id: null })
    .where('backfill_id', '=', backfillId)
    .where('state', '<>', 'sending')
    .execute();
}
