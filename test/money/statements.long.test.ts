import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { findJob, loadConfig } from '../../jobs/index.ts';
import type { RunReport } from '../../src/core/report.ts';
import { runJob } from '../../src/runs/run-job.ts';
import { createClient } from '../../src/service/client.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { countPages, openFalseStatistics, openTimed } from '../support/false-statistics.ts';

// `npm run test:campaigns -- statements` runs the long form with 200,000 orders, which takes some minutes.
const ORDERS = Number(process.env.STATEMENTS_ORDERS ?? 12_000);
/** One order in this many has a code with an owner. */
const ONE_IN = 40;
/** Orders in one hour of a shop: new ones, and some that changed. */
const HOURLY = 60;

vi.setConfig({ testTimeout: 1_800_000 });

/**
 * A statement may take three times its normal time, and a run may read three times as many pages. NOISE_MS
 * covers the noise on short statements when several test files run in parallel.
 */
const FACTOR = 3;
const NOISE_MS = 2_000;
/** A statement counts only if it is too slow in this many rounds. */
const ROUNDS = 3;
/** A plan with quadratic cost exceeds this limit. */
const LIMIT_MS = 30_000 + ORDERS;

type Measured = {
  readonly times: ReadonlyMap<string, number>;
  readonly pages: number;
  readonly report: RunReport;
};

const RUNS = ['load', 'hour'] as const;

type Both = Readonly<Record<(typeof RUNS)[number], Measured>>;

type Statistics = 'true' | 'false' | 'false after bloat';

/** Runs the job in this process, so that each statement can be timed. */
async function measureRun(shop: Workshop): Promise<Measured> {
  const before = await countPages(shop.databaseUrl);
  const timed = openTimed(shop.databaseUrl, LIMIT_MS);
  const config = loadConfig(join(shop.folder, 'pipeline.yaml'), shop.env);
  const { job, kind } = findJob(config, 'orders');
  const client = createClient({
    url: shop.sandbox.url,
    key: shop.sandbox.key,
    connections: config.api.concurrency,
    timeoutMs: 30_000,
    connectTimeoutMs: 5_000,
  });
  const sourceClients = openSourceClients();
  try {
    const { report, stop } = await runJob({
      config,
      job,
      kind,
      db: timed.db,
      client,
      sourceClients,
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note() {}, end() {} },
      draining: new AbortController().signal,
    });
    expect(stop).toBeNull();
    await timed.close();
    return { times: timed.take(), pages: (await countPages(shop.databaseUrl)) - before, report };
  } finally {
    sourceClients.close();
    await client.close();
  }
}

/** Writes orders placed over a hundred days. In a later round, every second order has another revenue. */
function writeOrders(
  shop: Workshop,
  name: string,
  { first, count, round }: { first: number; count: number; round: number },
): void {
  const lines = Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const placed = new Date(Date.UTC(2026, 0, 1) + (number % 100) * 86_400_000).toISOString();
    const code = number % ONE_IN === 0 ? 'MIA10' : number % 7 === 0 ? `LOST${number % 30}` : '';
    return `o${number},${10 + (number % 50) + round * (number % 2)}.00,EUR,${code},${placed},paid`;
  });
  writeFileSync(join(shop.folder, 'exports', name), `${[HEADER, ...lines].join('\n')}\n`);
}

/** Measures a first load, and then an hourly run on the database that it has filled. */
async function measureBoth(statistics: Statistics): Promise<Both | null> {
  const shop = await openWorkshop();
  const falsified = await openFalseStatistics(shop.databaseUrl);
  if (falsified === null) return null;
  if (statistics === 'false after bloat') await falsified.bloat();
  const stop =
    statistics === 'true' ? async () => {} : falsified.keep({ vacuum: statistics === 'false after bloat' });
  try {
    writeOrders(shop, '1.csv', { first: 1, count: ORDERS, round: 0 });
    const load = await measureRun(shop);
    writeOrders(shop, '2.csv', { first: ORDERS - HOURLY / 2, count: HOURLY, round: 1 });
    const hour = await measureRun(shop);
    expect(hour.report.counts).toMatchObject({ orders: ORDERS + HOURLY / 2 - 1, rows: HOURLY });
    return { load, hour };
  } finally {
    await stop();
  }
}

/**
 * The statement that corrects the statistics. It is exempt, because it has nothing to do if they are already
 * correct.
 */
const CURE = 'select ops.analyze_table(';

type SlowStatement = { readonly name: string; readonly text: string };

/** Returns the statements that exceeded their allowed time, with both times. */
function slowerThan(normal: Measured, measured: Measured): readonly SlowStatement[] {
  return [...measured.times].flatMap(([name, ms]) => {
    const allowed = FACTOR * (normal.times.get(name) ?? 0) + NOISE_MS;
    return ms <= allowed || name.startsWith(CURE)
      ? []
      : [
          {
            name,
            text: `${Math.round(ms)} ms instead of ${Math.round(normal.times.get(name) ?? 0)} ms: ${name}`,
          },
        ];
  });
}

describe('with any table statistics', () => {
  test(`no statement over ${ORDERS} orders takes three times as long as normally, nor do those of an hourly run after it`, async (context) => {
    const normal = await measureBoth('true');
    if (normal === null) return context.skip('the user of the test database may not change statistics');
    for (const statistics of ['false', 'false after bloat'] as const) {
      expect(await repeatSlow(normal, statistics), statistics).toEqual([]);
    }
  });
});

/**
 * Repeats the measurement of slow statements. A busy machine slows different statements each time, while a
 * bad plan slows the same one, and only that counts.
 *
 * @returns the statements that were too slow in every round.
 */
async function repeatSlow(normal: Both, statistics: Statistics): Promise<readonly string[]> {
  let slow: readonly SlowStatement[] = [];
  for (let round = 0; round < ROUNDS && (round === 0 || slow.length > 0); round++) {
    const measured = await measureBoth(statistics);
    const found = RUNS.flatMap((run) => {
      expect(measured?.[run].report.counts, `${run}, ${statistics}`).toEqual(normal[run].report.counts);
      return measured === null ? [] : slowerThan(normal[run], measured[run]);
    });
    // The number of pages read is more precise than time. A small run may read each table once, but not once
    // per row.
    expect(measured?.load.pages).toBeLessThan(FACTOR * normal.load.pages);
    expect(measured?.hour.pages).toBeLessThan(FACTOR * normal.hour.pages + normal.load.pages / 10);
    slow = found.filter(({ name }) => round === 0 || slow.some((other) => other.name === name));
  }
  return slow.map(({ text }) => text);
}
