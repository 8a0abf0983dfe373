import type { CodeDay, LeakDates } from '../../core/money/leak.ts';

/*
 * Says on which day a leak began, as a posterior over the days. Before that day, a code has its own orders: their
 * number is overdispersed, because posts raise it (negative binomial), and the share without a link varies from post to
 * post (beta-binomial). From that day on there are orders of others as well, all without a link, and overdispersed too.
 * How many a day is unknown, so it is averaged over a grid.
 */

/** Number of days before the first unusual one on which the leak may have begun. Earlier, it is unknown. */
export const EARLIEST_DAYS = 28;
/** The days before those, from which the use of the code itself is learned. */
export const OWN_DAYS = 56;
/** As many days of its own must be known. */
const MIN_OWN_DAYS = 14;
/** Part of the posterior that the range leaves out on each side. */
const TAIL = 0.05;
/** A larger count is scaled down to it, which widens the range and keeps the sums short. */
const MOST_ORDERS = 150;
/** A beta distribution with this precision varies as `SHARE_VARIANCE` of `judgeCode` says. */
const SHARE_PRECISION = 50;
/** Shape of the orders of others in a day: their variance is the mean + its square / 4. */
const LEAK_SHAPE = 4;
const RATES = 12;

/**
 * @param days days of one code, each once. Days without an order may be omitted.
 * @param options.flagged the first day that was unusual, and `last` the last one.
 * @param options.firstDay the day since which the code is known.
 * @returns null if it cannot be known: too little is known of the time before, or it began before all days that
 *   are compared.
 */
export function dateLeak(
  days: readonly CodeDay[],
  { flagged, last, firstDay }: { flagged: number; last: number; firstDay: number },
): LeakDates<number> | null {
  const first = Math.max(flagged - EARLIEST_DAYS, firstDay + MIN_OWN_DAYS);
  const ownFrom = Math.max(first - OWN_DAYS, firstDay);
  if (first - ownFrom < MIN_OWN_DAYS || first > flagged) return null;
  const byDay = new Map(days.map((one) => [one.day, one]));
  const scale = Math.max(
    1,
    ...days.filter(({ day }) => day >= ownFrom && day <= last).map(({ orders }) => orders / MOST_ORDERS),
  );
  const countsOn = (day: number): Counts => {
    const { orders = 0, withoutLink = 0 } = byDay.get(day) ?? {};
    return [Math.round(withoutLink / scale), Math.round((orders - withoutLink) / scale)];
  };
  const range = (from: number, to: number): readonly Counts[] =>
    Array.from({ length: to - from }, (_, index) => countsOn(from + index));
  const seen = range(first, last + 1);
  const posterior = weigh(seen, ownOf(range(ownFrom, first)));
  // The first day stands for itself and all days before it.
  if ((posterior[0] ?? 1) > TAIL) return null;
  const dayAt = (mass: number): number => {
    let sum = 0;
    return (
      first +
      posterior.findIndex((one) => {
        sum += one;
        return sum >= mass;
      })
    );
  };
  return {
    from: dayAt(TAIL),
    likeliest: first + posterior.indexOf(Math.max(...posterior)),
    to: dayAt(1 - TAIL),
  };
}

/** Orders of a day without and with a link. */
type Counts = readonly [without: number, linked: number];

/** How a code is used by its own followers. */
type Own = { readonly mean: number; readonly shape: number; readonly share: number };

function ownOf(days: readonly Counts[]): Own {
  const wholes = days.map(([without, linked]) => without + linked);
  const sum = wholes.reduce((all, one) => all + one, 0);
  const without = days.reduce((all, [one]) => all + one, 0);
  // One order more than were seen: a code that was not used is used now and then.
  const mean = (sum + 1) / (wholes.length + 1);
  const variance = wholes.reduce((all, one) => all + (one - mean) ** 2, 0) / wholes.length;
  const shape = Math.min(20, Math.max(0.1, mean ** 2 / Math.max(variance - mean, 0.001)));
  return { mean, shape, share: (without + 1) / (sum + 2) };
}

/** The posterior of each day as the first one of the leak. Each is as likely as another before the orders are seen. */
function weigh(seen: readonly Counts[], own: Own): readonly number[] {
  const most = Math.max(2, ...seen.map(([without]) => without));
  const before = seen.map((day) => logOwn(day, own));
  const logs = Array.from({ length: RATES }, (_, index) => {
    const rate = 0.5 * (most / 0.5) ** (index / (RATES - 1));
    const since = seen.map((day) => logLeaked(day, { own, rate }));
    // Beginning on one day later changes one day from `since` to `before`.
    let log = since.reduce((all, one) => all + one, 0);
    return seen.map((_day, at) => {
      const here = log;
      log += (before[at] ?? 0) - (since[at] ?? 0);
      return here;
    });
  });
  const highest = Math.max(...logs.flat());
  const weights = seen.map((_, at) =>
    logs.reduce((all, of) => all + Math.exp((of[at] ?? Number.NEGATIVE_INFINITY) - highest), 0),
  );
  const total = weights.reduce((all, one) => all + one, 0);
  return weights.map((one) => one / total);
}

/** Log-probability of orders that are all of the code's own followers. */
function logOwn([without, linked]: Counts, { mean, shape, share }: Own): number {
  const [part, rest] = [SHARE_PRECISION * share, SHARE_PRECISION * (1 - share)];
  const whole = without + linked;
  return (
    logNegativeBinomial(whole, { mean, shape }) +
    logGamma(whole + 1) -
    logGamma(without + 1) -
    logGamma(linked + 1) +
    (logGamma(without + part) + logGamma(linked + rest) - logGamma(whole + SHARE_PRECISION)) -
    (logGamma(part) + logGamma(rest) - logGamma(SHARE_PRECISION))
  );
}

/** The same if some of the orders without a link are of others. */
function logLeaked([without, linked]: Counts, { own, rate }: { own: Own; rate: number }): number {
  const terms = Array.from(
    { length: without + 1 },
    (_, others) =>
      logNegativeBinomial(others, { mean: rate, shape: LEAK_SHAPE }) +
      logOwn([without - others, linked], own),
  );
  const highest = Math.max(...terms);
  return highest + Math.log(terms.reduce((all, one) => all + Math.exp(one - highest), 0));
}

function logNegativeBinomial(count: number, { mean, shape }: { mean: number; shape: number }): number {
  return (
    logGamma(count + shape) -
    logGamma(shape) -
    logGamma(count + 1) +
    shape * Math.log(shape / (shape + mean)) +
    count * Math.log(mean / (shape + mean))
  );
}

/** Logarithm of the gamma function of a number above 0: Stirling's series, after shifting it above 8. */
function logGamma(value: number): number {
  let [shifted, product] = [value, 1];
  for (; shifted < 8; shifted += 1) product *= shifted;
  const inverse = 1 / shifted;
  const series = inverse * (1 / 12 - inverse ** 2 * (1 / 360 - inverse ** 2 / 1260));
  return (
    (shifted - 0.5) * Math.log(shifted) - shifted + Math.log(2 * Math.PI) / 2 + series - Math.log(product)
  );
}
