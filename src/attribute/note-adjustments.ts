import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import type { PrepareEntriesOptions } from './gather-wanted.ts';
import { neverSent } from './sent.ts';

/**
 * Notes orders that differ from what was, or may have been, sent for them: nothing is sent, because the service has no operation to
 * correct an order. Each note says how the order stands now; the last one of an entry holds, and nothing is noted that it says already.
 */
export async function noteAdjustments(
  trx: Transaction<DB>,
  { runId }: PrepareEntriesOptions,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into ledger.adjustments
      (entry_id, order_version_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash, detail, run_id)
    select c.entry_id, c.order_version_id, ${kind}, e.amount, case when c.outcome = 'attributed' then c.amount end, e.currency,
      e.body_hash, c.body_hash, ${detail}, ${runId}::bigint
    from compared_entries c
    cross join lateral (select e.* from ledger.entries e where e.entry_id = c.entry_id limit 1) e
    -- By the entry's index and not, newest first, by that of all adjustments: hence the 0.
    left join lateral (
      select d.new_body_hash, true as is_noted from ledger.adjustments d
      where d.entry_id = c.entry_id order by d.adjustment_id + 0 desc limit 1
    ) last on true
    where not c.is_withdrawn
      and case
        when c.is_own then not ${neverSent} and e.state <> 'rejected'
        else c.outcome = 'attributed'
      end
      and coalesce(c.body_hash, '') <>
        (case when last.is_noted then coalesce(last.new_body_hash, '') else e.body_hash end)`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

const isOtherTarget = sql`exists (
  select from unnest(array['deal_id', 'collab_id', 'influencer_handle']) as t(field)
  where (e.body::json ->> t.field) is distinct from (c.body::json ->> t.field))`;

const kind = sql`
  case
    when c.outcome <> 'attributed' then
      case
        when c.cancelled_at is not null or c.reason ~ '^(status_)?(cancel|void)' then 'cancelled'
        when c.reason in ('fully_refunded', 'status_refunded') then 'refunded'
        else 'excluded'
      end
    when ${isOtherTarget} then 'reattributed'
    when c.amount < e.amount and c.refunded > 0 then 'refunded'
    else 'changed'
  end`;

const detail = sql`
  case
    when not c.is_own then 'Source ' || c.source || ' states the order otherwise.'
    when c.outcome <> 'attributed' then 'No longer credited: ' || coalesce(c.reason, c.outcome) || '.'
    when c.body_hash = e.body_hash then 'As it was sent, again.'
  end`;
