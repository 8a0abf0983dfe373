/**
 * Whether the time of a run depends on its own orders only: first loads of several sizes, each into an empty
 * database, then hourly runs after the largest. For each statement, its slowest call in each hourly run is
 * compared with the median of all hourly runs. Ends with 1 if a statement took three times its median.
 *
 *     node bench/no-cliff.ts --sizes 75000,150000,300000 --autovacuum off
 *     node bench/no-cliff.ts --sizes 1250000,2500000,5000000 --autovacuum eager
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { median } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { hourlyConfig, runCommand, writeOrders, writeShop } from './shop.ts';

const HOURLY_ORDERS = 5_000;
/** Files of a first load. Each has the orders of one day. */
const LOADED_DAYS = 40;
const DAY_MS = 86_400_000;
/** A statement may take three times its median, which says nothing about statements that take a moment. */
const MOST_TIMES = 3;
const FLOOR_MS = 100;
/** How many statements are printed, the slowest first. */
const SHOWN = 12;

const AUTOVACUUM = {
  off: ['autovacuum = off'],
  eager: [
    'autovacuum_naptime = 1',
    'autovacuum_vacuum_threshold = 0',
    'autovacuum_vacuum_scale_factor = 0',
    'autovacuum_vacuum_insert_threshold = 0',
    'autovacuum_vacuum_insert_scale_factor = 0',
    'autovacuum_analyze_threshold = 0',
    'autovacuum_analyze_scale_factor = 0',
    'autovacuum_vacuum_cost_delay = 0',
  ],
  default: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '75000,150000,300000' },
    runs: { type: 'string', default: '12' },
    autovacuum: { type: 'string', default: 'default' },
  },
});
const sizes = values.sizes.split(',').map(Number);
const settings = AUTOVACUUM[values.autovacuum as keyof typeof AUTOVACUUM];
if (settings === undefined) throw new Error(`--autovacuum is one of ${Object.keys(AUTOVACUUM).join(', ')}`);

const loads: { readonly orders: number; readonly seconds: number }[] = [];
let cliffs = 0;
for (const orders of sizes) {
  const isLargest = orders === Math.max(...sizes);
  const load = await loadAndRun(orders, isLargest ? Number(values.runs) : 0);
  loads.push({ orders, seconds: load.seconds });
  cliffs += load.cliffs;
}
if (loads.length > 1)
  print(
    `a first run, without reading and posting, grows with its orders to the power of ${exponentOf(loads).toFixed(2)}`,
  );
process.exitCode = cliffs > 0 ? 1 : 0;

/**
 * A first load into an empty database, and hourly runs after it.
 *
 * @returns the seconds of the first load without reading and posting, and how many statements took too long.
 */
async function loadAndRun(
  orders: number,
  runs: number,
): Promise<{ readonly seconds: number; readonly cliffs: number }> {
  const server = await startPostgresServer();
  const url = server.url;
  let db: Database | null = null;
  try {
    const before = await connect({ url, embeddedFolder: '', maxConnections: 1 });
    for (const setting of ["shared_preload_libraries = 'pg_stat_statements'", ...settings])
      await sql.raw(`alter system set ${setting}`).execute(before);
    await before.destroy();
    await server.restart();
    db = await connect({ url, embeddedFolder: '', maxConnections: 1 });
    await migrate(db);
    await sql`create extension pg_stat_statements`.execute(db);
    return await measure(db, { url, orders, runs });
  } finally {
    await db?.destroy();
    await server.stop();
  }
}

