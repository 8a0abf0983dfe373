import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { recordAnswers } from '../record.ts';
import { isProof, lockJournal } from './journal.ts';
import { linesOf, listJournals, removeOldJournals } from './journal-folder.ts';
import { type JournalledClaim, readJournal } from './journal-lines.ts';
import { closedName, OPEN_ENDING } from './journal-names.ts';
import { lookUpClaims } from './known-claims.ts';
import { removeLineCount } from './line-count.ts';
import type { ClosedJournal } from './mark.ts';
import { hasLostLines, isWhole } from './whole-journal.ts';

export type SettledByJournal = {
  /** Answers that a process had received but not recorded. */
  readonly answered: number;
  /** Claims whose request was never begun. Their entries are ready again. */
  readonly neverSent: number;
  /** Names of journals that are damaged or lost lines. They do not prove that a request was never begun. */
  readonly unreadable: readonly string[];
  /** Journals that were closed on behalf of their processes. */
  readonly closed: readonly ClosedJournal[];
};

const NEVER_SENT = 'its process ended before it started to write the request';

/**
 * Settles what ended processes left behind, according to their journals: answers that were not recorded, and
 * claims whose request was never begun. Call it before reaping, so that a known outcome does not become a
 * doubt.
 *
 * A missing line proves that a request was never begun only if no line can have been lost: the process has
 * ended (its lock is free), the journal is whole (whole-journal.ts) and not a copy, and the kernel that received its
 * lines is still running. After a power cut, on another machine, or if the disk lost lines, the doubt remains.
 */
export async function settleJournals(
  db: Database,
  options: { readonly folder: string; readonly ledgerId: string; readonly now: Date },
): Promise<SettledByJournal> {
  const { folder, ledgerId, now } = options;
  let answered = 0;
  let neverSent = 0;
  const unreadable: string[] = [];
  const closed: ClosedJournal[] = [];
  for (const { path, name, isOpen } of listJournals(folder)) {
    if (!isOpen) continue;
    const unlock = lockJournal(path);
    if (unlock === null) continue;
    try {
      // Its process may have closed it between the listing and the lock.
      if (!existsSync(path)) continue;
      const owner = name.slice(0, -OPEN_ENDING.length);
      const unsent = await readUnsettled(db, owner);
      const keepUnwritten = (claims: readonly JournalledClaim[]): void => {
        for (const { claim, entryId, isWriting } of claims)
          if (isWriting) unsent.delete(keyOf(claim.claimId, entryId));
      };
      const summary = await readJournal(linesOf(path), async (claims) => {
        keepUnwritten(claims);
        answered += await settle(db, claims);
      });
      if (summary === null) {
        unreadable.push(name);
        continue;
      }
      if (summary.head.ledger !== ledgerId) continue;
      keepUnwritten(summary.open);
      if (isProof(path, summary.head) && (await isWhole(db, { path, owner, summary })))
        neverSent += await settleUnsent(db, [...unsent.values()]);
      if (hasLostLines(owner, summary)) unreadable.push(name);
      const newName = closedName(ledgerId, summary.last?.claim.claimNo ?? '0', owner);
      renameSync(path, join(folder, newName));
      removeLineCount(owner);
      closed.push({ owner, path: join(folder, newName), name: newName });
    } finally {
      unlock();
    }
  }
  removeOldJournals(folder, now);
  return { answered, neverSent, unreadable, closed };
}

type Unsettled = { readonly entryId: string; readonly attempt: number };

function keyOf(claimId: string, entryId: string): string {
  return `${claimId}/${entryId}`;
}

/**
 * Reads the claims of a process whose entries still wait for an answer. The journal may lack some of them,
 * because the acknowledgement of a commit may have been lost.
 */
async function readUnsettled(db: Database, owner: string): Promise<Map<string, Unsettled>> {
  const rows = await db
    .selectFrom('ledger.entries as e')
    .innerJoin('ledger.attempts as a', (join) =>
      join.onRef('a.entry_id', '=', 'e.entry_id').onRef('a.attempt', '=', 'e.attempt'),
    )
    .select(['a.entry_id as entryId', 'a.attempt', 'a.claim_id as claimId'])
    .where('e.is_settled', '=', false)
    .where('e.state', 'in', ['sending', 'in_doubt'])
    .where(sql`a.owner::text`, '=', owner)
    .execute();
  return new Map(rows.map((row) => [keyOf(row.claimId, row.entryId), row]));
}

async function settleUnsent(db: Database, unsent: readonly Unsettled[]): Promise<number> {
  if (unsent.length === 0) return 0;
  const outcome = { kind: 'not_written', reason: NEVER_SENT } as const;
  const settled = await recordAnswers(
    db,
    unsent.map(({ entryId, attempt }) => ({ entryId, attempt, outcome, backoffMs: 0 })),
    'journal',
  );
  return settled.filter((state) => state !== null).length;
}

/**
 * Records the outcomes of claims whose entries still wait for them. @returns the number of entries that
 * changed.
 */
async function settle(db: Database, claims: readonly JournalledClaim[]): Promise<number> {
  const known = await lookUpClaims(db, claims);
  const answers = claims.flatMap(({ claim, entryId, attempt, outcome }, place) =>
    outcome !== null && known[place]?.isUnsettled === true
      ? [{ entryId, attempt, outcome, backoffMs: 0, claim }]
      : [],
  );
  if (answers.length === 0) return 0;
  const settled = await recordAnswers(db, answers, 'journal');
  return settled.filter((state) => state !== null).length;
}
