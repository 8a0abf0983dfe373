/**
 * Simulated codes, whose truth is known, for the test of leaks and for `bench/voids.ts`.
 */

/** Returns a generator (mulberry32) of the same numbers for the same seed, from 0 to below 1. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function poisson(mean: number, random: () => number): number {
  let [count, share] = [0, Math.exp(-mean)];
  let sum = share;
  for (const drawn = random(); drawn > sum && count < 500; sum += share) {
    count += 1;
    share *= mean / count;
  }
  return count;
}

/** A day of a simulated code. `own` and `ownWithoutLink` are the orders of the creator's followers. */
export type LivedDay = {
  readonly day: number;
  readonly orders: number;
  readonly withoutLink: number;
  readonly own: number;
  readonly ownWithoutLink: number;
};

export type Lived = {
  /** Days with an order. */
  readonly days: readonly LivedDay[];
  /** Orders a day without a post. */
  readonly usual: number;
  /** Day of the tenth leaked order; null if the code did not leak. */
  readonly tenth: number | null;
  readonly leakBegins: number;
};

export const YEAR_DAYS = 365;

/**
 * Simulates a year of a code with 0.05 to 3 orders a day, 50 to 95 % of which carry a link. Two posts a month
 * each multiply the orders by three or more for some days. If the code leaks, it gets 4 to 15 orders a day
 * for two weeks, 95 % of them without a link.
 */
export function liveCode(random: () => number, isLeaked: boolean): Lived {
  const usual = Math.exp(Math.log(0.05) + random() * Math.log(3 / 0.05));
  const linked = 0.5 + random() * 0.45;
  const leakBegins = 60 + Math.floor(random() * 290);
  const leakRate = 4 + random() * 11;
  const days: LivedDay[] = [];
  let [boost, postLinked, leaked] = [0, linked, 0];
  let tenth: number | null = null;
  for (let day = 0; day < YEAR_DAYS; day += 1) {
    if (random() < 2 / 30) {
      boost = 2 + random() * 8;
      postLinked = Math.min(1, linked + (random() - 0.5) * 0.2);
    }
    const own = poisson(usual * (1 + boost), random);
    const share = boost > 1 ? postLinked : linked;
    const isLeaking = isLeaked && day >= leakBegins && day < leakBegins + 14;
    const foreign = isLeaking ? poisson(leakRate, random) : 0;
    const without = (orders: number, share: number): number =>
      Array.from({ length: orders }, random).filter((drawn) => drawn < share).length;
    const ownWithoutLink = without(own, 1 - share);
    const withoutLink = ownWithoutLink + without(foreign, 0.95);
    if (own + foreign > 0) days.push({ day, orders: own + foreign, withoutLink, own, ownWithoutLink });
    leaked += foreign;
    if (tenth === null && leaked >= 10) tenth = day;
    boost *= 0.7;
  }
  return { days, usual, tenth, leakBegins };
}

/** The days of a code that are known at the end of a day, as `findLeaks` reads them. */
export function knownOn(days: readonly LivedDay[], today: number): readonly LivedDay[] {
  return days.filter(({ day }) => day <= today && day > today - 119);
}
