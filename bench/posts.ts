/**
 * What codes miss: whether orders without a code in the days after a post can be told from the shop's own rhythm, in
 * simulated shops of which it is known how many orders a post brought.
 *
 *     node bench/posts.ts [--shops 300] [--seed 1]
 *
 * An estimator may be built into the product only if it claims a lift for at most 5 % of posts without one, and its 90 %
 * intervals contain 90 % of the planted lifts, in every kind of shop. Prints the tables of docs/money.md.
 */
import { parseArgs } from 'node:util';
import { poisson, randomOf } from './live-code.ts';

const DAYS = 400;
/** Days after a post, with its own, whose orders are compared. */
const WINDOW = 3;
/** Days from which the level of the shop is learned, and those of which other windows are compared. */
const LEVEL_DAYS = 28;
const PLACEBO_DAYS = 182;
const LEAST_PLACEBOS = 40;

type Kind = {
  readonly name: string;
  /** Orders without a code a day, from and to. */
  readonly orders: readonly [number, number];
  /** Standard deviation of the logarithm of a day, and how much of it stays until the next day. */
  readonly noise: number;
  readonly memory: number;
  /** Days between promotions that nobody told the tool of; each lasts 1 to 4 days, with 1.3 to 3 times as many orders. */
  readonly promotionEvery: number;
  /** Share of posts that go out with a promotion. */
  readonly together: number;
  /** Days between posts. */
  readonly postEvery: number;
};

const SHOP: Kind = {
  name: '',
  orders: [20, 200],
  noise: 0.15,
  memory: 0.3,
  promotionEvery: 45,
  together: 0,
  postEvery: 30,
};
const KINDS: readonly Kind[] = [
  { ...SHOP, name: 'calm: 20 to 200 orders a day' },
  { ...SHOP, name: 'few orders: 0.3 to 3 a day', orders: [0.3, 3] },
  { ...SHOP, name: '3 to 20 a day', orders: [3, 20] },
  { ...SHOP, name: 'restless days', noise: 0.4, memory: 0.6 },
  { ...SHOP, name: 'a promotion every two weeks', promotionEvery: 14 },
  { ...SHOP, name: 'a post every five days', postEvery: 5 },
  { ...SHOP, name: 'one post in ten goes with a promotion', together: 0.1 },
  { ...SHOP, name: 'one post in three goes with a promotion', together: 1 / 3 },
];

type Shop = {
  readonly orders: readonly number[];
  /** Orders with a code of another creator. */
  readonly others: readonly number[];
  readonly posts: readonly number[];
  readonly lifts: readonly number[];
};

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** More orders than `poisson` counts: in parts. */
function count(mean: number, random: () => number): number {
  const parts = Math.ceil(mean / 100);
  return Array.from({ length: parts }, () => poisson(mean / parts, random)).reduce(
    (all, one) => all + one,
    0,
  );
}

/**
 * A year of orders without a code: weekdays, trend, a season, days that stay good or bad, promotions, posts.
 * @param lift the orders that a post brings, as a share of those of three usual days.
 */
function liveShop(
  kind: Kind,
  { random, lift }: { readonly random: () => number; readonly lift: number },
): Shop {
  const [least, most] = kind.orders;
  const level = least * (most / least) ** random();
  const week = Array.from({ length: 7 }, () => Math.exp(0.25 * normal(random)));
  const trend = (random() - 0.4) / 365;
  const phase = random() * 2 * Math.PI;
  const gap = (every: number): number => 1 + Math.floor(random() * 2 * every);
  const posts: number[] = [];
  for (let day = gap(kind.postEvery); day < DAYS - WINDOW; day += gap(kind.postEvery)) posts.push(day);
  const promoted = Array.from({ length: DAYS }, () => 1);
  const promote = (from: number): void => {
    const [length, factor] = [1 + Math.floor(random() * 4), 1.3 + random() * 1.7];
    for (let day = from; day < Math.min(DAYS, from + length); day += 1) promoted[day] = factor;
  };
  for (let day = gap(kind.promotionEvery); day < DAYS; day += gap(kind.promotionEvery)) promote(day);
  for (const post of posts) if (random() < kind.together) promote(post);
  const lifts = posts.map(() => 0);
  // A promotion moves orders with codes less than others: many codes do not count in it.
  const stacks = random();
  const others: number[] = [];
  let state = 0;
  const orders = Array.from({ length: DAYS }, (_, day) => {
    state = kind.memory * state + Math.sqrt(1 - kind.memory ** 2) * kind.noise * normal(random);
    const season = 0.15 * Math.sin(phase + (2 * Math.PI * day) / 365);
    const usual = level * (week[day % 7] ?? 1) * Math.exp(trend * day + season);
    others.push(count(0.2 * usual * (promoted[day] ?? 1) ** stacks * Math.exp(state), random));
    let all = count(usual * (promoted[day] ?? 1) * Math.exp(state), random);
    for (const [index, post] of posts.entries()) {
      // Half of what it brings comes on the first day, and nothing after the window.
      const share = [0.5, 0.3, 0.2][day - post] ?? 0;
      const brought = share === 0 ? 0 : count(WINDOW * usual * lift * share, random);
      all += brought;
      lifts[index] = (lifts[index] ?? 0) + brought;
    }
    return all;
  });
  return { orders, others, posts, lifts };
}

