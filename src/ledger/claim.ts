import { type RawBuilder, sql } from 'kysely';
import type { ClaimedEntry, Effect } from '../core/ledger.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import { shortLedgerId } from './continuity/identity.ts';
import type { Journal } from './continuity/journal.ts';
import type { ClaimedAttempt } from './continuity/journal-lines.ts';
import { attemptReference, lacksReference } from './effects/effect.ts';
import { effects } from './effects/index.ts';

export type ClaimerOptions = {
  /** Id of this process in `ops.leases`. Nothing is claimed unless one of its leases is in force. */
  readonly owner: string;
  readonly runId: string;
  /** Account of the key that sends. Entries of other accounts are not claimed. */
  readonly accountId: string;
  /** If set, only entries of this backfill are claimed. If null, only entries without a backfill. */
  readonly backfillId: string | null;
  readonly ledgerId: string;
  /** Claims that the database must still have when the first claim is made (check-continuity.ts). */
  readonly heads: readonly ClaimedAttempt[];
  /**
   * Where the database must still be at that time. Null if the server does not report its location
   * (machines.ts).
   */
  readonly place: string | null;
  /** Records each claim before the claimer returns it. */
  readonly journal: Pick<Journal, 'claimed'>;
};

/**
 * Claims one entry. Resolves to null if the entry cannot be sent now: another process has claimed it, it is
 * settled, it is backing off, or this process has no lease in force.
 */
export type ClaimEntry = (entryId: string) => Promise<ClaimedEntry | null>;

export type ClaimedRow = {
  readonly entry_id: string;
  readonly attempt: number;
  readonly effect: Effect;
  readonly body: string;
  readonly claim_no: string;
  readonly key_hash: string;
  readonly body_hash: string;
  readonly amount: string | null;
  readonly currency: string | null;
};

/** One group of claims: their shared id, the claims before them, and SQL for the body of entry `e` (`sentBody`). */
export type Claiming = ClaimerOptions & { readonly claimId: string; readonly body: RawBuilder<string> };

/**
 * The steps of a statement that claims a group of entries: transition T2, ready → sending. `continuous` says
 * whether the database still has the previous claim, and `numbered` has the claimed entries.
 */
export function claimSteps(
  entryIds: readonly string[],
  { owner, runId, accountId, backfillId, claimId, body, heads, place }: Claiming,
): RawBuilder<unknown> {
  return sql`
    continuous as materialized (
      select not exists (
        select from jsonb_to_recordset(${JSON.stringify(heads.map(toHead))}::jsonb) as h(entry_id bigint, attempt integer, claim_id uuid, claim_no bigint)
        where not exists (
            select from ledger.attempts a
            where a.entry_id = h.entry_id and a.attempt = h.attempt and a.claim_id = h.claim_id)
          and not exists (select from ledger.lost_claims l
            where l.claim_id = h.claim_id and l.claim_no = h.claim_no)
      ) and (${place}::text is null or ledger.place() = ${place}::text) as is_continuous
    ),
    alive as materialized (
      select 1 from ops.leases, durable, continuous
      where owner = ${owner}::uuid and expires_at > clock_timestamp() and is_continuous limit 1
    ),
    taken as (
      update ledger.entries e
      set state = 'sending', owner = ${owner}::uuid, attempt = e.attempt + 1, not_before = null,
        state_reason = null,
          state_changed_at = clock_timestamp()
      from alive
      where e.entry_id = any(string_to_array(${entryIds.join(',')}::text, ',')::bigint[])
        and e.state = 'ready' and e.account_id is not distinct from ${accountId}
        and e.backfill_id is not distinct from ${backfillId}::bigint
        and (e.not_before is null or e.not_before <= clock_timestamp())
      returning e.entry_id, e.attempt, e.effect, ${body} as body, e.account_id, e.key, e.amount, e.currency
    ),
    numbered as materialized (
      select t.*, encode(sha256(convert_to(body, 'UTF8')), 'hex') as body_hash,
        nextval('ledger.claim_numbers') as claim_no
      from taken t
    ),
    claimed as (
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claim_no)
      select entry_id, attempt, ${claimId}::uuid, ${owner}::uuid, ${runId}::bigint, body_hash, claim_no
      from numbered
    )`;
}

function toHead({ claim, entryId, attempt }: ClaimedAttempt) {
  return { entry_id: entryId, attempt, claim_id: claim.claimId, claim_no: claim.claimNo };
}

/** Returns the claims of a commit whose outcome is unknown. Empty if the database does not have it. */
export async function readBack(db: Database, { claimId, body }: Claiming): Promise<readonly ClaimedRow[]> {
  return rowsOf<ClaimedRow>(db)`
    select e.entry_id, e.attempt, e.effect, ${body} as body, a.body_hash, a.claim_no, e.amount, e.currency,
      ledger.key_hash(e.account_id, e.effect, e.key) as key_hash
    from ledger.attempts a join ledger.entries e using (entry_id, attempt)
    where a.claim_id = ${claimId}::uuid and e.state = 'sending'
    order by a.claim_no`;
}

export function toClaimed(row: ClaimedRow, { ledgerId, accountId, claimId }: Claiming): ClaimedEntry {
  const { entry_id: entryId, attempt, effect, body, amount, currency } = row;
  const claim = {
    ledgerId,
    claimNo: row.claim_no,
    claimId,
    accountId,
    effect,
    keyHash: row.key_hash,
    bodyHash: row.body_hash,
    amount,
    currency,
  };
  // The only place that creates a ClaimedEntry. Its brand exists in the types only.
  return { entryId, attempt, effect, body, claim } as ClaimedEntry;
}

/**
 * SQL for the request body of an attempt of entry `e`. This is the body of the entry and, if the operation has a member
 * for it, the reference of the attempt and the note in the entry's details. It is composed once for all claims: for each
 * group, that would cost as much as the rest of its statement.
 */
export function sentBody(db: Database, ledgerId: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`e.${name}`);
  const reference = attemptReference({
    ledger: sql.lit(shortLedgerId(ledgerId)),
    entryId: column('entry_id'),
    attempt: column('attempt'),
  });
  const note = sql`${column('details')} ->> 'note'`;
  const text = sql`to_json(concat_ws(' ', case when not ${lacksReference('e')} then ${reference} end, ${note}))`;
  const cases = Object.values(effects).flatMap(({ effect, referenceMember: member }) =>
    member === null
      ? []
      : [
          sql`when ${sql.lit(effect)} then left(${column('body')}, -1) || ${sql.lit(`,${JSON.stringify(member)}:`)} || ${text} || '}'`,
        ],
  );
  const composed = sql`(case ${column('effect')} ${sql.join(cases, sql` `)} else ${column('body')} end)`;
  const { sql: composedText, parameters } = composed.compile(db);
  if (parameters.length > 0) throw new Error('the SQL of a body has parameters, which would be lost');
  return sql.raw(composedText);
}
