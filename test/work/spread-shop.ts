import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { manyRows, openWorkshop, toCsv, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { type CliProcess, startCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

/** Two shops, so that there is a source to read for each of two workers. */
export const TWO_SOURCES = `
work: {engine: pg-boss}
sources:
  one: {uri: ./exports/one/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  two: {uri: ./exports/two/, layout: generic, order_platform: woocommerce, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: [one, two], brand_id: 4819, codes: ./codes.csv}
`;

/** Requests of a process at a time. */
const CONCURRENCY = 4;

/** Requests that a process may have on their way: those on the wire, and half as many being claimed or recorded. */
export const ON_THE_WAY = CONCURRENCY * 1.5;

/** A workshop whose runs hand out their work. */
export function openSpreadShop(options: WorkshopOptions = {}): Promise<Workshop> {
  const api = `concurrency: ${CONCURRENCY}\nlease_seconds: 4\ntimeout_seconds: 3`;
  return openWorkshop({ api, flow: TWO_SOURCES, ...options });
}

/** So many orders in an export of each of the two sources. */
export function dropBoth(shop: Workshop, orders: number): void {
  for (const source of ['one', 'two']) {
    mkdirSync(join(shop.folder, 'exports', source), { recursive: true });
    shop.drop(`${source}/orders.csv`, toCsv(manyRows(orders, `${source}-`)));
  }
}

/** A worker with a data folder of its own, as on a machine of its own. */
export function startWorker(
  shop: Workshop,
  name: string,
  env: Readonly<Record<string, string>> = {},
): CliProcess {
  return startCli(['work', '--json'], {
    cwd: shop.folder,
    env: { ...shop.env, INFLUENCER_SYNC_DATA: join(shop.folder, name), ...env },
  });
}

/** Some workers, all of them at work. */
export async function startWorkers(
  shop: Workshop,
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
