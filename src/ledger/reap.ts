import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/**
 * Transition T7, sending → in_doubt, never → ready. An owner without a lease in force (by the database clock)
 * may have written the request and died before it recorded the answer.
 *
 * @returns the number of entries that became doubts.
 */
export async function reapLost(db: Database): Promise<number> {
  const result = await sql<{ reaped: string }>`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    lost as (
      update ledger.entries e
      set state = 'in_doubt', owner = null, doubtful_attempt = coalesce(e.doubtful_attempt, e.attempt),
          doubted_at = coalesce(e.doubted_at, e.state_changed_at),
          state_reason = 'its process was gone before the answer was recorded', state_changed_at = clock_timestamp()
      from durable
      where not e.is_settled and e.state = 'sending'
        and not exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())
      returning e.entry_id, e.attempt, e.state_reason
    ),
    logged as (
      insert into ledger.answers (entry_id, attempt, kind, message, via, applied)
      select entry_id, attempt, 'lease_over', state_reason, 'reaper', true from lost
    )
    select count(*) as reaped from lost`.execute(db);
  return Number(result.rows[0]?.reaped ?? 0);
}
