import { countOf, type Database, toJsonParameter } from '../../db/statement.ts';
import { linesOf } from './journal-folder.ts';
import { type ClaimedAttempt, type JournalSummary, readJournal } from './journal-lines.ts';
import { readLineCount } from './line-count.ts';

/**
 * True if the journal of an ended process has every line that was written, so that a line which is missing proves
 * that its event never happened:
 *
 * - Each line follows the one before it, and the last one closes the journal or lies as far as its process had counted.
 * - A journal of version 0.2 has no numbers. It counts only if it and the database have the same claims of its process.
 */
export async function isWhole(
  db: Database,
  journal: { readonly path: string; readonly owner: string; readonly summary: JournalSummary },
): Promise<boolean> {
  const { path, owner, summary } = journal;
  if (hasLostLines(owner, summary)) return false;
  if (summary.end === undefined) return hasSameClaims(db, path, owner);
  return summary.isClosed || readLineCount(owner) !== null;
}

/** True if lines of a journal are known to be lost or damaged. */
export function hasLostLines(owner: string, { end, isClosed, isDamaged }: JournalSummary): boolean {
  if (isDamaged) return true;
  const counted = readLineCount(owner);
  if (end === undefined || isClosed || counted === null) return false;
  return end.lines < counted.lines || (end.lines === counted.lines && end.sum !== counted.sum);
}

async function hasSameClaims(db: Database, path: string, owner: string): Promise<boolean> {
  const counts = { inJournal: 0, inBoth: 0 };
  const add = async (claims: readonly ClaimedAttempt[]): Promise<void> => {
    counts.inJournal += claims.length;
    counts.inBoth += await countThese(db, claims, owner);
  };
  const summary = await readJournal(linesOf(path), add);
  await add(summary?.open ?? []);
  const claims = await countOf(db)`
    select count(*) as claims from ledger.attempts where owner::text = ${owner}`;
  return counts.inBoth === counts.inJournal && counts.inBoth === claims;
}

/** Counts the claims among these that the database has of this process. */
async function countThese(db: Database, claims: readonly ClaimedAttempt[], owner: string): Promise<number> {
  const given = claims.map(({ claim, entryId, attempt }) => ({
    entry_id: entryId,
    attempt,
    claim_id: claim.claimId,
  }));
  return countOf(db)`
    select count(*) as claims
    from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g(entry_id bigint, attempt integer,
      claim_id uuid)
    join ledger.attempts a using (entry_id, attempt, claim_id) where a.owner::text = ${owner}`;
}
