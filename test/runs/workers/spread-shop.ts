import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { UnitKind } from '../../../src/core/work.ts';
import type { Database } from '../../../src/db/connect.ts';
import { type CliProcess, startCli } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { manyRows, openWorkshop, toCsv, type Workshop, type WorkshopOptions } from '../workshop.ts';

/** Two shops, so that each of two workers has a source to read. */
export const TWO_SOURCES = `
work: {engine: pg-boss}
sources:
  one: {uri: ./exports/one/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  two: {uri: ./exports/two/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
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

/**
 * Makes every statement fail that writes or deletes certain rows, in every process, as a bug would.
 *
 * @param when condition on `row`. @returns a function that ends this.
 */
export async function poison(
  db: Database,
  { table, on, when }: { readonly table: string; readonly on: 'insert' | 'delete'; readonly when: string },
): Promise<() => Promise<void>> {
  const row = on === 'insert' ? 'new' : 'old';
  await sql
    .raw(`create function public.poison() returns trigger language plpgsql as $$
      declare row record := ${row};
      begin if ${when} then raise exception 'poison'; end if; return ${row}; end $$`)
    .execute(db);
  await sql
    .raw(`create trigger poison before ${on} on ${table} for each row execute function public.poison()`)
    .execute(db);
  return async () => {
    await sql.raw(`drop trigger poison on ${table}`).execute(db);
  };
}

/**
 * What to poison so that no worker can do the first share of a run. A failed claim would not do: its order
 * stays ready, and the worker goes on.
 */
export function firstShare(kind: UnitKind): Parameters<typeof poison>[1] {
  const when = `row.name like 'unit:%' and split_part(row.name, ':', 2)::uuid = (
    select unit_id from ops.work_units where kind = '${kind}' order by (payload ->> 'from')::bigint limit 1)`;
  return { table: 'ops.leases', on: 'insert', when };
}

/** Number of units of each kind and state. */
export async function countEnds(db: Database): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ unit: string; units: number }>`
    select kind || ' ' || state as unit, count(*)::integer as units from ops.work_units group by 1 order by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ unit, units }) => [unit, units]));
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
