import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import type { DB } from '../db/tables.ts';
import { compareWithLedger, gatherWanted, type PrepareEntriesOptions } from './gather-wanted.ts';
import { lockJob } from './lock-job.ts';
import { noteAdjustments } from './note-adjustments.ts';
import { orderPlatformChanged } from './order-platform-changed.ts';
import { neverSent } from './sent.ts';

export type PreparedEntries = {
  /** New entries. */
  readonly created: number;
  /** Entries not sent yet, or rejected, that are to be sent with another body, and held ones that are wanted again. */
  readonly replaced: number;
  /** Entries not sent yet whose order is no longer to be credited. */
  readonly withdrawn: number;
  /** Orders that another source or job answers for. */
  readonly elsewhere: number;
  /** Orders that differ from what was sent for them. */
  readonly adjustments: number;
};

/**
 * Carries decisions of `attributeOrders` that the ledger has not taken note of into entries, in one commit (Identity in the ledger's
 * rules): a new order becomes an entry that is ready; what was not sent yet is replaced or withdrawn; what may have been sent is never
 * sent again, an adjustment is noted instead. Before they are posted, `holdEvident` takes out what somebody else has credited.
 *
 * @throws KnownError `order_platform_changed` (exit 2): under another platform name the same orders would be sent a second time.
 */
export function prepareEntries(db: Database, options: PrepareEntriesOptions): Promise<PreparedEntries> {
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    await lockJob(trx, options.job);
    const wanted = await gatherWanted(trx, options);
    if (wanted === 0) return { created: 0, replaced: 0, withdrawn: 0, elsewhere: 0, adjustments: 0 };
    await refuseOtherPlatform(trx);
    const created = await createEntries(trx, options);
    await compareWithLedger(trx, options);
    const adjustments = await noteAdjustments(trx, options);
    const replaced = await replaceUnsent(trx, options);
    const withdrawn = await withdrawUnsent(trx);
    const elsewhere = await settleAttributions(trx, options);
    return { created, replaced, withdrawn, elsewhere, adjustments };
  });
}

async function refuseOtherPlatform(trx: Transaction<DB>): Promise<void> {
  const { rows } = await sql<{ source: string; before: string | null; now: string; orders: string }>`
    select w.source, min(e.order_platform) as before, min(w.order_platform) as now, count(*) as orders
    from wanted_entries w
    cross join lateral (select e.order_platform from ledger.entries e where e.entry_id = w.linked_id limit 1) e
    where e.order_platform is distinct from w.order_platform group by w.source limit 1`.execute(trx);
  const [row] = rows;
  if (row === undefined) return;
  throw orderPlatformChanged(row);
}

/** In the order in which the exports state them. An order that two sources state at once belongs to the first. */
async function createEntries(
  trx: Transaction<DB>,
  { job, runId, accountId }: PrepareEntriesOptions,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, source, order_platform, order_id, brand_id,
      amount, currency, run_id)
    select 'referral', ${accountId}, w.key, 'ready', w.body, w.body_hash, ${job}, w.source, w.order_platform, w.order_id, w.brand_id,
      w.amount, w.currency, ${runId}::bigint
    from wanted_entries w
    where w.outcome = 'attributed' and (
      select true from ledger.entries e where e.account_id = ${accountId} and e.effect = 'referral' and e.key = w.key limit 1) is null
    order by w.order_version_id
    on conflict (account_id, effect, key) do nothing`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Never sent, or refused: the newer body takes its place. One that was withdrawn is wanted again. */
async function replaceUnsent(trx: Transaction<DB>, { job, runId }: PrepareEntriesOptions): Promise<number> {
  const { numAffectedRows } = await sql`
    update ledger.entries e
    set body = c.body, body_hash = c.body_hash, job = ${job}, source = c.source, brand_id = c.brand_id, amount = c.amount,
        currency = c.currency, run_id = ${runId}::bigint, not_before = null,
        -- A backfill posts what its plan says: another body waits for another plan.
        state = case when (e.backfill_id is not null and e.body_hash <> c.body_hash) or (e.state = 'held' and not c.is_withdrawn)
          then 'held' else 'ready' end,
        state_reason = case when e.backfill_id is not null and e.body_hash <> c.body_hash then 'changed_since_the_plan'
          when e.state = 'held' and not c.is_withdrawn then e.state_reason end,
        -- What was refused was not processed, so the next attempt needs no approval.
        not_sent = e.not_sent + (e.state = 'rejected')::integer,
        state_changed_at = clock_timestamp()
    from compared_entries c
    where e.entry_id = c.entry_id and e.entry_id = any (array(select entry_id from compared_entries)) and c.outcome = 'attributed'
      and ((c.is_own and c.body_hash <> e.body_hash and (${neverSent} or e.state = 'rejected')) or c.is_withdrawn)`.execute(
    trx,
  );
  return Number(numAffectedRows ?? 0);
}

async function withdrawUnsent(trx: Transaction<DB>): Promise<number> {
  const { numAffectedRows } = await sql`
    update ledger.entries e set state = 'held', state_reason = 'no_longer_attributed', state_changed_at = clock_timestamp()
    from compared_entries c
    where e.entry_id = c.entry_id and e.entry_id = any (array(select entry_id from compared_entries)) and c.is_own and c.outcome <> 'attributed' and e.state = 'ready' and ${neverSent}`.execute(
    trx,
  );
  return Number(numAffectedRows ?? 0);
}

/** Links each decision to its entry. An order that another source or job answers for is shown as such, and counted once. */
async function settleAttributions(
  trx: Transaction<DB>,
  { job, accountId }: PrepareEntriesOptions,
): Promise<number> {
  const { rows } = await sql<{ elsewhere: string }>`
    with elsewhere as (
      update intake.attributions a
      set outcome = 'excluded', reason = case when c.is_same_job then 'known_from_another_source' else 'known_from_another_job' end,
          matched_by = null, target = null, is_pending = false
      from compared_entries c
      where a.job = ${job} and a.source = c.source and a.order_id = c.order_id
        and a.source = any (array(select distinct source from compared_entries))
        and a.order_id = any (array(select order_id from compared_entries))
        and c.outcome = 'attributed' and not c.is_own and not c.is_withdrawn
      returning 1
    )
    select count(*) as elsewhere from elsewhere`.execute(trx);
  await sql`
    update intake.attributions a
    set entry_id = coalesce(a.entry_id, (
          select e.entry_id from ledger.entries e
          where e.account_id = ${accountId} and e.effect = 'referral' and e.key = w.key and w.outcome = 'attributed')),
        is_pending = false
    from wanted_entries w
    where a.job = ${job} and a.source = w.source and a.order_id = w.order_id and a.is_pending`.execute(trx);
  return Number(rows[0]?.elsewhere ?? 0);
}
