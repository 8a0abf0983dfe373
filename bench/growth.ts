/**
 * What a database of many orders takes and costs: the size of each table, an hourly run over new orders, `status`, the
 * views of `bi`, and what `prune` would delete. docs/scaling.md says what follows from it.
 *
 *     node bench/growth.ts 20000000                                   # on a server of its own, in TMPDIR
 *     node bench/growth.ts 20000000 postgres://user@host/empty-database
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { refreshReporting } from '../src/rollups/refresh-reporting.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { fillReporting, JOB } from './fill-reporting.ts';
import { startSandbox } from './sandbox.ts';
import { hourlyConfig, runCommand, writeOrders, writeShop } from './shop.ts';
import { measureQuestions } from './views.ts';

const HOURLY_ORDERS = 5_000;
const RUNS = 4;
const STATUS_ROUNDS = 5;

type Grown = { readonly db: Database; readonly url: string; readonly orders: number };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const [count = '1000000', given] = process.argv.slice(2);
const server = given === undefined ? await startPostgresServer() : null;
const url = given ?? server?.url ?? '';
const db = await connect({ url, embeddedFolder: '', maxConnections: 1 });
try {
  await growTo(db, Number(count));
  const grown = { db, url, orders: Number(count) };
  await printSizes(grown);
  await printRuns(grown);
  for (const { name, value, detail } of await measureQuestions(db, 3))
    print(`${value.toFixed(0).padStart(8)} ms  ${name}: ${detail}`);
} finally {
  await db.destroy();
  await server?.stop();
}

/** Fills an empty database. One that was filled before is measured as it is. */
async function growTo(database: Database, orders: number): Promise<void> {
  await migrate(database);
  const { rows } = await sql`select from intake.orders limit 1`.execute(database);
  if (rows.length > 0) return;
  await fillReporting(database, { orders, deals: 50_000 });
  const startedAt = performance.now();
  await refreshReporting(database, { job: JOB });
  print(`${secondsSince(startedAt)} s  first refresh of the reports`);
  await sql`vacuum analyze`.execute(database);
}

async function printSizes({ db: database, orders }: Grown): Promise<void> {
  const { rows } = await sql<{ table: string; rows: string; heap: string; indexes: string }>`
    select relnamespace::regnamespace || '.' || relname as table, reltuples::bigint as rows,
      pg_relation_size(oid) as heap, pg_indexes_size(oid) as indexes
    from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('intake', 'ledger', 'mirror', 'ops', 'reporting')
    order by pg_total_relation_size(oid) desc limit 12`.execute(database);
  const { rows: whole } = await sql<{
    bytes: string;
  }>`select pg_database_size(current_database()) as bytes`.execute(database);
  print(
    `${(Number(whole[0]?.bytes) / orders).toFixed(0).padStart(6)} bytes an order, ${(Number(whole[0]?.bytes) / 1e9).toFixed(1)} GB in all`,
  );
  for (const { table, rows: held, heap, indexes } of rows)
    print(
      `${((Number(heap) + Number(indexes)) / orders).toFixed(0).padStart(6)} bytes an order  ${table}: ${held} rows, table ${(Number(heap) / 1e6).toFixed(0)} MB, indexes ${(Number(indexes) / 1e6).toFixed(0)} MB`,
    );
}

/** Measures runs over new orders, of which four of ten are posted, then `status`, each as the whole process. */
async function printRuns({ db: database, url: databaseUrl }: Grown): Promise<void> {
  const sandbox = await startSandbox([]);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-growth-'));
  const env = { API_URL: sandbox.url, API_KEY: sandbox.key, DATABASE_URL: databaseUrl };
  try {
    writeShop(folder, hourlyConfig());
    for (let run = 1; run <= RUNS; run += 1) {
      writeOrders(join(folder, 'exports'), {
        name: `${Date.now()}`,
        count: HOURLY_ORDERS,
        placedAt: new Date().toISOString(),
        codeOf: (index) => (index % 10 < 4 ? 'MIA10' : ''),
      });
      const startedAt = performance.now();
      await runCommand(['run', 'hourly'], { folder, env });
      print(
        `${secondsSince(startedAt)} s  run ${run} of ${HOURLY_ORDERS} new orders: ${await steps(database)}`,
      );
    }
    for (const args of [['status'], ['prune'], ['runs']]) {
      const times: number[] = [];
      for (let round = 0; round < STATUS_ROUNDS; round += 1) {
        const startedAt = performance.now();
        await runCommand(args, { folder, env });
        times.push((performance.now() - startedAt) / 1000);
      }
      print(
        `${Math.min(...times)
          .toFixed(2)
          .padStart(8)} s  ${args.join(' ')}, the best of ${STATUS_ROUNDS}`,
      );
    }
  } finally {
    sandbox.stop();
    rmSync(folder, { recursive: true });
  }
}

async function steps(database: Database): Promise<string> {
  const { rows } = await sql<{ label: string; seconds: number }>`
    select label, seconds::float8 as seconds from ops.run_steps where run_id = (select max(run_id) from ops.runs) and seconds > 0.05
    order by position`.execute(database);
  return rows.map(({ label, seconds }) => `${label} ${seconds.toFixed(1)} s`).join(', ');
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1).padStart(8);
}
