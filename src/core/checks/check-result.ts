import type { ReadFor } from '../layout.ts';
import type { FileCheckName } from './expectations.ts';

/**
 * `learning`: there are too few earlier files to judge. `not_judged`: the check does not apply to this file.
 * `acknowledged`: the result is unusual, and a person has accepted it.
 */
export const VERDICTS = ['ok', 'learning', 'not_judged', 'warn', 'held', 'acknowledged'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The result of one check for one file, or for one currency, status or column of it. */
export type CheckResult = {
  readonly check: FileCheckName;
  /** The currency, status or column. Null: the whole file. */
  readonly subject: string | null;
  readonly verdict: Verdict;
  /** The observed value, for people: `210`, `12 %`. */
  readonly seen: string;
  /** The usual value, for people, or why nothing is judged. */
  readonly expected: string;
  /** One sentence if the result is unusual, else null. Contains no row values. */
  readonly message: string | null;
  /** Selects the rows that show it. Null if no single row does. */
  readonly sample: Sample | null;
};

export type Sample =
  | { readonly of: 'rejected' | 'blank_codes' | 'code' | 'unowned' | 'known' | 'highest' | 'lowest' }
  | { readonly of: 'currency' | 'status'; readonly word: string };

/** An unusual result that is kept until a person acknowledges it. */
export type CheckFinding = Pick<CheckResult, 'subject' | 'verdict' | 'seen' | 'expected'> & {
  readonly findingId: string;
  readonly source: string;
  readonly readFor: ReadFor;
  readonly uri: string;
  readonly check: string;
  readonly message: string;
  /** Physical lines of the first few rows that show it. */
  readonly lines: readonly number[];
  readonly foundAt: Date;
};
