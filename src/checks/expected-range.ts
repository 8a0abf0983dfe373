/*
 * What is usual. The middle is a median and the width a median of distances (MAD), because one odd day among eight must move neither. But
 * eight values that happen to be close give a MAD of next to nothing, so no range is narrower than a share of the middle, than the floor of the
 * source, and, for counts, than chance alone makes it: a shop with four orders a day has none on some days.
 */

export type Range = { readonly low: number; readonly high: number };

/** A MAD of normally distributed values, times this, is their standard deviation. */
const MAD_TO_DEVIATION = 1.4826;
/** Chosen by replaying years of shops: with 3, half a file is seen on fewer days; with 2, good files are remarked upon more than once a month. */
const DEVIATIONS = 2.5;
/** Chance alone goes beyond so many once in 15,000 times, or once in a million times where there is a file an hour, or a share for each word. */
export const CHANCE_DEVIATIONS = { few: 4, many: 5 } as const;
/** A count within these shares of the usual one is never unusual. Half a file lies outside, and so does a file that has everything twice. */
const LEAST_SHARE = 0.65;
const MOST_SHARE = 1.9;

/** @param values at least one. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** So many standard deviations, by the median of the distances from the median. */
export function spreadOf(values: readonly number[]): number {
  const middle = medianOf(values);
  return DEVIATIONS * MAD_TO_DEVIATION * medianOf(values.map((value) => Math.abs(value - middle)));
}

/**
 * Counts that are usual after these. Chance: the square root of a Poisson count has a deviation of 1/2 whatever its mean (Anscombe's
 * transform); the mean is itself known from so many counts only.
 *
 * @param counts at least one.
 * @param options.cluster how many are counted together: rows come by orders.
 */
export function countRange(
  counts: readonly number[],
  options: {
    readonly floor: number;
    readonly cluster?: number;
    /** By how many deviations chance may move a count. */
    readonly deviations?: number;
  },
): Range {
  const { floor, cluster = 1, deviations = CHANCE_DEVIATIONS.few } = options;
  const middle = medianOf(counts);
  const spread = spreadOf(counts);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length / cluster;
  const root = Math.sqrt(mean + 3 / 8);
  const chance = (deviations / 2) * Math.sqrt(1 + 1 / counts.length);
  const fewest = (Math.max(0, root - chance) ** 2 - 3 / 8) * cluster;
  const most = ((root + chance) ** 2 - 3 / 8) * cluster;
  const low = Math.min(middle * LEAST_SHARE, middle - spread, middle - floor, fewest);
  const high = Math.max(middle * MOST_SHARE, middle + spread, middle + floor, most);
  return { low: Math.max(0, Math.floor(low)), high: Math.ceil(high) };
}

export type Part = { readonly part: number; readonly whole: number };

/**
 * Shares that are usual after these, for a file of `whole`: within `floor` of what the earlier ones had together, and further where they
 * differed from each other by more, or where a file is so small that chance explains it. Chance: the arcsine of the root of a share has a
 * deviation of 1/(2√n) whatever the share.
 *
 * @param parts with a whole above 0 in all.
 */
export function shareRange(
  parts: readonly Part[],
  {
    whole,
    floor,
    deviations = CHANCE_DEVIATIONS.many,
  }: {
    readonly whole: number;
    readonly floor: number;
    /** By how many deviations chance may move a share. */
    readonly deviations?: number;
  },
): Range {
  let all = 0;
  let some = 0;
  const shares: number[] = [];
  for (const one of parts) {
    all += one.whole;
    some += one.part;
    if (one.whole >= MIN_FOR_SHARE) shares.push(one.part / one.whole);
  }
  const middle = some / all;
  // Rule of succession: where none of a hundred was, one still may be.
  const angle = Math.asin(Math.sqrt((some + 1) / (all + 2)));
  const chance = deviations / (2 * Math.sqrt(whole));
  const least = Math.sin(Math.max(0, angle - chance)) ** 2;
  const most = Math.sin(Math.min(Math.PI / 2, angle + chance)) ** 2;
  const width = Math.max(floor, shares.length === 0 ? 0 : spreadOf(shares));
  return {
    low: Math.max(0, Math.min(middle - width, least)),
    high: Math.min(1, Math.max(middle + width, most)),
  };
}

/** A share says nothing about a handful. As in intake/files/find-hold-reason.ts. */
export const MIN_FOR_SHARE = 20;

export function isWithin(value: number, { low, high }: Range): boolean {
  return value >= low && value <= high;
}
