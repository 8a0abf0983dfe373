/**
 * Measures what workers cost their Postgres: sessions, transactions and rows, idle and while they post.
 *
 *     node bench/workers-database.ts [workers] [orders]
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { DEPLOYED } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { startCommand, writeOrders, writeShop } from './shop.ts';

const IDLE_SECONDS = 20;
const LOOK_EVERY_MS = 250;
const [workers = 4, orders = 4_000] = process.argv.slice(2).map(Number);
const CONFIG = `
api: {url: "\${API_URL}", key: "\${API_KEY}", concurrency: 4, requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
work: {engine: pg-boss}
sources: {shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}}
jobs: {orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}}
`;

type Load = {
  readonly sessions: number;
  readonly transactionsPerSecond: number;
  readonly rowsPerSecond: number;
  readonly walBytesPerSecond: number;
};

/** Sessions of other programs at their highest, and what the database did, until `hasEnded`. */
async function watch(db: Database, hasEnded: () => boolean): Promise<Load & { readonly seconds: number }> {
  const before = await count(db);
  const begunAt = performance.now();
  let sessions = 0;
  let looks = 0;
  while (!hasEnded()) {
    sessions = Math.max(sessions, await countSessions(db));
    looks += 1;
    await sleep(LOOK_EVERY_MS);
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  const after = await count(db);
  return {
    sessions,
    seconds,
    transactionsPerSecond: (after.transactions - before.transactions - looks) / seconds,
    rowsPerSecond: (after.rows - before.rows) / seconds,
    walBytesPerSecond: (after.walBytes - before.walBytes) / seconds,
  };
}

type Counts = { readonly transactions: number; readonly rows: number; readonly walBytes: number };

async function count(db: Database): Promise<Counts> {
  // Sessions report their counters after a second without a transaction.
  await sleep(2_000);
  const { rows } = await sql<{ transactions: string; rows: string; wal_bytes: string }>`
    select xact_commit + xact_rollback as transactions, tup_inserted + tup_updated + tup_deleted as rows,
      pg_current_wal_lsn() - '0/0'::pg_lsn as wal_bytes
    from pg_stat_database where datname = current_database()`.execute(db);
  return {
    transactions: Number(rows[0]?.transactions),
    rows: Number(rows[0]?.rows),
    walBytes: Number(rows[0]?.wal_bytes),
  };
}

async function countSessions(db: Database): Promise<number> {
  const { rows } = await sql<{ sessions: string }>`
    select count(*) as sessions from pg_stat_activity
    where datname = current_database() and application_name like 'influencer-sync%' and pid <> pg_backend_pid()`.execute(
    db,
  );
  return Number(rows[0]?.sessions);
}

const server = await startPostgresServer();
const sandbox = await startSandbox(['--latency', '50']);
const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
try {
  await migrate(db);
  writeShop(folder, CONFIG);
  writeOrders(join(folder, 'exports'), { name: 'orders', count: orders });
  const env = {
    DATABASE_URL: server.url,
    API_URL: sandbox.url,
    API_KEY: sandbox.key,
    LOG_LEVEL: 'warn',
    INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
    ...DEPLOYED,
  };
  const start = (name: string, ...args: string[]) =>
    startCommand(args, { env: { ...process.env, ...env, INFLUENCER_SYNC_DATA: join(folder, name) } });
  const hired = Array.from({ length: workers }, (_, index) => start(`data-${index}`, 'work'));
  while ((await sql`select from ops.workers`.execute(db)).rows.length < workers) await sleep(LOOK_EVERY_MS);
  const idleUntil = performance.now() + IDLE_SECONDS * 1_000;
  const idle = await watch(db, () => performance.now() > idleUntil);
  let isOver = false;
  const ended = once(start('data-run', 'run', 'orders'), 'exit').then(([exitCode]) => {
    isOver = true;
    if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
  });
  const posting = await watch(db, () => isOver);
  await ended;
  process.stdout.write(`${JSON.stringify({ workers, orders, idle, posting }, null, 2)}\n`);
  for (const worker of hired) worker.kill('SIGTERM');
  await Promise.all(hired.map((worker) => once(worker, 'exit')));
} finally {
  await db.destroy();
  sandbox.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
}
