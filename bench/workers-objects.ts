/**
 * Measures how workers share the reading of many small objects in a slow store: each worker reads one source
 * at a time, and has 16 requests in flight.
 *
 *     node bench/workers-objects.ts [workers] [objects] [milliseconds for each GET]
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { startS3Server } from '../test/support/s3-server.ts';
import { DEPLOYED } from './measure.ts';
import { startSandbox, startServer } from './sandbox.ts';
import { ORDERS_HEADER, startCommand, writeShop } from './shop.ts';

const SOURCES = 8;
const BUCKET = 'exports';
const [counts = '1,2,4,8', objects = '2000', latencyMs = '100'] = process.argv.slice(2);

const names = Array.from({ length: SOURCES }, (_, index) => `shop${index}`);
const CONFIG = `
api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
work: {engine: pg-boss}
sources:
${names.map((name) => `  ${name}: {uri: s3://${BUCKET}/${name}/, layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true}`).join('\n')}
jobs: {orders: {kind: attribute-orders, source: [${names.join(', ')}], brand_id: 4819, codes: ./codes.csv}}
`;

/** @returns objects read per second. */
async function readAll(
  workers: number,
  env: Readonly<Record<string, string>>,
  service: { readonly url: string; readonly key: string },
): Promise<number> {
  const server = await startPostgresServer();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  try {
    await migrate(db);
    writeShop(folder, CONFIG);
    const own = {
      DATABASE_URL: server.url,
      API_URL: service.url,
      API_KEY: service.key,
      LOG_LEVEL: 'warn',
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
      ...DEPLOYED,
    };
    const start = (name: string, ...args: string[]) =>
      startCommand(args, {
        env: { ...process.env, ...env, ...own, INFLUENCER_SYNC_DATA: join(folder, name) },
      });
    const hired = Array.from({ length: workers }, (_, index) => start(`data-${index}`, 'work'));
    while ((await sql`select from ops.workers`.execute(db)).rows.length < workers) await sleep(100);
    const [exitCode] = (await once(start('data-run', 'run', 'orders'), 'exit')) as [number];
    if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    for (const worker of hired) worker.kill('SIGTERM');
    await Promise.all(hired.map((worker) => once(worker, 'exit')));
    const { rows } = await sql<{ sealed: string; seconds: string }>`
      select (select count(*) from intake.source_files where state = 'sealed') as sealed, sum(seconds) as seconds
      from ops.run_steps where step = 'read'`.execute(db);
    const [read] = rows;
    if (read === undefined || read.sealed !== objects)
      throw new Error(`${read?.sealed} of ${objects} were read`);
    return Number(objects) / Number(read.seconds);
  } finally {
    await db.destroy();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const store = await startS3Server();
const proxy = await startServer(new URL('slow-proxy.ts', import.meta.url), [store.url, latencyMs]);
const sandbox = await startSandbox([]);
try {
  for (let index = 0; index < Number(objects); index += 1)
    store.put(
      BUCKET,
      `${names[index % SOURCES]}/${index}.csv`,
      `${ORDERS_HEADER}\n${index},10.00,EUR,,2026-04-10T11:11:26Z,paid\n`,
    );
  const env = { ...store.env, AWS_ENDPOINT_URL_S3: proxy.url };
  let one: number | null = null;
  for (const workers of counts.split(',').map(Number)) {
    const rate = await readAll(workers, env, sandbox);
    one ??= rate / workers;
    const linear = rate / (one * workers);
    process.stdout.write(`${JSON.stringify({ workers, objectsPerSecond: rate, linear })}\n`);
  }
} finally {
  proxy.stop();
  sandbox.stop();
  await store.close();
}
