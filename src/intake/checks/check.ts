import type { Expectations } from '../../config/source-fields.ts';
import type { CheckResult } from '../../core/checks/check-result.ts';
import { type CheckAction, FILE_CHECKS, type FileCheckName } from '../../core/checks/expectations.ts';
import type { FileStatistics } from '../../core/checks/file-statistics.ts';
import { plural } from '../../core/text/plural.ts';

/**
 * A check is a pure function of the statistics of a file and of earlier files. It has no other input, so a
 * year of files can be replayed without a database.
 */
export type Check = {
  readonly name: FileCheckName;
  /**
   * True if an expected date explains what the check finds. Files of such a date are neither judged nor
   * learned from.
   */
  readonly isOfCalendar?: boolean;
  /**
   * True if the check is meaningless when a known file is read again, because all of its orders are known.
   */
  readonly isOfNewFiles?: boolean;
  readonly judge: (input: CheckInput) => readonly Judgement[];
};

/** True if the file contains what the check needs. */
export function applies({ name }: Pick<Check, 'name'>, { orders, consent, header }: FileStatistics): boolean {
  const { of } = FILE_CHECKS[name];
  if (of === 'columns') return header.length > 0;
  return of === 'anything' || (of === 'orders' ? orders : consent) !== null;
}

export type CheckInput = {
  readonly seen: DatedFile;
  /** Earlier accepted files of the source from the eight weeks before, oldest first. */
  readonly history: readonly DatedFile[];
  /**
   * The same history, but reduced to every n-th file if there are many. Shares and medians need no more, and
   * each check sorts them.
   */
  readonly thinned: readonly DatedFile[];
  readonly expectations: Expectations;
};

/** A file with its time in the source's calendar. */
export type DatedFile = FileStatistics & {
  /** Days since 1970-01-01, in the time zone of the source. */
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
};

export type Judgement = Pick<CheckResult, 'seen' | 'expected'> &
  Partial<Pick<CheckResult, 'subject' | 'message' | 'sample'>> & {
    readonly verdict: 'ok' | 'learning' | 'not_judged' | 'unusual';
    /** Overrides the action of the check, for example for one column. */
    readonly action?: CheckAction;
  };

/** Creates the judgement of what was seen. @param unusual what to report; null if it is as expected. */
export function judged(
  seen: string,
  expected: string,
  unusual: Pick<Judgement, 'message' | 'sample'> | null,
): Judgement {
  return unusual === null
    ? { verdict: 'ok', seen, expected }
    : { verdict: 'unusual', seen, expected, ...unusual };
}

/** Creates the judgement for a file that cannot be judged. */
export function notJudged(seen: string, why: string): Judgement {
  return { verdict: 'not_judged', seen, expected: why };
}

/**
 * Creates the judgement for a check that is still learning. @param progress number of usable earlier days,
 * and the number that is needed.
 */
export function learning(seen: string, { have, need }: { have: number; need: number }): Judgement {
  return { verdict: 'learning', seen, expected: `learning: ${have} of ${plural(need, 'day')}` };
}

/** Formats a number: `12,400`. */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Formats a share of 0 to 1: `12.5 %`. */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
