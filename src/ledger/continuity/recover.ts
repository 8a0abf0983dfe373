import type { ClaimSum } from '../../core/ledger.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowOf } from '../../db/statement.ts';
import { addUp, type ContinuityOptions, eachMissing } from './check-continuity.ts';
import { readLedgerId } from './identity.ts';
import { isDead, isProof } from './journal.ts';
import { eachJournal, type JournalFile, linesOf } from './journal-folder.ts';
import { type JournalledClaim, readJournal } from './journal-lines.ts';
import { countUndescribed } from './known-claims.ts';
import { dispositionOf, type LostClaim, storeLostClaims } from './lost-claims.ts';
import { keepLedgerLocation, markCompared, readLedgerLocation } from './machines.ts';
import { isWhole } from './whole-journal.ts';

export type RecoveryOptions = Omit<ContinuityOptions, 'accountId'> & {
  readonly accountId: string;
  /** The person's reason, in their own words. Not blank. */
  readonly reason: string;
  /** Login name of the person. */
  readonly decidedBy: string;
};

/** The result of a recovery. */
export type Recovered = {
  /** Number of claims that the journals had and the database lacked. */
  readonly claims: number;
  readonly accepted: number;
  readonly inDoubt: number;
  readonly notProcessed: number;
  /** Amounts of the accepted claims and the claims in doubt. */
  readonly amounts: readonly ClaimSum[];
  /** Number of claims that are known to be missing only by their numbers and whose loss was not accepted. */
  readonly undescribed: number;
};

const BATCH = 2_000;

/**
 * Stores what the journals know about claims that this database lacks, together with the decision, in one
 * transaction. Their orders become accepted or in doubt, like the claims, and are not posted again. A second
 * run is harmless.
 *
 * The sequence of claim numbers continues above the newest claim found, so that no number is used twice from
 * then on.
 *
 * @param options.acceptsUndescribed gives up claims that no journal describes. Their orders may be posted
 * again.
 */
export async function recoverLedger(
  db: Database,
  options: RecoveryOptions & { readonly acceptsUndescribed: boolean },
): Promise<Recovered> {
  const found = await gatherMissing(db, options);
  await store(db, { ...options, kind: 'recover', found });
  const count = (disposition: LostClaim['disposition']) =>
    found.filter((claim) => claim.disposition === disposition).length;
  return {
    claims: found.length,
    accepted: count('accepted'),
    inDoubt: count('in_doubt'),
    notProcessed: count('not_processed'),
    amounts: addUp(
      found.filter(({ disposition }) => disposition === 'accepted' || disposition === 'in_doubt'),
    ),
    undescribed: await countUndescribed(db),
  };
}

/**
 * Begins a new ledger after another one was used, by a person's decision. What the other ledger posted does
 * not count here and may be posted again.
 *
 * @returns the number of claims that are disregarded.
 */
export async function beginNewLedger(db: Database, options: RecoveryOptions): Promise<number> {
  const found = (await gatherMissing(db, options)).map((claim) => ({
    ...claim,
    disposition: 'disregarded' as const,
    outcome: null,
  }));
  await store(db, { ...options, kind: 'new_ledger', found, acceptsUndescribed: true });
  return found.length;
}

type Decision = RecoveryOptions & {
  readonly kind: 'recover' | 'new_ledger';
  readonly found: readonly LostClaim[];
  readonly acceptsUndescribed: boolean;
};

function store(db: Database, decision: Decision): Promise<void> {
  const { kind, reason, decidedBy, found, acceptsUndescribed } = decision;
  return inTransaction(db, async (trx) => {
    const ranges = await findRanges(trx, found);
    const { recovery_id: recoveryId } = await trx
      .insertInto('ledger.recoveries')
      .values({
        kind,
        reason,
        decided_by: decidedBy,
        lost_claims: found.length,
        ranges: JSON.stringify(ranges),
        accepts_undescribed: acceptsUndescribed,
      })
      .returning('recovery_id')
      .executeTakeFirstOrThrow();
    for (let from = 0; from < found.length; from += BATCH)
      await storeLostClaims(trx, found.slice(from, from + BATCH), recoveryId);
    await execute(trx)`select ledger.raise_claim_numbers(${newestNumber(found)}::bigint)`;
    await markCompared(trx, decision.machineId);
    const { others } = await readLedgerLocation(trx, decision.machineId);
    if (others.length === 0 || decision.isShared || acceptsUndescribed) await keepLedgerLocation(trx);
  });
}

/** The numbers are the digits of bigints. */
type Range = { readonly ledger_id: string; readonly above: string; readonly up_to: string };

/**
 * For each ledger among the claims, finds the range of numbers between the newest claim in this database and
 * the newest one found.
 */
async function findRanges(db: Database, found: readonly LostClaim[]): Promise<readonly Range[]> {
  const own = await readLedgerId(db);
  const ranges: Range[] = [];
  for (const ledgerId of new Set(found.map(({ claim }) => claim.ledgerId))) {
    const upTo = newestNumber(found.filter(({ claim }) => claim.ledgerId === ledgerId));
    const known = await rowOf<{ newest: string | null }>(db)`
      select greatest(
        (select max(claim_no) from ledger.attempts where ${ledgerId === own}
          and claim_no <= ${upTo}::bigint),
        (select max(claim_no) from ledger.lost_claims where ledger_id = ${ledgerId}::uuid)) as newest`;
    const above = known?.newest ?? '0';
    if (BigInt(upTo) > BigInt(above)) ranges.push({ ledger_id: ledgerId, above, up_to: upTo });
  }
  return ranges;
}

async function gatherMissing(db: Database, options: RecoveryOptions): Promise<readonly LostClaim[]> {
  const neverSent = await readNeverSent(db, options);
  // The mark may contain the same claim again, without its answer.
  const found = new Map<string, LostClaim>();
  await eachMissing(db, options, async (claims) => {
    for (const { claim, outcome, at } of claims) {
      const key = keyOf(claim);
      if (outcome === null && found.has(key)) continue;
      const disposition = neverSent.has(key) ? 'not_processed' : dispositionOf(outcome);
      found.set(key, { claim, disposition, outcome, claimedAt: at });
    }
  });
  return [...found.values()];
}

/** Finds the claims whose request was provably never begun (settle-journals.ts). */
async function readNeverSent(db: Database, { folders }: RecoveryOptions): Promise<ReadonlySet<string>> {
  const neverSent = new Set<string>();
  const readFrom = async ({ path }: JournalFile): Promise<void> => {
    const summary = await readJournal(linesOf(path), async () => {});
    // A journal that its process closed is proof even if it is a copy, or the machine was restarted later.
    if (summary === null || !(summary.isClosed || (isDead(path) && isProof(path, summary.head)))) return;
    if (!(await isWhole(db, { path, owner: summary.head.owner, summary }))) return;
    for (const { claim, isWriting } of summary.open) if (!isWriting) neverSent.add(keyOf(claim));
  };
  for (const folder of folders) await eachJournal(folder, readFrom);
  return neverSent;
}

function keyOf({ claimId, claimNo }: JournalledClaim['claim']): string {
  return `${claimId}/${claimNo}`;
}

function newestNumber(found: readonly LostClaim[]): string {
  let newest = 0n;
  for (const { claim } of found) if (BigInt(claim.claimNo) > newest) newest = BigInt(claim.claimNo);
  return String(newest);
}
