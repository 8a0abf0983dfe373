import { existsSync } from 'node:fs';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { ClaimSum } from '../../core/ledger.ts';
import { sumMoney } from '../../core/money.ts';
import type { Database } from '../../db/connect.ts';
import { readLedgerId } from './identity.ts';
import { isDead } from './journal.ts';
import {
  eachJournal,
  type JournalFile,
  linesOf,
  listJournals,
  newestClosed,
  readEdges,
} from './journal-folder.ts';
import {
  type ClaimedAttempt,
  type JournalHead,
  type JournalledClaim,
  type JournalSummary,
  readJournal,
} from './journal-lines.ts';
import { parseJournalName } from './journal-names.ts';
import { countUndescribed, hasClaims, lookUpClaims, readNewestClaim } from './known-claims.ts';
import { dispositionOf } from './lost-claims.ts';
import { type OtherMachine, readLedgerLocation } from './machines.ts';

export type ContinuityOptions = {
  /** Folders that contain journals: that of the data folder, and the local copy of a mark. */
  readonly folders: readonly string[];
  /**
   * Only journals of this account are compared. Null if the account is not known yet: then all journals are
   * compared.
   */
  readonly accountId: string | null;
  /** Id of this data folder; null if nothing has been posted from it. */
  readonly machineId: string | null;
  /**
   * True if the folders contain the journals of every machine. They can then be compared even if the database
   * has moved.
   */
  readonly isShared: boolean;
};

/** Claims that the journals contain and the database lacks. */
export type MissingClaims = {
  /** Number of entries. Claims that are proven not to have been processed are not counted. */
  readonly entries: number;
  /** Number of these entries that the service has accepted. */
  readonly accepted: number;
  readonly amounts: readonly ClaimSum[];
  /** Time of the earliest claim, by the clock of the machine that made it. */
  readonly from: Date | null;
  readonly to: Date | null;
};

export type Continuity =
  /** The newest claim of every journal is in the database. The next claim must name `heads`. */
  | {
      readonly kind: 'continuous';
      readonly heads: readonly ClaimedAttempt[];
      /**
       * Where the database must still be when claims are made. Null if the server does not report its
       * location.
       */
      readonly place: string | null;
    }
  /** There is no journal here, so nothing can be compared. `hasClaims` is true if the database has any. */
  | { readonly kind: 'unmarked'; readonly hasClaims: boolean }
  /**
   * The database has moved since it was last found complete, and the journals here are not those of every
   * machine. Another machine may have posted entries that the database lacks. `others` lists the machines
   * that the database knows of. `isUnmarked` is true if there is no journal here at all.
   */
  | { readonly kind: 'moved'; readonly others: readonly OtherMachine[]; readonly isUnmarked: boolean }
  /**
   * A recovery has stored all known claims, but claims are missing that no journal here describes. A journal
   * on another machine may describe them.
   */
  | { readonly kind: 'undescribed'; readonly claims: number }
  /**
   * The database lacks claims. `isOther` is true if it is a different ledger, not an older state of the same
   * one.
   */
  | {
      readonly kind: 'went_back';
      readonly isOther: boolean;
      readonly ledgerId: string | null;
      readonly markedLedgerId: string;
      readonly accountId: string;
      readonly missing: MissingClaims;
      /** The newest claim in the database. */
      readonly newest: { readonly claimNo: string; readonly claimedAt: Date; readonly claims: number } | null;
      /** The newest missing claim, and the journal that contains it. */
      readonly mark: { readonly claimNo: string; readonly file: string };
    };

/**
 * Checks that the database still has every claim that was made, by comparing it with the newest claims in the
 * journals. A database that lacks one of them has lost commits (after a restore or a failover), or is a
 * different ledger. It would post the missing entries again.
 *
 * Journals of processes that are still alive are skipped, because each of their claims names the claim before
 * it (claim.ts).
 *
 * @param db null if there is no database yet: it lacks every claim.
 */
export async function checkContinuity(db: Database | null, options: ContinuityOptions): Promise<Continuity> {
  const heads = await readHeads(options);
  if (db === null)
    return heads.length === 0 ? { kind: 'unmarked', hasClaims: false } : describeLoss(null, options, heads);
  const undescribed = await countUndescribed(db);
  if (undescribed > 0 && heads.length === 0) return { kind: 'undescribed', claims: undescribed };
  const place = await readLedgerLocation(db, options.machineId);
  if (heads.length === 0) {
    const has = await hasClaims(db);
    if (place.isSame || !has) return { kind: 'unmarked', hasClaims: has };
    return { kind: 'moved', others: place.others, isUnmarked: true };
  }
  const known = await lookUpClaims(
    db,
    heads.map(({ last }) => last),
  );
  let lacking: readonly Head[] = heads.filter((_, index) => known[index]?.isKnown !== true);
  if (lacking.length === 0 && undescribed > 0) return { kind: 'undescribed', claims: undescribed };
  if (lacking.length === 0 && !place.isSame) {
    if (!options.isShared) return { kind: 'moved', others: place.others, isUnmarked: false };
    // Processes commit concurrently. An older claim of one may be lost although the newest claim of each is
    // here.
    lacking = await readLacking(db, options);
  }
  if (lacking.length === 0)
    return { kind: 'continuous', heads: heads.map(({ last }) => last), place: place.now };
  return describeLoss(db, options, lacking);
}

