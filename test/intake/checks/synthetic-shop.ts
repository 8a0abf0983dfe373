import { type Expectations, expect, toExpectations } from '../../../src/config/source-fields.ts';
import type { FileStatistics, OrderStatistics } from '../../../src/core/checks/file-statistics.ts';

/**
 * Generates a year of exports of a fictitious shop from a seed: the statistics of each file, without the
 * files.
 */

export type Shop = {
  readonly name: string;
  readonly seed: number;
  /** Orders on an average day at the start of the year. */
  readonly ordersADay: number;
  /** Factors by weekday, Sunday first. */
  readonly week: readonly number[];
  /** Growth per month: 0.03 is 3 %. */
  readonly growth: number;
  /** Variation between days beyond chance, as the standard deviation of the logarithm. */
  readonly noise: number;
  /** One file a day, one file an hour, or one file a day that contains all orders of the last year again. */
  readonly exports: 'daily' | 'hourly' | 'cumulative';
};

export const SHOPS: readonly Shop[] = [
  {
    name: 'large',
    seed: 11,
    ordersADay: 900,
    growth: 0.03,
    noise: 0.1,
    exports: 'daily',
    week: [1.2, 1.1, 0.95, 0.9, 0.9, 0.95, 1],
  },
  {
    name: 'medium, strong weekdays',
    seed: 12,
    ordersADay: 120,
    growth: 0.02,
    noise: 0.15,
    exports: 'daily',
    week: [0.4, 1.3, 1.2, 1.2, 1.2, 1.2, 0.5],
  },
  {
    name: 'small',
    seed: 13,
    ordersADay: 12,
    growth: 0.04,
    noise: 0.15,
    exports: 'daily',
    week: [1.3, 1, 0.9, 0.9, 0.9, 1, 1.2],
  },
  {
    name: 'tiny',
    seed: 14,
    ordersADay: 2,
    growth: 0,
    noise: 0,
    exports: 'daily',
    week: [1, 1, 1, 1, 1, 1, 1],
  },
  {
    name: 'cumulative',
    seed: 15,
    ordersADay: 60,
    growth: 0.03,
    noise: 0.12,
    exports: 'cumulative',
    week: [1.1, 1, 0.95, 0.95, 0.95, 1, 1.1],
  },
  {
    name: 'hourly',
    seed: 16,
    ordersADay: 400,
    growth: 0.02,
    noise: 0.12,
    exports: 'hourly',
    week: [1.1, 1, 0.95, 0.95, 0.95, 1, 1.1],
  },
] as const satisfies readonly Shop[];

/** The expectations of a pipeline.yaml that sets none. */
export const EXPECTATIONS: Expectations = toExpectations(expect.parse({}), 'Europe/Amsterdam');

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 365;
/** 2025-12-01, so that the year ends with the Black Friday of 2026-11-27 and begins with Christmas. */
const FIRST_DAY = Date.UTC(2025, 11, 1);

/** Days on which shops sell less, with the factor. */
const HOLIDAYS: Readonly<Record<string, number>> = {
  '2025-12-25': 0.3,
  '2025-12-26': 0.5,
  '2026-01-01': 0.4,
  '2026-04-03': 0.8,
  '2026-04-06': 0.6,
  '2026-05-01': 0.7,
  '2026-05-25': 0.7,
};

/** Days of a sale, with the factor by which sales rise. */
export const SALES: Readonly<Record<string, number>> = {
  '2026-11-27': 5,
  '2026-11-28': 2.5,
  '2026-11-30': 3,
};

const HOUR_OF_DAY = [
  0.3, 0.15, 0.1, 0.1, 0.1, 0.2, 0.5, 0.8, 1, 1.2, 1.3, 1.3, 1.3, 1.2, 1.2, 1.2, 1.3, 1.4, 1.6, 1.8, 1.8, 1.5,
  1, 0.65,
];

