import type { Sample } from '../../../core/checks/check-result.ts';
import type { FileStatistics } from '../../../core/checks/file-statistics.ts';
import {
  type Check,
  type CheckInput,
  formatShare,
  type Judgement,
  judged,
  learning,
  notJudged,
} from '../check.ts';
import { isWithin, MIN_FOR_SHARE, type Part, type Range, shareRange } from '../expected-range.ts';
import { daysOf, MIN_DAYS } from '../past-files.ts';

/** A share that changes by no more than this is never unusual. */
const FLOOR = 0.1;
/** The same for rejected rows. They are rare, so a few more are worth reporting. */
const REJECTED_FLOOR = 0.02;
/** The same for statuses and currencies, which vary with campaigns and seasons. */
const MIX_FLOOR = 0.2;
/** The same for a word that no earlier file has. */
const UNKNOWN_FLOOR = 0.05;

/** Detects a layout that no longer fits, before enough rows are rejected for the file to be held. */
export const rejected = shareCheck({
  name: 'rejected',
  part: (file) => ({ part: file.rejectedRows, whole: file.rows }),
  floor: REJECTED_FLOOR,
  noun: 'of the rows cannot be used',
  sampleAbove: { of: 'rejected' },
  isAnyFewUsual: true,
});

/**
 * Detects a larger share: the column of codes is gone or blank. Detects a smaller share: the column contains
 * something else.
 */
export const blankCodes = shareCheck({
  name: 'blank_codes',
  isOfCalendar: true,
  part: ({ orders }) => ({ part: orders?.blankCodes ?? 0, whole: orders?.judged ?? 0 }),
  floor: FLOOR,
  noun: 'of the new and changed orders have no code, link or handle',
  sampleAbove: { of: 'blank_codes' },
  sampleBelow: { of: 'code' },
});

/** Detects codes of another shop, or a campaign whose codes are not in codes.csv yet. */
export const unattributed = shareCheck({
  name: 'unattributed',
  isOfCalendar: true,
  part: ({ orders }) => ({ part: orders?.unowned ?? 0, whole: orders?.coded ?? 0 }),
  floor: FLOOR,
  noun: 'of the new and changed orders with a code have a code without an owner',
  sampleAbove: { of: 'unowned' },
  isAnyFewUsual: true,
});

/** Detects a smaller share: customers who refused may be read as if they had not. */
export const refusedConsent = shareCheck({
  name: 'refused_consent',
  part: ({ consent }) => ({ part: consent?.refused ?? 0, whole: consent?.customers ?? 0 }),
  floor: FLOOR,
  noun: 'of the customers refused',
});

export const currencies: Check = {
  name: 'currencies',
  judge: (input) => judgeMix(input, { words: ({ orders }) => orders?.currencies ?? {}, of: 'currency' }),
};

export const statuses: Check = {
  name: 'statuses',
  isOfCalendar: true,
  judge: (input) => judgeMix(input, { words: ({ orders }) => orders?.statuses ?? {}, of: 'status' }),
};

type Shared = Pick<Check, 'name' | 'isOfCalendar'> & {
  readonly part: (file: FileStatistics) => Part;
  readonly floor: number;
  /** The end of a sentence that begins with a share. */
  readonly noun: string;
  readonly sampleAbove?: Sample;
  readonly sampleBelow?: Sample;
  /** True if a smaller share is never unusual. */
  readonly isAnyFewUsual?: boolean;
};

/** Creates a check that compares one share. */
function shareCheck({ name, isOfCalendar = false, ...shared }: Shared): Check {
  return { name, isOfCalendar, judge: (input) => judgeShare(input, shared) };
}

function judgeShare(input: CheckInput, shared: Omit<Shared, keyof Check>): readonly Judgement[] {
  const { seen, thinned } = input;
  const { part, floor, noun, sampleAbove = null, sampleBelow = null, isAnyFewUsual = false } = shared;
  const own = part(seen);
  if (own.whole < MIN_FOR_SHARE) return [tooFew(own)];
  const share = own.part / own.whole;
  const earlier = thinned.filter((file) => part(file).whole > 0);
  const have = daysOf(earlier);
  if (have < MIN_DAYS) return [learning(formatShare(share), { have, need: MIN_DAYS })];
  const usual = shareRange(earlier.map(part), { whole: own.whole, floor });
  const range = isAnyFewUsual ? { ...usual, low: 0 } : usual;
  const expected = describeRange(range);
  const message = `${formatShare(share)} ${noun}; ${expected} is usual.`;
  const sample = share > range.high ? sampleAbove : sampleBelow;
  return [judged(formatShare(share), expected, isWithin(share, range) ? null : { message, sample })];
}

type Mixed = {
  readonly words: (file: FileStatistics) => Readonly<Record<string, number>>;
  readonly of: 'currency' | 'status';
};

/**
 * Judges the words whose share is larger than usual. If one share grows, others shrink, so only the growth is
 * reported.
 */
function judgeMix({ seen, thinned }: CheckInput, { words, of }: Mixed): readonly Judgement[] {
  const whole = seen.orders?.judged ?? 0;
  const own = Object.entries(words(seen)).toSorted(([, one], [, other]) => other - one);
  const text = own.map(([word, count]) => `${word} ${formatShare(count / Math.max(whole, 1))}`).join(', ');
  if (whole < MIN_FOR_SHARE) return [tooFew({ part: 0, whole })];
  const earlier = thinned.filter(({ orders }) => (orders?.judged ?? 0) > 0);
  const have = daysOf(earlier);
  if (have < MIN_DAYS) return [learning(text, { have, need: MIN_DAYS })];
  const unusual = own.flatMap(([word, count]): readonly Judgement[] => {
    const parts = earlier.map((file) => ({ part: words(file)[word] ?? 0, whole: file.orders?.judged ?? 0 }));
    const isKnown = parts.some(({ part }) => part > 0);
    const range = shareRange(parts, { whole, floor: isKnown ? MIX_FLOOR : UNKNOWN_FLOOR });
    const share = count / whole;
    if (share <= range.high) return [];
    const expected = describeRange({ ...range, low: 0 });
    const message = `${formatShare(share)} of the new and changed orders have the ${of} "${word}"; ${isKnown ? `${expected} is usual` : 'no earlier file has it'}.`;
    return [{ ...judged(formatShare(share), expected, { message, sample: { of, word } }), subject: word }];
  });
  return unusual.length > 0 ? unusual : [judged(text, 'as before', null)];
}

function describeRange({ low, high }: Range): string {
  return low <= 0 ? `at most ${formatShare(high)}` : `${formatShare(low)} to ${formatShare(high)}`;
}

function tooFew({ whole }: Part): Judgement {
  return notJudged(`${whole} in all`, `needs ${MIN_FOR_SHARE}`);
}
