import { sql, type Transaction } from 'kysely';
import type { Claim, Outcome } from '../../core/ledger.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { countOf, type Database, execute, finds, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { isAboutOrder } from '../evidence/apply-evidence.ts';
import { enterAsWriter } from '../evidence/evidence-writers.ts';

/** A claim that this database lacks, with what is known about it. */
export type LostClaim = {
  readonly claim: Claim;
  readonly disposition: 'accepted' | 'in_doubt' | 'not_processed' | 'disregarded';
  readonly outcome: Outcome | null;
  /** By the clock of the machine that made the claim. Null if not known. */
  readonly claimedAt: Date | null;
};

/**
 * Derives the disposition of a claim from its outcome. A claim without an outcome may have been processed.
 */
export function dispositionOf(outcome: Outcome | null): LostClaim['disposition'] {
  if (outcome === null || outcome.kind === 'in_doubt') return 'in_doubt';
  return outcome.kind === 'accepted' ? 'accepted' : 'not_processed';
}

/**
 * Stores claims that this database has lost, and applies them to existing entries in the same transaction. If
 * the order of a claim has not been read from a file yet, the claim waits: `applyLostClaims` is called again
 * before entries are posted (hold-credited-elsewhere.ts).
 *
 * @returns the number of claims that were new.
 */
export function storeLostClaims(
  db: Database,
  lost: readonly LostClaim[],
  recoveryId: string | null = null,
): Promise<number> {
  if (lost.length === 0) return Promise.resolve(0);
  return inTransaction(db, async (trx) => {
    await enterAsWriter(trx);
    const stored = await execute(trx)`
      insert into ledger.lost_claims (recovery_id, ledger_id, claim_no, claim_id, account_id, effect,
        key_hash, body_hash, amount, currency,
        disposition, http_status, deal_id, collab_id, message, claimed_at)
      select ${recoveryId}::bigint, g.*
      from jsonb_to_recordset(${toJsonParameter(lost.map(toRow))}::jsonb) as g(
        ledger_id uuid, claim_no bigint, claim_id uuid, account_id text, effect text, key_hash text,
        body_hash text, amount numeric,
        currency text, disposition text, http_status integer, deal_id text, collab_id text, message text,
        claimed_at timestamptz)
      on conflict (claim_id, claim_no, disposition) do nothing`;
    await applyLostClaims(trx);
    return stored;
  });
}

function toRow({ claim, disposition, outcome, claimedAt }: LostClaim) {
  const { ledgerId, claimNo, claimId, accountId, effect, keyHash, bodyHash, amount, currency } = claim;
  return {
    ledger_id: ledgerId,
    claim_no: claimNo,
    claim_id: claimId,
    account_id: accountId,
    effect,
    key_hash: keyHash,
    body_hash: bodyHash,
    amount,
    currency,
    disposition,
    http_status: outcome !== null && 'httpStatus' in outcome ? outcome.httpStatus : null,
    deal_id: outcome?.kind === 'accepted' ? outcome.dealId : null,
    collab_id: outcome?.kind === 'accepted' ? outcome.collabId : null,
    message: messageOf(outcome),
    claimed_at: claimedAt,
  };
}

function messageOf(outcome: Outcome | null): string | null {
  if (outcome?.kind === 'rejected') return outcome.message;
  if (outcome?.kind === 'accepted') return outcome.message ?? null;
  return outcome !== null && 'reason' in outcome ? outcome.reason : null;
}

/**
 * SQL for all keys under which a claim of entry `e` may have been made: its own, and those of earlier and later versions,
 * because a journal can be older than the database, and a restored database older than the journal.
 */
const keysOf = sql`
  select e.key union select e.order_key union
  select ledger.written_key(e.order_platform, e.order_id) where e.effect = 'referral'`;

const NAMED = 'a file of the service names the order';
const NO_ANSWER = 'it was sent before the database lost its claim, and no answer is known';

