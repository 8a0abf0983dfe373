import { PROBLEM_KINDS } from '../../../core/notify/notice.ts';
import { dataProblems } from './data.ts';
import { moneyProblems } from './money.ts';
import type { ProblemFinder } from './problem-finder.ts';
import { runProblems } from './runs.ts';
import { surroundings } from './surroundings.ts';

/** Kinds of problems that the database shows, and for `ledger_went_back` the journals and marks of claims. */
export const keptProblems: readonly ProblemFinder[] = [
  ...runProblems,
  ...dataProblems,
  ...moneyProblems,
].toSorted((one, other) => PROBLEM_KINDS.indexOf(one.kind) - PROBLEM_KINDS.indexOf(other.kind));

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
