import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { manyRows, openWorkshop, toCsv, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { type CliProcess, startCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

/** Two shops, so that each of two workers has a source to read. */
export const TWO_SOURCES = `
work: {engine: pg-boss}
sources:
  one: {uri: ./exports/one/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  two: {uri: ./exports/two/, layout: generic, order_platform: woocommerce, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: [one, two], brand_id: 4819, codes: ./codes.csv}
`;

/** Concurrent requests of a process. */
export const CONCURRENCY = 4;

/** Settings with which what a killed process leaves is soon settled. */
export const SPREAD_API = `concurrency: ${CONCURRENCY}\nlease_seconds: 4\ntimeout_seconds: 3`;

/**
 * Maximum number of entries in progress per process: the requests in flight, and half as many that are being
 * claimed or recorded.
 */
export const ON_THE_WAY = CONCURRENCY * 1.5;

/** Opens a workshop whose runs distribute their work. */
export function openSpreadShop(options: WorkshopOptions = {}): Promise<Workshop> {
  return openWorkshop({ api: SPREAD_API, flow: TWO_SOURCES, ...options });
}

/** Writes an export with this many orders for each of the two sources. */
export function dropBoth(shop: Workshop, orders: number): void {
  for (const source of ['one', 'two']) {
    mkdirSync(join(shop.folder, 'exports', source), { recursive: true });
    shop.drop(`${source}/orders.csv`, toCsv(manyRows(orders, `${source}-`)));
  }
}

/** The deployment that workers belong to. */
export type SpreadPlace = Pick<Workshop, 'folder' | 'env' | 'db'>;

/** Starts a worker with its own data folder, as on a separate machine. */
export function startWorker(
  shop: SpreadPlace,
  name: string,
  env: Readonly<Record<string, string>> = {},
): CliProcess {
  return startCli(['work', '--json'], {
    cwd: shop.folder,
    env: { ...shop.env, INFLUENCER_SYNC_DATA: join(shop.folder, name), ...env },
  });
}

/** Starts workers and waits until all of them are active. */
export async function startWorkers(
  shop: SpreadPlace,
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly CliProcess[]> {
  const workers = Array.from({ length: count }, (_, index) => startWorker(shop, `worker-${index}`, env));
  await waitFor(async () => {
    for (const worker of workers) if (worker.stderr().includes('rror')) throw new Error(worker.stderr());
    const { rows } = await sql`select from ops.workers`.execute(shop.db);
    return rows.length === count;
  });
  return workers;
}
