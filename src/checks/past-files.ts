import type { CheckInput, PlacedFile } from './check.ts';
import { CHANCE_DEVIATIONS } from './expected-range.ts';

/** History older than this says nothing of today: shops grow, and seasons change. */
export const HISTORY_DAYS = 56;
/** A check learns from so many days before it judges. */
export const MIN_DAYS = 4;
/** From so many files a day on, a file is compared with those of its time of day. */
const MANY_A_DAY = 3;
/** Hours around a file's own, either side. */
const NEAR_HOURS = 2;
/** A source whose files state this share of known orders sends all of them again each time, and not those of a day. */
const REPEATED_SHARE = 0.5;
/** Files of such a source that the next one is compared with. */
const LATEST = 8;

/** So many files show what is usual. */
const ENOUGH_FILES = 250;

/** Every second, third, … file, so that all days are still among them. */
export function thin(files: readonly PlacedFile[]): readonly PlacedFile[] {
  const step = Math.ceil(files.length / ENOUGH_FILES);
  return step <= 1 ? files : files.filter((_, place) => (files.length - 1 - place) % step === 0);
}

/** Days of the calendar on which these files came. */
export function daysOf(files: readonly PlacedFile[]): number {
  return new Set(files.map(({ day }) => day)).size;
}

/** Earlier files that a file's counts can be compared with. */
export type Comparable = {
  readonly files: readonly PlacedFile[];
  /** What they have in common, for people. */
  readonly what: string;
  /** How much can be learnt from them, to be held against `MIN_DAYS`. */
  readonly have: number;
  /** By how many deviations chance may move a count. */
  readonly deviations: number;
};

/** Those of the same weekday, and of the same time of day where many come. */
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

/** As `alikeFiles`, for what a file holds in all: where each file repeats the one before, the latest ones tell more than the weekday. */
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
