import type { Database } from '../../db/connect.ts';
import type { ClaimSum } from '../../model/ledger.ts';
import { sumMoney } from '../../model/money.ts';
import { readLedgerId } from './identity.ts';
import { lockJournal } from './journal.ts';
import { type JournalFile, linesOf, listJournals, newestClosed, readEdges } from './journal-folder.ts';
import { type ClaimPlace, type JournalHead, type JournalledClaim, readJournal } from './journal-lines.ts';
import { countUndescribed, lookUpClaims, readNewestClaim } from './known-claims.ts';
import { dispositionOf } from './lost-claims.ts';
import { type OtherMachine, readPlace } from './machines.ts';

export type ContinuityOptions = {
  /** Folders of journals: the data folder's, and that of a mark elsewhere. */
  readonly folders: readonly string[];
  /** Only journals of this account count; null where it is not known yet: then all do. */
  readonly accountId: string | null;
  /** Of this data folder; null where nothing has posted from it. */
  readonly machineId: string | null;
  /** The folders have every journal of every machine, so that they can be compared with a database that is elsewhere than before. */
  readonly isShared: boolean;
};

/** Claims that were made and that the database does not have. */
export type MissingClaims = {
  /** In how many entries. What is proven not to have been processed is not counted. */
  readonly entries: number;
  /** Of those the service has accepted. */
  readonly accepted: number;
  readonly amounts: readonly ClaimSum[];
  /** By the clock of the machine that made them. */
  readonly from: Date | null;
  readonly to: Date | null;
};

export type Continuity =
  /** Every journal's newest claim is in the database. `heads` are to be named by the next claim. */
  | {
      readonly kind: 'continuous';
      readonly heads: readonly ClaimPlace[];
      /** Where the database must still be when claims are made; null where the server does not tell. */
      readonly place: string | null;
    }
  /** No journal is here, so nothing can be compared. `claims`: how many the database has. */
  | { readonly kind: 'unmarked'; readonly claims: number }
  /**
   * The database is elsewhere than when it was last found whole, and the journals here are not those of every machine: another one may have
   * posted what it lacks. `others`: those that it knows of. `isUnmarked`: no journal is here at all.
   */
  | { readonly kind: 'moved'; readonly others: readonly OtherMachine[]; readonly isUnmarked: boolean }
  /** A recovery has stored what was known, and claims are missing that nothing describes: another machine's journal may. */
  | { readonly kind: 'undescribed'; readonly claims: number }
  /** The database lacks claims. `isOther`: it is another ledger, not an older state of the same one. */
  | {
      readonly kind: 'went_back';
      readonly isOther: boolean;
      readonly ledgerId: string | null;
      readonly markedLedgerId: string;
      readonly accountId: string;
      readonly missing: MissingClaims;
      /** Newest claim of the database. */
      readonly newest: { readonly claimNo: number; readonly claimedAt: Date; readonly claims: number } | null;
      /** Newest claim that the journals know. */
      readonly mark: { readonly claimNo: number; readonly file: string };
    };

/**
 * One ledger, continuous in time: compares the newest claims that the journals know with the database. A database that lacks one has lost
 * commits (restored, failed over), or is another one; what it lacks would be posted again. A process that lives is not asked: each of its
 * claims names the one before (claim.ts).
 */
export async function checkContinuity(db: Database, options: ContinuityOptions): Promise<Continuity> {
  const ledgerId = await readLedgerId(db);
  const heads = await readHeads(options);
  const undescribed = await countUndescribed(db);
  if (undescribed > 0 && heads.length === 0) return { kind: 'undescribed', claims: undescribed };
  const place = await readPlace(db, options.machineId);
  if (heads.length === 0) {
    const claims = (await readNewestClaim(db))?.claims ?? 0;
    if (place.isSame || claims === 0) return { kind: 'unmarked', claims };
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
    // Processes commit side by side: an older claim of one may be lost although the newest of each is here.
    lacking = await readLacking(db, options);
  }
  if (lacking.length === 0)
    return { kind: 'continuous', heads: heads.map(({ last }) => last), place: place.now };
  const mark = newestOf(lacking);
  const { ledgerId: markedLedgerId, accountId, claimNo } = mark.last.claim;
  return {
    kind: 'went_back',
    isOther: ledgerId !== markedLedgerId,
    ledgerId,
    markedLedgerId,
    accountId,
    missing: await addUpMissing(db, options),
    newest: await readNewestClaim(db),
    mark: { claimNo, file: mark.file.name },
  };
}

/** The newest claim of a journal. */
type Head = { readonly file: JournalFile; readonly last: ClaimPlace };

function newestOf(heads: readonly Head[]): Head {
  return heads.reduce((newest, head) =>
    head.last.claim.claimNo > newest.last.claim.claimNo ? head : newest,
  );
}

/** Of each journal, the newest claim that the database does not have. */
async function readLacking(db: Database, options: ContinuityOptions): Promise<readonly Head[]> {
  const lacking: Head[] = [];
  await eachMissing(db, options, async (claims, file) => {
    lacking.push(newestOf(claims.map((last) => ({ file, last }))));
  });
  return lacking;
}

async function readHeads({ folders, accountId }: ContinuityOptions): Promise<readonly Head[]> {
  const heads: Head[] = [];
  for (const folder of folders) {
    const files = listJournals(folder);
    for (const file of [...files.filter(({ isOpen }) => isOpen), ...newestClosed(files)]) {
      const found = await readHead(file);
      if (found === null || found.last === null) continue;
      if (accountId === null || found.head.account === accountId) heads.push({ file, last: found.last });
    }
  }
  return heads;
}

async function readHead(
  file: JournalFile,
): Promise<{ readonly head: JournalHead; readonly last: ClaimPlace | null } | null> {
  if (!file.isOpen) {
    const edges = readEdges(file.path);
    if (edges !== null) return edges;
  } else {
    const unlock = lockJournal(file.path);
    if (unlock === null) return null;
    unlock();
  }
  return readJournal(linesOf(file.path), async () => {});
}

/** Claims of the journals that the database does not have, each with what is known of it. */
export async function eachMissing(
  db: Database,
  { folders, accountId }: ContinuityOptions,
  take: (claims: readonly JournalledClaim[], file: JournalFile) => Promise<void>,
): Promise<void> {
  for (const file of folders.flatMap(listJournals)) {
    const takeMissing = async (claims: readonly JournalledClaim[]): Promise<void> => {
      const mine = claims.filter(({ claim }) => accountId === null || claim.accountId === accountId);
      const known = await lookUpClaims(db, mine);
      const missing = mine.filter((_, index) => known[index]?.isKnown !== true);
      if (missing.length > 0) await take(missing, file);
    };
    const summary = await readJournal(linesOf(file.path), takeMissing);
    await takeMissing(summary?.open ?? []);
  }
}

async function addUpMissing(db: Database, options: ContinuityOptions): Promise<MissingClaims> {
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

/** Exact sums for each currency. */
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