async function measure(
  db: Database,
  { url, orders, runs }: { readonly url: string; readonly orders: number; readonly runs: number },
): Promise<{ readonly seconds: number; readonly cliffs: number }> {
  const sandbox = await startSandbox([]);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-no-cliff-'));
  const env = { API_URL: sandbox.url, API_KEY: sandbox.key, DATABASE_URL: url };
  const run = () => runCommand(['run', 'hourly'], { folder, env });
  const lastDay = Date.now() - runs * DAY_MS;
  /** `creditedOfTen`: how many of ten orders have the code of the influencer. */
  function write(name: string, given: { count: number; creditedOfTen: number; day: number }): void {
    const { count, creditedOfTen, day } = given;
    const codeOf = (index: number) => (index % 10 < creditedOfTen ? 'MIA10' : '');
    const placedAt = new Date(lastDay + day * DAY_MS).toISOString();
    writeOrders(join(folder, 'exports'), { name, count, placedAt, codeOf });
  }
  try {
    writeShop(folder, hourlyConfig());
    // One of ten is posted, so that the ledger grows too.
    for (let day = 0; day < LOADED_DAYS; day += 1)
      write(`load${day}`, { count: orders / LOADED_DAYS, creditedOfTen: 1, day: -day });
    await run();
    const steps = await readSteps(db);
    const own = steps
      .filter(({ label }) => label !== 'Reading' && label !== 'Posting')
      .reduce((sum, { seconds }) => sum + seconds, 0);
    print(`${orders} orders: ${own.toFixed(1)} s without reading and posting (${describe(steps)})`);
    const slowest: ReadonlyMap<string, number>[] = [];
    for (let day = 1; day <= runs; day += 1) {
      await sql`select pg_stat_statements_reset()`.execute(db);
      // Each run has a day of its own, because a run adds up all orders of the days that it changes.
      write(`run${day}`, { count: HOURLY_ORDERS, creditedOfTen: 4, day });
      await run();
      print(`run ${day}: ${describe(await readSteps(db))}`);
      slowest.push(await readSlowest(db));
    }
    return { seconds: own, cliffs: compare(slowest) };
  } finally {
    sandbox.stop();
    rmSync(folder, { recursive: true });
  }
}

type Step = { readonly label: string; readonly seconds: number };

/** The steps of the last run that took longest. Reading is one step for each file. */
async function readSteps(db: Database): Promise<readonly Step[]> {
  const { rows } = await sql<Step>`
    select split_part(label, ' ', 1) as label, sum(seconds)::float8 as seconds from ops.run_steps
    where run_id = (select max(run_id) from ops.runs) group by 1 order by min(position)`.execute(db);
  return rows;
}

function describe(steps: readonly Step[]): string {
  return steps.map(({ label, seconds }) => `${label} ${seconds.toFixed(1)} s`).join(', ');
}

/** The slowest call of each statement since the last reset, in milliseconds. */
async function readSlowest(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ query: string; ms: number }>`
    select regexp_replace(query, '\\s+', ' ', 'g') as query, max_exec_time as ms from pg_stat_statements s
    where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat%'`.execute(
    db,
  );
  return new Map(rows.map(({ query, ms }) => [query, ms]));
}

/** Prints the slowest statements. @returns how many took too long in one of the runs. */
function compare(runs: readonly ReadonlyMap<string, number>[]): number {
  const queries = new Set(runs.flatMap((run) => [...run.keys()]));
  const statements = [...queries].map((query) => {
    const times = runs.flatMap((run) => run.get(query) ?? []);
    return { query, typical: median(times), slowest: Math.max(...times) };
  });
  statements.sort((a, b) => b.slowest - a.slowest);
  let cliffs = 0;
  for (const [place, { query, typical, slowest }] of statements.entries()) {
    const isCliff = slowest > Math.max(FLOOR_MS, MOST_TIMES * typical);
    if (isCliff) cliffs += 1;
    if (isCliff || place < SHOWN)
      print(
        `${isCliff ? 'TOO SLOW' : '        '} ${slowest.toFixed(0).padStart(6)} ms, median ${typical.toFixed(0).padStart(5)} ms  ${query.slice(0, 120)}`,
      );
  }
  return cliffs;
}

/** The slope of seconds over orders, both as logarithms, by least squares. 1 means twice the time for twice the orders. */
function exponentOf(points: readonly { readonly orders: number; readonly seconds: number }[]): number {
  const xs = points.map(({ orders }) => Math.log(orders));
  const ys = points.map(({ seconds }) => Math.log(seconds));
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const [x, y] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, one, index) => sum + (one - x) * ((ys[index] ?? y) - y), 0);
  return above / xs.reduce((sum, one) => sum + (one - x) ** 2, 0);
}
