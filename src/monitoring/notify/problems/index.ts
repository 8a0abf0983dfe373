import { eventsUnread, filesHeld, filesLate, filesUnusual, mirrorStale } from './data.ts';
import {
  bookingsHeld,
  claimsOverdue,
  codesUnowned,
  creditedTwice,
  doubts,
  entriesRefused,
  ledgerWentBack,
  ordersHeld,
  ordersRestated,
  totalsDiffer,
} from './money.ts';
import type { ProblemFinder } from './problem-finder.ts';
import {
  backfillStopped,
  budgetLow,
  jobFailed,
  jobLate,
  jobMissed,
  jobStalled,
  keyRefused,
  mirrorDrifted,
  needsAttention,
  rowsRejected,
  serviceAway,
} from './runs.ts';
import { surroundings } from './surroundings.ts';

/** Kinds of problems that the database shows, and for `ledger_went_back` the journals and marks of claims. */
export const keptProblems: readonly ProblemFinder[] = [
  jobFailed,
  jobStalled,
  jobLate,
  jobMissed,
  backfillStopped,
  needsAttention,
  rowsRejected,
  filesHeld,
  filesUnusual,
  filesLate,
  doubts,
  creditedTwice,
  entriesRefused,
  ordersHeld,
  ordersRestated,
  totalsDiffer,
  bookingsHeld,
  claimsOverdue,
  ledgerWentBack,
  keyRefused,
  serviceAway,
  budgetLow,
  mirrorStale,
  mirrorDrifted,
  codesUnowned,
  eventsUnread,
];

/** All kinds of problems, in the order of docs/notices.md. */
export const problemFinders: readonly ProblemFinder[] = [...keptProblems, ...surroundings];

/** The finder of a kind. Undefined if an older or newer version stored that kind. */
export function finderOf(kind: string): ProblemFinder | undefined {
  return problemFinders.find((finder) => finder.kind === kind);
}

/** The title of a kind, which begins its messages: `In doubt`. */
export function titleOf(kind: string): string {
  return finderOf(kind)?.title ?? kind;
}