async function describeLoss(
  db: Database | null,
  options: ContinuityOptions,
  lacking: readonly Head[],
): Promise<Continuity> {
  const ledgerId = db === null ? null : await readLedgerId(db);
  const mark = newestOf(lacking);
  const { ledgerId: markedLedgerId, accountId, claimNo } = mark.last.claim;
  return {
    kind: 'went_back',
    isOther: ledgerId !== markedLedgerId,
    ledgerId,
    markedLedgerId,
    accountId,
    missing: await addUpMissing(db, options),
    newest: db === null ? null : await readNewestClaim(db),
    mark: { claimNo, file: mark.file.name },
  };
}

type Head = { readonly file: JournalFile; readonly last: ClaimedAttempt };

function newestOf(heads: readonly Head[]): Head {
  return heads.reduce((newest, head) =>
    BigInt(head.last.claim.claimNo) > BigInt(newest.last.claim.claimNo) ? head : newest,
  );
}

/** For each journal with missing claims, returns the newest claim that the database lacks. */
async function readLacking(db: Database, options: ContinuityOptions): Promise<readonly Head[]> {
  const lacking: Head[] = [];
  await eachMissing(db, options, async (claims, file) => {
    lacking.push(newestOf(claims.map((last) => ({ file, last }))));
  });
  return lacking;
}

async function readHeads(options: ContinuityOptions): Promise<readonly Head[]> {
  const { folders, accountId } = options;
  const heads: Head[] = [];
  for (const folder of folders) {
    const files = listJournals(folder);
    for (const file of [...files.filter(({ isOpen }) => isOpen), ...newestClosed(files)]) {
      const found = await readHead(file).catch((error: unknown) => {
        if (existsSync(file.path)) throw error;
        return null;
      });
      // Its process has closed it since the listing, so it has another name and may be the newest one now.
      if (found === null && !existsSync(file.path)) return readHeads(options);
      if (found === null || found.last === null) continue;
      if (accountId === null || found.head.account === accountId) heads.push({ file, last: found.last });
    }
  }
  return heads;
}

async function readHead(
  file: JournalFile,
): Promise<{ readonly head: JournalHead; readonly last: ClaimedAttempt | null } | null> {
  if (file.isOpen && !isDead(file.path)) return null;
  const edges = file.isOpen ? null : readEdges(file.path);
  return edges ?? readAll(file, async () => {});
}

/**
 * Reads a journal. One that its process closed, or noted in a mark, was written as a whole, and its name states its newest
 * claim. Only the journal of a process that died may be cut, or lack its head.
 *
 * @throws KnownError `journal_unreadable`, `journal_of_later_version`.
 */
async function readAll(
  file: JournalFile,
  take: Parameters<typeof readJournal>[1],
): Promise<JournalSummary | null> {
  const summary = await readJournal(linesOf(file.path), take);
  const name = parseJournalName(file.name);
  const newest = name === null ? 0n : name.newest;
  if (newest === null || (summary !== null && BigInt(summary.last?.claim.claimNo ?? 0) >= newest))
    return summary;
  throw new KnownError({
    code: 'journal_unreadable',
    message: `The journal ${file.name} of the ledger cannot be read${summary === null ? '' : ` to its end: it lacks claims up to ${newest}`}.`,
    help: 'Restore that file where the journals are kept: in the data folder, or below ledger.mark_uri. If no copy of it exists, and the database was never restored or failed over since the file was written, remove it.',
    safe: 'Nothing was read or sent. Without the file, orders that only it describes could be posted twice.',
    exitCode: EXIT.ledgerWentBack,
  });
}

/**
 * Passes the claims that the journals contain and the database lacks to `take`, in batches, with what the
 * journal knows about each.
 */
export async function eachMissing(
  db: Database | null,
  { folders, accountId }: ContinuityOptions,
  take: (claims: readonly JournalledClaim[], file: JournalFile) => Promise<void>,
): Promise<void> {
  const readMissing = async (file: JournalFile): Promise<void> => {
    const takeMissing = async (claims: readonly JournalledClaim[]): Promise<void> => {
      const mine = claims.filter(({ claim }) => accountId === null || claim.accountId === accountId);
      const known = await lookUpClaims(db, mine);
      const missing = mine.filter((_, index) => known[index]?.isKnown !== true);
      if (missing.length > 0) await take(missing, file);
    };
    const summary = await readAll(file, takeMissing);
    await takeMissing(summary?.open ?? []);
  };
  for (const folder of folders) await eachJournal(folder, readMissing);
}

async function addUpMissing(db: Database | null, options: ContinuityOptions): Promise<MissingClaims> {
  const byKey = new Map<string, JournalledClaim>();
  let from: Date | null = null;
  let to: Date | null = null;
  await eachMissing(db, options, async (claims) => {
    for (const claim of claims) {
      if (dispositionOf(claim.outcome) === 'not_processed') continue;
      if (byKey.get(claim.claim.keyHash)?.outcome?.kind !== 'accepted') byKey.set(claim.claim.keyHash, claim);
      if (from === null || claim.at < from) from = claim.at;
      if (to === null || claim.at > to) to = claim.at;
    }
  });
  const entries = [...byKey.values()];
  return {
    entries: entries.length,
    accepted: entries.filter(({ outcome }) => outcome?.kind === 'accepted').length,
    amounts: addUp(entries),
    from,
    to,
  };
}

/** Adds up the amounts exactly, by currency. */
export function addUp(claims: readonly Pick<JournalledClaim, 'claim'>[]): readonly ClaimSum[] {
  const amounts = new Map<string | null, string[]>();
  for (const { claim } of claims) {
    if (claim.amount === null) continue;
    const sums = amounts.get(claim.currency);
    if (sums === undefined) amounts.set(claim.currency, [claim.amount]);
    else sums.push(claim.amount);
  }
  return [...amounts]
    .sort(([one], [other]) => String(one).localeCompare(String(other)))
    .map(([currency, list]) => ({ currency, amount: sumMoney(list) }));
}
