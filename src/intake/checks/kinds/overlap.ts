import { plural } from '../../../core/text/plural.ts';
import {
  type Check,
  type CheckInput,
  formatShare,
  type Judgement,
  judged,
  learning,
  notJudged,
} from '../check.ts';
import { medianOf, shareRange, spreadOf } from '../expected-range.ts';
import { daysOf, MIN_DAYS } from '../past-files.ts';

/** A share of known orders that is larger by no more than this is never unusual. */
const FLOOR = 0.3;
/** Minimum number of orders. Fewer may all be known by chance, because a refunded order is exported again. */
const MIN_ORDERS = 5;
const HOUR_MS = 3_600_000;
/** New orders that are older by no more than this are never unusual: a long weekend. */
const FLOOR_HOURS = 96;

/** Detects the export of another day that was uploaded again with another name and other bytes. */
export const overlap: Check = {
  name: 'overlap',
  isOfNewFiles: true,
  judge({ seen, thinned }) {
    const all = (seen.orders?.new ?? 0) + (seen.orders?.known ?? 0);
    if (all < MIN_ORDERS) return [notJudged(`${all} in all`, `needs ${MIN_ORDERS} orders`)];
    const share = (seen.orders?.known ?? 0) / all;
    const earlier = thinned.filter(({ orders }) => orders !== null && orders.new + orders.known > 0);
    const have = daysOf(earlier);
    if (have < MIN_DAYS) return [learning(formatShare(share), { have, need: MIN_DAYS })];
    const parts = earlier.map(({ orders }) => ({
      part: orders?.known ?? 0,
      whole: (orders?.known ?? 0) + (orders?.new ?? 0),
    }));
    const { high: most } = shareRange(parts, { whole: all, floor: FLOOR });
    const isUsual = share <= most;
    const expected = `at most ${formatShare(most)}`;
    const message = `${formatShare(share)} of its orders are in earlier files of this source; ${expected} is usual. It may be an old export under a new name.`;
    return [judged(formatShare(share), expected, isUsual ? null : { message, sample: { of: 'known' } })];
  },
};

/** Detects an export of another period than usual. */
export const newestOrder: Check = {
  name: 'newest_order',
  isOfNewFiles: true,
  judge({ seen, thinned }) {
    const hours = ageOf(seen);
    if (hours === null || (seen.orders?.new ?? 0) < MIN_ORDERS)
      return [notJudged('unknown', `needs ${MIN_ORDERS} new orders with a time`)];
    const earlier = thinned.filter((file) => ageOf(file) !== null);
    const have = daysOf(earlier);
    if (have < MIN_DAYS) return [learning(formatAge(hours), { have, need: MIN_DAYS })];
    const ages = earlier.map((file) => ageOf(file) ?? 0);
    const most = medianOf(ages) + Math.max(FLOOR_HOURS, spreadOf(ages));
    return [judgeAge(hours, most)];
  },
};

function judgeAge(hours: number, most: number): Judgement {
  const isUsual = hours <= most;
  const expected = `at most ${formatAge(most)}`;
  const message = `Its newest order was placed ${formatAge(hours)} before the file arrived; ${expected} is usual. It may be an export of another period.`;
  return judged(formatAge(hours), expected, isUsual ? null : { message });
}

/** Returns the hours between the newest of a file's new orders and its arrival. */
function ageOf({ orders, arrivedAt }: CheckInput['seen']): number | null {
  const newest = orders?.newestAt ?? null;
  return newest === null ? null : Math.max(0, (arrivedAt.getTime() - newest.getTime()) / HOUR_MS);
}

function formatAge(hours: number): string {
  const [count, unit] = hours < 48 ? [Math.round(hours), 'hour'] : [Math.round(hours / 24), 'day'];
  return plural(count, unit);
}
