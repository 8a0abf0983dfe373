/**
 * Measures how much longer an hourly run of `serve` takes while people read its console: one opens a page every
 * second, and another has the list of runs open, which a browser loads again with every change. The console shares
 * the process of the run. Runs with and without readers alternate.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { refreshReporting } from '../src/rollups/refresh-reporting.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { type FillOptions, fillReporting, JOB } from './fill-reporting.ts';
import { DEPLOYED, type Measurement, median, spreadOf } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { hourlyConfig, readServeUrl, startCommand, writeOrders, writeShop } from './shop.ts';

const PAGES = ['/', '/runs', '/orders', '/doubts', '/rejected', '/codes', '/deals', '/customers', '/money'];
const READ_EVERY_MS = 1_000;
/** How often to look whether a run has ended. */
const LOOK_EVERY_MS = 200;

export type ReadersCase = FillOptions & {
  /** New orders of one run, all of them posted. */
  readonly hourly: number;
  /** Limit of the account; 0 is none. */
  readonly requestsPerSecond: number;
  /** Pairs of runs. */
  readonly pairs: number;
};

type Shop = { readonly folder: string; readonly url: string; readonly db: Database; files: number };

/** @returns seconds of a run while people read ÷ without them. */
export async function measureReaders(given: ReadersCase): Promise<Measurement> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(['--latency', '50']);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  let serve: ChildProcess | null = null;
  try {
    await migrate(db);
    await fillReporting(db, given);
    await refreshReporting(db, { job: JOB });
    await sql`vacuum analyze`.execute(db);
    writeShop(folder, hourlyConfig({ requestsPerSecond: given.requestsPerSecond, concurrency: 16 }));
    serve = startCommand(['serve', '--port', '0', '--json'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        ...DEPLOYED,
        LOG_LEVEL: 'warn',
        API_URL: sandbox.url,
        API_KEY: sandbox.key,
        DATABASE_URL: server.url,
        INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
      },
    });
    return await measurePairs({ folder, db, url: await readServeUrl(serve), files: 0 }, given);
  } finally {
    if (serve !== null && serve.exitCode === null) {
      serve.kill('SIGTERM');
      await once(serve, 'exit');
    }
    sandbox.stop();
    await db.destroy();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measurePairs(
  shop: Shop,
  { hourly, pairs, requestsPerSecond }: ReadersCase,
): Promise<Measurement> {
  await run(shop, hourly);
  await readWhile(shop, () => run(shop, hourly));
  const ratios: number[] = [];
  const alone: number[] = [];
  let pagesRead = 0;
  for (let pair = 0; pair < pairs; pair += 1) {
    // The order alternates, so that a machine that becomes slower or faster favours neither.
    const before = pair % 2 === 0 ? await run(shop, hourly) : null;
    const { pages, result: beside } = await readWhile(shop, () => run(shop, hourly));
    const seconds = before ?? (await run(shop, hourly));
    ratios.push(beside / seconds);
    alone.push(seconds);
    pagesRead += pages;
  }
  const limit = requestsPerSecond === 0 ? 'no limit' : `${requestsPerSecond} requests a second`;
  return {
    name: `a run of ${hourly} orders with readers ÷ without, ${limit}`,
    value: median(ratios),
    detail: `${spreadOf(ratios, 3)} (${ratios
      .map((ratio) => ratio.toFixed(3))
      .join(', ')}); ${median(alone).toFixed(2)} s without readers; ${pagesRead} pages read`,
  };
}

/** Adds a file and a due slot, and waits until `serve` has run it. @returns seconds by the database's clock. */
async function run(shop: Shop, orders: number): Promise<number> {
  shop.files += 1;
  writeOrders(join(shop.folder, 'exports'), {
    name: `h${shop.files}`,
    count: orders,
    placedAt: new Date().toISOString(),
  });
  await sql`
    insert into ops.slots (job, slot, state) values ('hourly', date_trunc('milliseconds', clock_timestamp()), 'due')`.execute(
    shop.db,
  );
  for (;;) {
    const { rows: ended } = await sql<{ state: string; seconds: number }>`
      select s.state, extract(epoch from r.finished_at - r.started_at)::float8 as seconds
      from (select * from ops.slots where job = 'hourly' order by slot desc limit 1) s join ops.runs r using (run_id)
      where s.is_settled`.execute(shop.db);
    if (ended[0]?.state === 'done') return ended[0].seconds;
    if (ended[0] !== undefined) throw new Error(`the run ended as ${ended[0].state}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Reads pages for as long as the work takes. */
async function readWhile<Result>(
  { url }: Shop,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly pages: number }> {
  const ended = new AbortController();
  const { signal } = ended;
  let pages = 0;
  const open = async (path: string): Promise<void> => {
    const response = await fetch(`${url}${path}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    pages += 1;
  };
  const readers = Promise.all([browse(open, signal), watch(url, { open, signal })]);
  const result = await work();
  ended.abort();
  await readers;
  return { result, pages };
}

async function browse(open: (path: string) => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await open(PAGES[turn % PAGES.length] ?? '/');
    await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Opens the list of runs, and again with every change that the server tells, as a browser does. */
async function watch(
  url: string,
  { open, signal }: { readonly open: (path: string) => Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  await open('/runs');
  try {
    const { body } = await fetch(`${url}/live`, { signal });
    const lines = body?.pipeThrough(new TextDecoderStream()) ?? [];
    for await (const text of lines) if (text.includes('event: changed')) await open('/runs');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
