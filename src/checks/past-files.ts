import type { CheckInput, PlacedFile } from './check.ts';
import { CHANCE_DEVIATIONS } from './expected-range.ts';

/**
 * Number of days of history that is used. Shops grow and seasons change, so older files are not
 * representative.
 */
export const HISTORY_DAYS = 56;
/** Minimum number of days of history before a check judges. */
export const MIN_DAYS = 4;
/** From this number of files per day on, a file is compared with files of a similar time of day. */
const MANY_A_DAY = 3;
/** Maximum difference between similar times of day, in hours. */
const NEAR_HOURS = 2;
/**
 * If known orders make up this share of most of a source's files, each file repeats all orders instead of
 * those of one day.
 */
const REPEATED_SHARE = 0.5;
/** Number of latest files that a file of such a source is compared with. */
const LATEST = 8;

/** Number of files that is sufficient to determine what is usual. */
const ENOUGH_FILES = 250;

/** Keeps every n-th file, which still covers all days. */
export function thin(files: readonly PlacedFile[]): readonly PlacedFile[] {
  const step = Math.ceil(files.length / ENOUGH_FILES);
  return step <= 1 ? files : files.filter((_, place) => (files.length - 1 - place) % step === 0);
}

/** Returns the number of distinct calendar days of these files, which are sorted by time. */
export function daysOf(files: readonly PlacedFile[]): number {
  let days = 0;
  let last: number | null = null;
  for (const { day } of files) {
    if (day !== last) days += 1;
    last = day;
  }
  return days;
}

/** Earlier files with which a file's counts can be compared. */
export type Comparable = {
  readonly files: readonly PlacedFile[];
  /** What they have in common, for people. */
  readonly what: string;
  /** Amount of usable history, compared with `MIN_DAYS`. */
  readonly have: number;
  /** Number of standard deviations that random variation may move a count. */
  readonly deviations: number;
};

/** Selects files of the same weekday, and of a similar time of day if there are many each day. */
export function alikeFiles({ seen, history }: CheckInput): Comparable {
  const sameWeekday = history.filter(({ weekday }) => weekday === seen.weekday);
  if (history.length < daysOf(history) * MANY_A_DAY)
    return {
      files: sameWeekday,
      what: 'on this weekday',
      have: daysOf(sameWeekday),
      deviations: CHANCE_DEVIATIONS.few,
    };
  const near = sameWeekday.filter(({ hour }) => {
    const apart = Math.abs(hour - seen.hour);
    return Math.min(apart, 24 - apart) <= NEAR_HOURS;
  });
  return {
    files: near,
    what: 'on this weekday at this time',
    have: daysOf(near),
    deviations: CHANCE_DEVIATIONS.many,
  };
}

/**
 * Like `alikeFiles`, for the total content of a file. If each file repeats the one before, the latest files
 * are more representative than those of the weekday.
 */
export function comparableFiles(input: CheckInput): Comparable {
  const shares = input.history.flatMap(({ orders }) => {
    const all = (orders?.new ?? 0) + (orders?.known ?? 0);
    return orders === null || all === 0 ? [] : [orders.known / all];
  });
  const repeating = shares.filter((share) => share >= REPEATED_SHARE).length;
  if (repeating <= shares.length / 2) return alikeFiles(input);
  const files = input.history.slice(-LATEST);
  return {
    files,
    what: `in the last ${LATEST} files`,
    have: files.length,
    deviations: CHANCE_DEVIATIONS.few,
  };
}