type Estimate = { readonly from: number; readonly to: number };

/**
 * Compares the days after a post with all windows of the half year before in which no post had an effect: each with what
 * its weekdays and the four weeks before it let expect. The windows before are as likely as this one to be above it, if
 * the post did nothing, so their ratios give the interval (conformal). Null: it cannot be known.
 *
 * @param options.isCompared whether each window is divided by what the orders with codes of other creators did in it.
 */
function estimate(
  { orders, others, posts }: Shop,
  { post, isCompared }: { readonly post: number; readonly isCompared: boolean },
): Estimate | null {
  const isNear = (day: number): boolean => posts.some((one) => day >= one && day < one + WINDOW);
  if (posts.some((one) => one !== post && Math.abs(one - post) < WINDOW)) return null;
  const first = post - PLACEBO_DAYS;
  if (first - LEVEL_DAYS < 0) return null;
  const free = (from: number, to: number): readonly number[] =>
    Array.from({ length: to - from }, (_, index) => from + index).filter((day) => !isNear(day));
  const before = free(first - LEVEL_DAYS, post);
  const usualOf = (series: readonly number[]) => {
    const mean = (days: readonly number[]): number =>
      days.reduce((all, day) => all + (series[day] ?? 0), 0) / Math.max(1, days.length);
    const overall = mean(before);
    const week = Array.from(
      { length: 7 },
      (_, weekday) => (mean(before.filter((day) => day % 7 === weekday)) + 0.5) / (overall + 0.5),
    );
    const sum = (days: readonly number[], of: (day: number) => number): number =>
      days.reduce((all, day) => all + of(day), 0);
    const factor = (day: number): number => week[day % 7] ?? 1;
    const windowOf = (start: number): readonly number[] =>
      Array.from({ length: WINDOW }, (_, day) => start + day);
    return {
      seen: (start: number): number => sum(windowOf(start), (day) => series[day] ?? 0),
      expected(start: number): number {
        const days = free(start - LEVEL_DAYS, start);
        return (sum(days, (day) => series[day] ?? 0) / sum(days, factor)) * sum(windowOf(start), factor);
      },
    };
  };
  const [own, control] = [usualOf(orders), usualOf(others)];
  if (isCompared && control.expected(post) < 10) return null;
  const scale = (start: number): number =>
    isCompared ? (control.seen(start) + 1) / (control.expected(start) + 1) : 1;
  const seen = own.seen;
  const expected = (start: number): number => (own.expected(start) + 1) * scale(start);
  const ratio = (start: number): number => (seen(start) + 1) / expected(start);
  const ratios = free(first, post - WINDOW + 1)
    .filter((start) => ![1, 2].some((day) => isNear(start + day)))
    .map(ratio)
    .toSorted((one, other) => one - other);
  if (ratios.length < LEAST_PLACEBOS) return null;
  const rank = Math.floor(0.05 * (ratios.length + 1)) - 1;
  const [low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY] = [
    ratios[rank],
    ratios.at(-1 - rank),
  ];
  const without = (of: number): number => of * expected(post) - 1;
  return { from: seen(post) - without(high), to: seen(post) - without(low) };
}

const { values } = parseArgs({
  options: { shops: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const percent = (part: number, whole: number): string =>
  whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`;

/** Figures of all posts of a kind of shop, with the lift that was planted. */
function figuresOf(
  kind: Kind,
  { lift, isCompared }: { readonly lift: number; readonly isCompared: boolean },
) {
  let [posts, known, claims, held] = [0, 0, 0, 0];
  for (let shop = 0; shop < Number(values.shops); shop += 1) {
    const random = randomOf(Number(values.seed) * 7_919 + KINDS.indexOf(kind) * 1_000_003 + shop * 101);
    const lived = liveShop(kind, { random, lift });
    for (const [at, post] of lived.posts.entries()) {
      // Earlier, the history is too short for every estimator.
      if (post < PLACEBO_DAYS + LEVEL_DAYS) continue;
      posts += 1;
      const interval = estimate(lived, { post, isCompared });
      if (interval === null) continue;
      known += 1;
      const brought = lived.lifts[at] ?? 0;
      if (interval.from > 0) claims += 1;
      if (interval.from <= brought && brought <= interval.to) held += 1;
    }
  }
  return {
    posts,
    unknown: percent(posts - known, posts),
    claims: percent(claims, known),
    held: percent(held, known),
  };
}

const HEADER = [
  ...['Shop', 'Posts', 'Cannot be known', 'Claims without a lift'],
  ...['Interval is right: no lift', '30 %', '100 %', 'Claims: 30 %', '100 %'],
];
const print = (cells: readonly unknown[]): unknown => process.stdout.write(`| ${cells.join(' | ')} |\n`);
for (const isCompared of [false, true]) {
  print(HEADER);
  print(HEADER.map(() => '---'));
  for (const kind of KINDS) {
    const [none, some, twice] = [0, 0.3, 1].map((lift) => figuresOf(kind, { lift, isCompared }));
    print([
      ...[kind.name, none?.posts, none?.unknown, none?.claims],
      ...[none?.held, some?.held, twice?.held, some?.claims, twice?.claims],
    ]);
  }
}
