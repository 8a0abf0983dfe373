import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { effects } from '../effects/index.ts';
import type { ClaimedEntry, Effect } from '../model/ledger.ts';
import type { Journal } from './continuity/journal.ts';
import type { ClaimPlace } from './continuity/journal-lines.ts';
import { groupCommit } from './group-commit.ts';
import { LedgerWentBack } from './record.ts';

export type ClaimerOptions = {
  /** The process, as its leases name it. Without a lease in force nothing is claimed. */
  readonly owner: string;
  readonly runId: string;
  /** Account of the key that will send: another account's entries are not claimed. */
  readonly accountId: string;
  /** Only what this backfill has taken is claimed; null: only what none has. */
  readonly backfillId: string | null;
  readonly ledgerId: string;
  /** Claims that the database must still have when the first is made here (check-continuity.ts). */
  readonly heads: readonly ClaimPlace[];
  /** Where the database must still be then; null where the server does not tell (machines.ts). */
  readonly place: string | null;
  /** Takes note of each claim before it is handed out. */
  readonly journal: Pick<Journal, 'claimed'>;
};

/** Claims one entry: null when it is not to be sent now (someone else has it, it is settled, it backs off, our lease is over). */
export type ClaimEntry = (entryId: string) => Promise<ClaimedEntry | null>;