/** Yields the files of a year in order. */
export function* exportsOf(shop: Shop): Generator<FileStatistics> {
  const random = createRandom(shop.seed);
  let total = 0;
  let id = 0;
  for (let day = 0; day < DAYS; day += 1) {
    const startMs = FIRST_DAY + day * DAY_MS;
    const date = new Date(startMs).toISOString().slice(0, 10);
    const usual =
      shop.ordersADay *
      (shop.week[new Date(startMs).getUTCDay()] ?? 1) *
      (1 + shop.growth) ** (day / 30) *
      (HOLIDAYS[date] ?? 1) *
      (SALES[date] ?? 1) *
      Math.exp(shop.noise * random.normal());
    const parts = shop.exports === 'hourly' ? HOUR_OF_DAY.map((share) => (usual * share) / 25.05) : [usual];
    for (const [hour, mean] of parts.entries()) {
      const fresh = random.poisson(mean);
      total += fresh;
      id += 1;
      // A daily export arrives at 05:00 after its day, and a little later on some days.
      const endMs = shop.exports === 'hourly' ? startMs + (hour + 1) * HOUR_MS : startMs + DAY_MS;
      const delayMs = shop.exports === 'hourly' ? 5 * 60_000 : 4 * HOUR_MS + random.uniform() * HOUR_MS;
      const isAll = shop.exports === 'cumulative';
      // In its first months, the cumulative export of a new shop grows daily. This shop has sold before.
      const before = isAll ? total - fresh + 60 * shop.ordersADay : random.binomial(fresh, 0.05);
      yield toFile({
        id,
        fresh,
        known: before,
        changed: random.binomial(fresh, 0.05),
        random,
        endMs,
        delayMs,
      });
    }
  }
}

type Drawn = {
  readonly id: number;
  readonly fresh: number;
  readonly known: number;
  readonly changed: number;
  readonly random: Random;
  /** End of the exported period. */
  readonly endMs: number;
  readonly delayMs: number;
};

function toFile({ id, fresh, known, changed, random, endMs, delayMs }: Drawn): FileStatistics {
  const judged = fresh + Math.min(changed, known);
  const rows = Math.round((fresh + known) * (1.6 + 0.05 * random.normal()));
  const rejectedRows = random.binomial(Math.min(rows, 5_000), 0.002);
  return {
    sourceFileId: String(id),
    arrivedAt: new Date(endMs + delayMs),
    sizeBytes: rows * 250,
    rows,
    rejectedRows,
    header: ['Name', 'Id', 'Email', 'Financial Status', 'Total', 'Currency', 'Discount Code', 'Created at'],
    headerHash: 'a',
    consent: null,
    orders: toOrders({ fresh, known, judged, random, endMs }),
  };
}

function toOrders(
  drawn: Pick<Drawn, 'fresh' | 'known' | 'random' | 'endMs'> & { readonly judged: number },
): OrderStatistics {
  const { fresh, known, judged, random, endMs } = drawn;
  const pending = random.binomial(judged, 0.1);
  const refunded = random.binomial(judged, 0.04);
  const dollars = random.binomial(judged, 0.08);
  // Approximates the median of n amounts whose logarithms have a standard deviation of 0.8.
  const median = (orders: number) =>
    48 * Math.exp((1.25 * 0.8 * random.normal()) / Math.sqrt(Math.max(orders, 1)));
  const amounts = Object.entries({ EUR: judged - dollars, USD: dollars }).filter(([, orders]) => orders > 0);
  return {
    new: fresh,
    known,
    judged,
    blankCodes: random.binomial(judged, Math.min(0.95, 0.7 + 0.03 * random.normal())),
    coded: Math.round(judged * 0.3),
    unowned: random.binomial(Math.round(judged * 0.3), 0.2),
    currencies: { EUR: judged - dollars, USD: dollars },
    statuses: { paid: judged - pending - refunded, pending, refunded },
    amounts: Object.fromEntries(
      amounts.map(([currency, orders]) => [currency, { orders, median: median(orders).toFixed(4) }]),
    ),
    newestAt:
      fresh === 0 ? null : new Date(endMs - (HOUR_MS * 12 * random.uniform()) / Math.max(1, fresh / 20)),
  };
}

type Random = ReturnType<typeof createRandom>;

/**
 * Creates a generator (mulberry32) and the distributions drawn from it. The same seed gives the same numbers
 * on every machine.
 */
function createRandom(seed: number) {
  let state = seed;
  function uniform(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  function poisson(mean: number): number {
    if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    let count = 0;
    for (let left = Math.exp(-mean), product = uniform(); product > left; product *= uniform()) count += 1;
    return count;
  }
  function binomial(count: number, share: number): number {
    if (count > 60)
      return Math.min(
        count,
        Math.max(0, Math.round(count * share + Math.sqrt(count * share * (1 - share)) * normal())),
      );
    let hits = 0;
    for (let one = 0; one < count; one += 1) if (uniform() < share) hits += 1;
    return hits;
  }
  return { uniform, normal, poisson, binomial };
}
