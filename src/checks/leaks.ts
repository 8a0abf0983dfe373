import type { CodeDay, LeakFlag } from '../model/money/leak.ts';
import { countRange, type Part, shareRange } from './expected-range.ts';

/*
 * Detects leaked discount codes. A code has leaked when it is used by people who do not come from its
 * creator: a coupon site lists it, or a browser extension tries it. It is then used more than before, by
 * orders without a link of the creator. A post of the creator also causes a burst, but its orders have links
 * as before. Therefore a code is flagged only if two figures are unusual for this code: the number of its
 * orders without a link, and their share.
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
 * Number of standard deviations that random variation may move the count and the share. Chosen by simulating
 * years of 500 codes: `test/checks/leaks.test.ts`.
 */
const DEVIATIONS = { count: 2, share: 3.4 } as const;

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
  const counts = history.map(({ part }) => part);
  const usual = countRange(counts, { floor: 0, deviations: DEVIATIONS.count });
  const usualShare = shareRange(history, { whole: seen.whole, floor: 0, deviations: DEVIATIONS.share });
  const isFlagged = seen.part > usual.high && seen.part / seen.whole > usualShare.high;
  if (!isFlagged) return null;
  return {
    ...{ day, days: length, orders: seen.whole, withoutLink: seen.part },
    ...{ usualWithoutLink: usual.high, usualShare: usualShare.high },
  };
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