type ClaimRow = {
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

/**
 * T2, ready → sending: concurrent claims share one statement. When the returned promise resolves to an entry, the attempt is
 * durable (`synchronous_commit = on`) and in the journal, and only then may a byte of the request be written.
 * A commit whose outcome is unknown is read back on a fresh connection by its claim id; when that fails too, the claim throws
 * and nothing is sent.
 *
 * Each claim names the one before it. A database that does not have that one has lost commits since (a failover, a restore while this
 * process runs): then nothing is claimed.
 *
 * @throws LedgerWentBack then.
 */
export function createClaimer(db: Database, options: ClaimerOptions): ClaimEntry {
  let heads = options.heads;
  return groupCommit(async (entryIds) => {
    const claimId = randomUUID();
    const rows = await claimGroup(db, entryIds, { ...options, claimId, heads }).catch((error: unknown) => {
      if (error instanceof LedgerWentBack) throw error;
      return readBack(db, claimId, options.ledgerId);
    });
    const claimed = rows.map((row) => toClaimed(row, { ...options, claimId }));
    if (claimed.length > 0) {
      await options.journal.claimed(claimed);
      heads = claimed.slice(-1);
    }
    const byId = new Map(claimed.map((entry) => [entry.entryId, entry]));
    return entryIds.map((entryId) => {
      const entry = byId.get(entryId);
      byId.delete(entryId);
      return entry ?? null;
    });
  });
}

type Group = ClaimerOptions & { readonly claimId: string };

async function claimGroup(
  db: Database,
  entryIds: readonly string[],
  { owner, runId, accountId, backfillId, ledgerId, claimId, heads, place }: Group,
): Promise<readonly ClaimRow[]> {
  const { rows } = await sql<ClaimRow & { entry_id: string | null; is_continuous: boolean }>`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    continuous as materialized (
      select not exists (
        select from jsonb_to_recordset(${JSON.stringify(heads.map(toHead))}::jsonb) as h(entry_id bigint, attempt integer, claim_id uuid, claim_no bigint)
        where not exists (
            select from ledger.attempts a where a.entry_id = h.entry_id and a.attempt = h.attempt and a.claim_id = h.claim_id)
          and not exists (select from ledger.lost_claims l where l.claim_id = h.claim_id and l.claim_no = h.claim_no)
      ) and (${place}::text is null or ledger.place() = ${place}::text) as is_continuous
    ),
    alive as materialized (
      select 1 from ops.leases, durable, continuous
      where owner = ${owner}::uuid and expires_at > clock_timestamp() and is_continuous limit 1
    ),
    taken as (
      update ledger.entries e
      set state = 'sending', owner = ${owner}::uuid, attempt = e.attempt + 1, not_before = null, state_reason = null,
          state_changed_at = clock_timestamp()
      from alive
      where e.entry_id = any(string_to_array(${entryIds.join(',')}::text, ',')::bigint[])
        and e.state = 'ready' and e.account_id is not distinct from ${accountId} and e.backfill_id is not distinct from ${backfillId}::bigint
        and (e.not_before is null or e.not_before <= clock_timestamp())
      returning e.entry_id, e.attempt, e.effect, ${sentBody('e', ledgerId)} as body, e.account_id, e.key, e.amount, e.currency
    ),
    logged as (
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash)
      select entry_id, attempt, ${claimId}::uuid, ${owner}::uuid, ${runId}::bigint, encode(sha256(convert_to(body, 'UTF8')), 'hex')
      from taken
      returning entry_id, claim_no, body_hash
    )
    select c.is_continuous, t.entry_id, t.attempt, t.effect, t.body, l.body_hash, l.claim_no, t.amount, t.currency,
      ledger.key_hash(t.account_id, t.effect, t.key) as key_hash
    from continuous c left join (taken t join logged l using (entry_id)) on true
    order by l.claim_no`.execute(db);
  if (rows[0]?.is_continuous !== true) throw new LedgerWentBack();
  return rows.filter(({ entry_id: entryId }) => entryId !== null);
}

function toHead({ claim, entryId, attempt }: ClaimPlace) {
  return { entry_id: entryId, attempt, claim_id: claim.claimId, claim_no: claim.claimNo };
}

async function readBack(db: Database, claimId: string, ledgerId: string): Promise<readonly ClaimRow[]> {
  const result = await sql<ClaimRow>`
    select e.entry_id, e.attempt, e.effect, ${sentBody('e', ledgerId)} as body, a.body_hash, a.claim_no, e.amount, e.currency,
      ledger.key_hash(e.account_id, e.effect, e.key) as key_hash
    from ledger.attempts a join ledger.entries e using (entry_id, attempt)
    where a.claim_id = ${claimId}::uuid and e.state = 'sending'
    order by a.claim_no`.execute(db);
  return result.rows;
}

function toClaimed(row: ClaimRow, { ledgerId, accountId, claimId }: Group): ClaimedEntry {
  const { entry_id: entryId, attempt, effect, body, amount, currency } = row;
  const claim = {
    ledgerId,
    claimNo: Number(row.claim_no),
    claimId,
    accountId,
    effect,
    keyHash: row.key_hash,
    bodyHash: row.body_hash,
    amount,
    currency,
  };
  // The one place that makes a ClaimedEntry: the brand exists in the types only.
  return { entryId, attempt, effect, body, claim } as ClaimedEntry;
}

/** Digits of the ledger's id that tell two ledgers apart to a person (continuity/identity.ts shows the same ones). */
const SHORT_ID = 8;

/**
 * The bytes of the request of an attempt: the body of its entry and, where the operation has a member for it, the reference of the attempt
 * (`influencer-sync <ledger>.e<entry>.a<attempt>`), so that an order found at the service, or in an event, leads back to what posted it.
 *
 * @param row alias of a row with `effect, body, entry_id, attempt`.
 */
function sentBody(row: string, ledgerId: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const start = sql.lit(`influencer-sync ${ledgerId.slice(0, SHORT_ID)}.e`);
  const reference = sql`to_json(${start} || ${column('entry_id')} || '.a' || ${column('attempt')})`;
  const cases = Object.values(effects).flatMap(({ effect, referenceMember: member }) =>
    member === null
      ? []
      : [
          sql`when ${sql.lit(effect)} then left(${column('body')}, -1) || ${sql.lit(`,${JSON.stringify(member)}:`)} || ${reference} || '}'`,
        ],
  );
  return sql<string>`(case ${column('effect')} ${sql.join(cases, sql` `)} else ${column('body')} end)`;
}
