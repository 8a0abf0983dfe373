import type { CodeDay, LeakFlag } from '../model/money/leak.ts';
import { countRange, type Part, shareRange } from './expected-range.ts';

/*
 * A code has leaked when people use it who do not come from its creator: it stands on a coupon site, or a browser extension tries it. Then it
 * is used more than it was, and by orders that carry no link of the creator. A post makes a burst too, but its orders carry links as before.
 * So a code is flagged only when both are unusual for this very code: how many of its orders carry no link, and their share.
 */

const DAYS_A_WEEK = 7;
/** Days that are judged together: two, because in a week a burst drowns in what is usual of a busy code; seven, because some leaks are slow. */
const WINDOWS = [2, 4, 7] as const;
/** What is usual is learnt from so many weeks before the last one. */
const HISTORY_WEEKS = 12;
/** A code that is used for the first time is used in a burst. */
const MIN_WEEKS = 4;
/** Fewer orders without a link say nothing. */
export const MIN_ORDERS = 10;
/** By how much chance may move each of the two. Chosen by simulating years of 500 codes: `test/checks/leaks.test.ts`. */
const DEVIATIONS = { count: 2, share: 3.4 } as const;

/** The longest of the windows that `judgeCode` looks at. */
export const WINDOW_DAYS = DAYS_A_WEEK;

/** How far back `judgeCode` looks, its own windows included. */
export const LEAK_DAYS = (HISTORY_WEEKS + 1) * DAYS_A_WEEK;

/**
 * Judges the last days of a code.
 *
 * @param days of one code, each day once, oldest first; a day without an order may be left out.
 * @param options.day the last day.
 * @param options.firstDay since when the code is known.
 * @returns null where nothing is unusual, or too little is known.
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

/** Orders without a link, of all. */
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
