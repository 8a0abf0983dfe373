import type { FileStatistics } from '../../../core/checks/file-statistics.ts';
import { formatMoney, minorDigits } from '../../../core/money.ts';
import { type Check, type CheckInput, type Judgement, judged, learning, notJudged } from '../check.ts';
import { medianOf, spreadOf } from '../expected-range.ts';
import { daysOf, MIN_DAYS } from '../past-files.ts';

/**
 * A median within this factor of the usual one is never unusual, because sales and product launches change
 * it.
 */
const FACTOR = 3;
/**
 * Typical standard deviation of the logarithm of order amounts. The median of n amounts has a standard
 * deviation of 1.25 times that, divided by √n. The range is therefore wide for a handful of orders, but still
 * detects a factor of 100 from two orders on.
 */
const LOG_DEVIATION = 1.25;
const DEVIATIONS = 4;
/** Minimum number of amounts for a median. */
const MIN_ORDERS = 2;
/** Approximate factors that a misplaced decimal point causes. */
const DECIMAL_MISTAKE = { from: 40, to: 250 };

/** Detects amounts without their decimal point or from another column, which can be read without a fault. */
export const medianValue: Check = {
  name: 'median_value',
  judge(input) {
    const currencies = Object.keys(input.seen.orders?.amounts ?? {});
    return currencies.length === 0
      ? [notJudged('none', 'needs orders with an amount')]
      : currencies.toSorted().map((currency) => judgeCurrency(input, currency));
  },
};

function judgeCurrency({ seen, thinned }: CheckInput, currency: string): Judgement {
  const amount = seen.orders?.amounts[currency];
  const own = amount ?? { orders: 0, median: '0' };
  const text = formatMoney(own.median, currency);
  if (own.orders < MIN_ORDERS) return { ...notJudged(text, `needs ${MIN_ORDERS} orders`), subject: currency };
  const hasAmounts = (file: FileStatistics) => (file.orders?.amounts[currency]?.orders ?? 0) > 0;
  const have = daysOf(thinned, hasAmounts);
  if (have < MIN_DAYS) return { ...learning(text, { have, need: MIN_DAYS }), subject: currency };

  const logs = thinned
    .filter(hasAmounts)
    .map((file) => Math.log(Number(file.orders?.amounts[currency]?.median)));
  const chance = (DEVIATIONS * LOG_DEVIATION) / Math.sqrt(own.orders);
  const width = Math.max(Math.log(FACTOR), chance, spreadOf(logs));
  const middle = medianOf(logs);
  const times = Math.exp(Math.log(Number(own.median)) - middle);
  const isUsual = Math.abs(Math.log(times)) <= width;
  const bound = (log: number) => formatMoney(Math.exp(log).toFixed(minorDigits(currency)), currency);
  const expected = `${bound(middle - width)} to ${bound(middle + width)}`;
  const message = `The median order value is ${text}, ${describeFactor(times)} the usual ${bound(middle)}${hint(times)}.`;
  const unusual = { message, sample: { of: times > 1 ? 'highest' : 'lowest' } } as const;
  return { ...judged(text, expected, isUsual ? null : unusual), subject: currency };
}

function describeFactor(times: number): string {
  const round = (factor: number) =>
    factor.toLocaleString('en', { maximumFractionDigits: factor < 10 ? 1 : 0 });
  return times > 1 ? `${round(times)} times` : `1/${round(1 / times)} of`;
}

function hint(times: number): string {
  const factor = Math.max(times, 1 / times);
  const isLikely = factor >= DECIMAL_MISTAKE.from && factor <= DECIMAL_MISTAKE.to;
  return isLikely ? '. The decimal point is probably in the wrong place' : '';
}
