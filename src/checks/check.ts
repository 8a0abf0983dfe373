import type { Sample } from '../model/checks/check-result.ts';
import type { CheckAction, Expectations, FileCheckName } from '../model/checks/expectations.ts';
import type { FileStatistics } from '../model/checks/file-statistics.ts';

/**
 * A check is a pure function: what a file came to, and what earlier files came to, give a judgement. It is told nothing else, so twelve months
 * can be replayed without a database.
 */
export type Check = {
  readonly name: FileCheckName;
  /** For people: what is looked at. */
  readonly title: string;
  /** An expected date explains what it finds: such a date is neither judged nor learnt from. */
  readonly isOfCalendar: boolean;
  /** Means nothing where a file that was read before is read again: all of its orders are known. */
  readonly isOfNewFiles: boolean;
  /** Whether the file has what is looked at. */
  readonly applies: (seen: FileStatistics) => boolean;
  readonly judge: (input: CheckInput) => readonly Judgement[];
};

export type CheckInput = {
  readonly seen: PlacedFile;
  /** Earlier files of the source that count, of the eight weeks before it, oldest first. */
  readonly history: readonly PlacedFile[];
  /** The same, but of many only every second, third, … one: shares and medians need no more, and each check sorts them. */
  readonly thinned: readonly PlacedFile[];
  readonly expectations: Expectations;
};

/** A file with its place in the calendar of the source. */
export type PlacedFile = FileStatistics & {
  /** Days since 1970-01-01, in the zone of the source. */
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
};

export type Judgement = {
  /** Null: the file as a whole. */
  readonly subject: string | null;
  readonly verdict: 'ok' | 'learning' | 'not_judged' | 'unusual';
  readonly seen: string;
  readonly expected: string;
  readonly message: string | null;
  readonly sample: Sample | null;
  /** Instead of the action of the check: of one column. */
  readonly action?: CheckAction;
};

/** Nothing can be said of such a file. */
export function notJudged(seen: string, why: string): Judgement {
  return { subject: null, verdict: 'not_judged', seen, expected: why, message: null, sample: null };
}

/** @param have earlier files that tell something, of those that are needed. */
export function learning(
  seen: string,
  { have, need }: { readonly have: number; readonly need: number },
): Judgement {
  const expected = `learning: ${have} of ${need} ${need === 1 ? 'day' : 'days'}`;
  return { subject: null, verdict: 'learning', seen, expected, message: null, sample: null };
}

/** `12,400`. */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** `12.5 %`, from a share of 0 to 1. */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