/**
 * Applies lost claims to their entries:
 *
 * - An entry that is ready is not posted. It gets the missing attempt and becomes accepted or in doubt, like
 *   the claim.
 * - An entry in doubt becomes accepted if the claim was accepted.
 * - A settled entry does not change. A second acceptance of it appears in `ledger.double_credits`.
 * - A held entry may be posted again later, so its claims stay open.
 *
 * @returns the number of entries that changed.
 */
export async function applyLostClaims(trx: Transaction<DB>): Promise<number> {
  if (!(await finds(trx)`select from ledger.lost_claims l where ${isOpen} limit 1`)) return 0;
  return countOf(trx)`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    open as materialized (select l.* from ledger.lost_claims l, durable where ${isOpen}),
    matched as materialized (
      select l.lost_claim_id, l.claim_no, l.claim_id, l.body_hash, l.http_status, l.message, l.deal_id,
        l.collab_id, l.claimed_at,
        l.disposition = 'accepted' as was_accepted, e.entry_id, e.state, e.attempt as entry_attempt,
        -- A file of the service that names the order (ledger recover --from) says that it was processed.
        case when exists (
          select from ledger.evidence v
          where v.kind = 'seeded' and ${isAboutOrder}
            and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id))
          then 'accepted' else l.disposition end as disposition
      from open l
      join (ledger.entries e cross join lateral (${keysOf}) k)
        on e.effect = l.effect and e.account_id = l.account_id
          and ledger.key_hash(e.account_id, e.effect, k.key) = l.key_hash
      where e.state in ('ready', 'sending', 'in_doubt', 'accepted', 'written_off')
    ),
    about as materialized (
      -- Of several claims of one entry, one that was accepted counts.
      select m.*,
        row_number() over (partition by entry_id
          order by (disposition = 'accepted') desc, claim_no desc) as place
      from matched m
    ),
    kept as (
      update ledger.entries e
      set attempt = e.attempt + (a.state = 'ready')::int,
          state = a.disposition,
          doubtful_attempt = case
            when a.disposition = 'in_doubt' then coalesce(e.doubtful_attempt, e.attempt + 1)
            else e.doubtful_attempt end,
          doubted_at = case
            when a.disposition = 'in_doubt' then coalesce(e.doubted_at, a.claimed_at, clock_timestamp())
            else e.doubted_at end,
          not_before = null,
          state_reason = case when a.disposition = 'in_doubt' then coalesce(a.message, ${NO_ANSWER})
            when a.deal_id is null
              and a.collab_id is null
                then coalesce(case when a.was_accepted then a.message end, ${NAMED}) end,
          deal_id = coalesce(a.deal_id, e.deal_id), collab_id = coalesce(a.collab_id, e.collab_id),
          state_changed_at = clock_timestamp()
      from about a
      where e.entry_id = a.entry_id and a.place = 1
        and (e.state = 'ready' or (e.state = 'in_doubt' and a.disposition = 'accepted'))
      returning e.entry_id, e.attempt, e.state, a.state as before, a.claim_id, a.body_hash, a.http_status,
        a.message, a.deal_id, a.collab_id, a.claimed_at, e.run_id
    ),
    claimed as (
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claimed_at)
      select entry_id, attempt, claim_id, claim_id, run_id, body_hash, coalesce(claimed_at, clock_timestamp())
      from kept
      where before = 'ready'
    ),
    answered as (
      insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, collab_id, via,
        applied)
      select entry_id, attempt, state, http_status, message, deal_id, collab_id, 'lost_claim', true from kept
    ),
    linked as (
      insert into ledger.recovered_claims (lost_claim_id, entry_id, attempt)
      select a.lost_claim_id, a.entry_id, coalesce(k.attempt, a.entry_attempt)
      from about a left join kept k using (entry_id)
    )
    select count(*) as kept from kept`;
}

/** True if lost claim `l` may have been processed and its entry is not known yet. */
const isOpen = sql`l.disposition in ('accepted', 'in_doubt')
  and not exists (select from ledger.recovered_claims r where r.lost_claim_id = l.lost_claim_id)`;
