/*
 * Computes the usual range. The middle is a median and the width is a median of distances (MAD), because a
 * single odd day among eight must not change them. But eight values that are close by chance give a MAD near
 * zero. Therefore a range is never narrower than a share of the middle, the floor of the source, and, for
 * counts, random variation: a shop with four orders a day has none on some days.
 */

export type Range = { readonly low: number; readonly high: number };

/** Multiplying the MAD of normally distributed values by this gives their standard deviation. */
const MAD_TO_DEVIATION = 1.4826;
/**
 * Chosen by replaying years of shop data. With 3, half a file is detected on fewer days. With 2, correct
 * files are reported more than once a month.
 */
const DEVIATIONS = 2.5;
/**
 * Random variation exceeds `few` once in 15,000 cases, and `many` once in a million. `many` is for sources
 * with a file every hour, and for a share for each word.
 */
export const CHANCE_DEVIATIONS = { few: 4, many: 5 } as const;
/**
 * A count between these multiples of the usual one is never unusual. Half a file, or a file with every row
 * twice, is outside.
 */
const LEAST_SHARE = 0.65;
const MOST_SHARE = 1.9;

/** @param values at least one. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Returns the standard deviation, estimated from the median of the distances from the median (MAD). */
export function deviationOf(values: readonly number[]): number {
  const middle = medianOf(values);
  return MAD_TO_DEVIATION * medianOf(values.map((value) => Math.abs(value - middle)));
}

/** Returns the tolerance around the median: `DEVIATIONS` standard deviations. */
export function spreadOf(values: readonly number[]): number {
  return DEVIATIONS * deviationOf(values);
}

/**
 * Computes the range of usual counts. For random variation: the square root of a Poisson count has a standard
 * deviation of 1/2, whatever its mean (Anscombe's transform), and the mean is itself only estimated from
 * these counts.
 *
 * @param counts at least one.
 * @param options.cluster number of units that are counted together, because rows come in orders.
 */
export function countRange(
  counts: readonly number[],
  options: {
    readonly floor: number;
    readonly cluster?: number;
    /** Number of standard deviations that random variation may move a count. */
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
 * Computes the range of usual shares for a file of size `whole`. It extends `floor` around the combined share
 * of the earlier files. It is wider if these differ more, or if the file is so small that random variation
 * explains more: the arcsine of the root of a share has a standard deviation of 1/(2√n), whatever the share.
 *
 * @param parts the earlier files. The sum of their wholes must be above 0.
 */
export function shareRange(
  parts: readonly Part[],
  { whole, floor }: { whole: number; floor: number },
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
  // Rule of succession: if none of a hundred had it, one still may.
  const angle = Math.asin(Math.sqrt((some + 1) / (all + 2)));
  const chance = CHANCE_DEVIATIONS.many / (2 * Math.sqrt(whole));
  const least = Math.sin(Math.max(0, angle - chance)) ** 2;
  const most = Math.sin(Math.min(Math.PI / 2, angle + chance)) ** 2;
  const width = Math.max(floor, shares.length === 0 ? 0 : spreadOf(shares));
  return {
    low: Math.max(0, Math.min(middle - width, least)),
    high: Math.min(1, Math.max(middle + width, most)),
  };
}

/** Minimum size for judging a share; the same value as in intake/files/judge-rows.ts. */
export const MIN_FOR_SHARE = 20;

export function isWithin(value: number, { low, high }: Range): boolean {
  return value >= low && value <= high;
}
