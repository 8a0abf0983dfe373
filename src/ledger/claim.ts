import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { ClaimedEntry, Effect } from '../model/ledger.ts';
import { groupCommit } from './group-commit.ts';

export type ClaimerOptions = {
  /** The process, as its leases name it. Without a lease in force nothing is claimed. */
  readonly owner: string;
  readonly runId: string;
  /** Account of the key that will send: another account's entries are not claimed. */
  readonly accountId: string;
  /** Only what this backfill has taken is claimed; null: only what none has. */
  readonly backfillId: string | null;
};

/** Claims one entry: null when it is not to be sent now (someone else has it, it is settled, it backs off, our lease is over). */
export type Claim = (entryId: string) => Promise<ClaimedEntry | null>;

type ClaimRow = { entry_id: string; attempt: number; effect: Effect; body: string };

/**
 * T2, ready → sending: concurrent claims share one statement. When the returned promise resolves to an entry, the attempt is
 * durable (`synchronous_commit = on`), and only then may a byte of the request be written.
 * A commit whose outcome is unknown is read back on a fresh connection by its claim id; when that fails too, the claim throws
 * and nothing is sent.
 */
export function createClaimer(db: Database, options: ClaimerOptions): Claim {
  return groupCommit(async (entryIds) => {
    const claimId = randomUUID();
    const rows = await claimGroup(db, entryIds, claimId, options).catch(() => readBack(db, claimId));
    const byId = new Map(rows.map((row) => [row.entry_id, row]));
    return entryIds.map((entryId) => {
      const row = byId.get(entryId);
      byId.delete(entryId);
      return row === undefined ? null : toClaimed(row);
    });
  });
}

async function claimGroup(
  db: Database,
  entryIds: readonly string[],
  claimId: string,
  options: ClaimerOptions,
): Promise<ClaimRow[]> {
  const { owner, runId, accountId, backfillId } = options;
  const result = await sql<ClaimRow>`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    alive as materialized (
      select 1 from ops.leases, durable where owner = ${owner}::uuid and expires_at > clock_timestamp() limit 1
    ),
    taken as (
      update ledger.entries e
      set state = 'sending', owner = ${owner}::uuid, attempt = e.attempt + 1, not_before = null, state_reason = null,
          state_changed_at = clock_timestamp()
      from alive
      where e.entry_id = any(string_to_array(${entryIds.join(',')}::text, ',')::bigint[])
        and e.state = 'ready' and e.account_id = ${accountId} and e.backfill_id is not distinct from ${backfillId}::bigint
        and (e.not_before is null or e.not_before <= clock_timestamp())
      returning e.entry_id, e.attempt, e.effect, e.body, e.body_hash
    ),
    logged as (
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash)
      select entry_id, attempt, ${claimId}::uuid, ${owner}::uuid, ${runId}::bigint, body_hash from taken
    )
    select entry_id, attempt, effect, body from taken`.execute(db);
  return result.rows;
}

async function readBack(db: Database, claimId: string): Promise<ClaimRow[]> {
  const result = await sql<ClaimRow>`
    select e.entry_id, e.attempt, e.effect, e.body
    from ledger.attempts a join ledger.entries e using (entry_id, attempt)
    where a.claim_id = ${claimId}::uuid and e.state = 'sending'`.execute(db);
  return result.rows;
}

function toClaimed(row: ClaimRow): ClaimedEntry {
  // The one place that makes a ClaimedEntry: the brand exists in the types only.
  return { entryId: row.entry_id, attempt: row.attempt, effect: row.effect, body: row.body } as ClaimedEntry;
}
