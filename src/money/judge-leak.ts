import type { CodeDay, LeakFlag } from '../core/money/leak.ts';
import { deviationOf, medianOf, type Part } from '../intake/checks/expected-range.ts';

/*
 * Detects leaked discount codes. A code has leaked when it is used by people who do not come from its
 * creator: a coupon site lists it, or a browser extension tries it. It is then used more than before, by
 * orders without a link of the creator. A post of the creator also causes a burst, but its orders have links
 * as before. Therefore a code is flagged if two figures together are unusual for this code: the number of its
 * orders without a link, and their share. Much of one can make up for little of the other: the share says
 * little of a code with few orders, and the number says little of a busy code.
 */

const DAYS_A_WEEK = 7;
/**
 * Numbers of days that are judged together: two, because a burst of a busy code is not visible in a whole
 * week; seven, because some leaks are slow.
 */
const WINDOWS = [2, 4, 7] as const;
/** Number of weeks before the last one from which the usual figures are learned. */
const HISTORY_WEEKS = 12;
/** Minimum history in weeks. The first use of a code is always a burst. */
const MIN_WEEKS = 4;
/** Minimum number of orders without a link. Fewer are not significant. */
export const MIN_ORDERS = 10;
/**
 * A code is flagged if the standard deviations by which the share is above the usual one, and `countWeight` for
 * each by which the count is, exceed `limit`. A count is worth less because posts raise it too. Chosen by
 * simulating years of thousands of codes: with these, those without a leak cause 0.7 flags in 100 months.
 */
const SURPRISE = { limit: 4.4, countWeight: 0.4, mostCount: 8, leastShare: 1 } as const;
/**
 * Variance of the share between posts, on the scale of `shareSurprise`: 0.02 is 7 points around a half. The
 * followers of each post have other habits, so even a thousand orders do not pin a share down.
 */
const SHARE_VARIANCE = 0.02;

/** The longest window of `judgeCode`, in days. */
export const WINDOW_DAYS = DAYS_A_WEEK;

/** Number of days that `judgeCode` needs, including its windows. */
export const LEAK_DAYS = (HISTORY_WEEKS + 1) * DAYS_A_WEEK;

/**
 * Judges the last days of a code.
 *
 * @param days days of one code, each once, oldest first. Days without an order may be omitted.
 * @param options.day the last day.
 * @param options.firstDay the day since which the code is known.
 * @returns null if nothing is unusual or too little is known.
 */
export function judgeCode(
  days: readonly CodeDay[],
  options: { readonly day: number; readonly firstDay: number },
): LeakFlag | null {
  for (const length of WINDOWS) {
    const flag = judgeWindow(days, { ...options, length });
    if (flag !== null) return flag;
  }
  return null;
}

function judgeWindow(
  days: readonly CodeDay[],
  { day, firstDay, length }: { readonly day: number; readonly firstDay: number; readonly length: number },
): LeakFlag | null {
  const seen = sumDays(days, { last: day, length });
  if (seen.part < MIN_ORDERS) return null;
  const history: Part[] = [];
  const first = Math.max(firstDay, day - HISTORY_WEEKS * DAYS_A_WEEK);
  for (let last = day - DAYS_A_WEEK; last - length + 1 >= first; last -= length)
    history.push(sumDays(days, { last, length }));
  if (history.length * length < MIN_WEEKS * DAYS_A_WEEK || history.every(({ whole }) => whole === 0))
    return null;
  const usual = sumParts(history);
  const share = shareSurprise(seen, usual);
  const count = countSurprise(
    seen.part,
    history.map(({ part }) => part),
  );
  const isFlagged =
    share > SURPRISE.leastShare &&
    share + SURPRISE.countWeight * Math.min(count, SURPRISE.mostCount) > SURPRISE.limit;
  if (!isFlagged) return null;
  return {
    ...{ day, days: length, orders: seen.whole, withoutLink: seen.part },
    ...{ usualWithoutLink: usual.part / history.length, usualShare: usual.part / usual.whole },
  };
}

/**
 * Returns by how many standard deviations a count is above the usual ones: by chance (the square root of a
 * Poisson count has a standard deviation of 1/2, Anscombe's transform) and by their spread around the median
 * (MAD), whichever is fewer.
 */
function countSurprise(count: number, usual: readonly number[]): number {
  const mean = usual.reduce((sum, one) => sum + one, 0) / usual.length;
  const byChance =
    (2 * (Math.sqrt(count + 3 / 8) - Math.sqrt(mean + 3 / 8))) / Math.sqrt(1 + 1 / usual.length);
  const spread = deviationOf(usual);
  return spread === 0 ? byChance : Math.min(byChance, (count - medianOf(usual)) / spread);
}

/**
 * Returns by how many standard deviations a share is above the usual one. Twice the arcsine of the root of a
 * share has the variance 1/n, whatever the share.
 */
function shareSurprise(seen: Part, usual: Part): number {
  const angle = ({ part, whole }: Part): number => 2 * Math.asin(Math.sqrt(part / whole));
  // Rule of succession: if none of a hundred orders lacked a link, one still may.
  const expected = { part: usual.part + 1, whole: usual.whole + 2 };
  const variance = 1 / seen.whole + 1 / expected.whole + SHARE_VARIANCE;
  return (angle(seen) - angle(expected)) / Math.sqrt(variance);
}

function sumParts(parts: readonly Part[]): Part {
  return parts.reduce((sum, { part, whole }) => ({ part: sum.part + part, whole: sum.whole + whole }), {
    part: 0,
    whole: 0,
  });
}

/** Adds up all orders and those without a link. */
function sumDays(
  days: readonly CodeDay[],
  { last, length }: { readonly last: number; readonly length: number },
): Part {
  let [part, whole] = [0, 0];
  for (const { day, orders, withoutLink } of days) {
    if (day > last || day <= last - length) continue;
    whole += orders;
    part += withoutLink;
  }
  return { part, whole };
}
