import type { CheckInput, DatedFile } from './check.ts';
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
export function thin(files: readonly DatedFile[]): readonly DatedFile[] {
  const step = Math.ceil(files.length / ENOUGH_FILES);
  if (step <= 1) return files;
  const kept: DatedFile[] = [];
  for (let place = (files.length - 1) % step; place < files.length; place += step) {
    const file = files[place];
    if (file !== undefined) kept.push(file);
  }
  return kept;
}

/** Returns the number of distinct calendar days of the files that count. They are sorted by time. */
export function daysOf(
  files: readonly DatedFile[],
  counts: (file: DatedFile) => boolean = () => true,
): number {
  let days = 0;
  let last: number | null = null;
  for (const file of files) {
    if (file.day === last || !counts(file)) continue;
    days += 1;
    last = file.day;
  }
  return days;
}

/** Earlier files with which a file's counts can be compared. */
export type Comparable = {
  readonly files: () => readonly DatedFile[];
  /** What they have in common, for people. */
  readonly what: string;
  /** Amount of usable history, compared with `MIN_DAYS`. */
  readonly have: number;
  /** Number of standard deviations that random variation may move a count. */
  readonly deviations: number;
};

/** Selects files of the same weekday, and of a similar time of day if there are many each day. */
export function alikeFiles({ seen, history }: CheckInput): Comparable {
  const isSameWeekday = ({ weekday }: DatedFile): boolean => weekday === seen.weekday;
  if (history.length < daysOf(history) * MANY_A_DAY)
    return {
      files: () => history.filter(isSameWeekday),
      what: 'on this weekday',
      have: daysOf(history, isSameWeekday),
      deviations: CHANCE_DEVIATIONS.few,
    };
  const isNear = (file: DatedFile): boolean => {
    const apart = Math.abs(file.hour - seen.hour);
    return isSameWeekday(file) && Math.min(apart, 24 - apart) <= NEAR_HOURS;
  };
  return {
    files: () => history.filter(isNear),
    what: 'on this weekday at this time',
    have: daysOf(history, isNear),
    deviations: CHANCE_DEVIATIONS.many,
  };
}

/**
 * Like `alikeFiles`, for the total content of a file. If each file repeats the one before, the latest files
 * are more representative than those of the weekday.
 */
export function comparableFiles(input: CheckInput): Comparable {
  let withOrders = 0;
  let repeating = 0;
  for (const { orders } of input.history) {
    const all = (orders?.new ?? 0) + (orders?.known ?? 0);
    if (orders === null || all === 0) continue;
    withOrders += 1;
    if (orders.known / all >= REPEATED_SHARE) repeating += 1;
  }
  if (repeating <= withOrders / 2) return alikeFiles(input);
  const files = input.history.slice(-LATEST);
  return {
    files: () => files,
    what: `in the last ${LATEST} files`,
    have: files.length,
    deviations: CHANCE_DEVIATIONS.few,
  };
}
