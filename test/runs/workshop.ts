import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { OrdersReport } from '../../jobs/attribute-orders/report.ts';
import type { RunFinished } from '../../src/core/run.ts';
import { connect, type Database } from '../../src/db/connect.ts';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { type CliProcess, type CliResult, readEvents, startCli } from '../support/run-cli.ts';
import { type HereResult, runHere } from '../support/run-here.ts';
import { type Service, startService, type TrueReferral } from '../support/sandbox-process.ts';
import { makeTestFolder, setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

/** Two deals whose codes are in codes.csv, and one whose code is not there yet. */
const ACCOUNT = `
brands: [{id: 4819, name: Acme}]
dealflows: [{id: D_TEST, name: Test, brand_id: 4819}]
deals:
  - {deal_id: DEALMIA, influencer_handle: mia.test, platform: instagram, brand_id: 4819, dealflow_id: D_TEST, code: MIA10}
  - {deal_id: DEALBEN, influencer_handle: ben.test, platform: youtube, brand_id: 4819, dealflow_id: D_TEST, code: BEN15}
  - {deal_id: DEALZOE, influencer_handle: zoe.test, platform: tiktok, brand_id: 4819, dealflow_id: D_TEST, code: ZOE20}
`;

export const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,,
BEN15,4819,ben.test,DEALBEN,,,
`;

/** The row that is added to codes.csv later. */
export const LATER_CODE = 'ZOE20,4819,zoe.test,DEALZOE,,,\n';

export type WorkshopOptions = {
  /**
   * URL of the database; must not be given with `embedded`. Without both, the workshop uses a fresh, migrated
   * database of the suite's server.
   */
  readonly databaseUrl?: string;
  /** Uses no DATABASE_URL: the database is a folder beside the configuration. */
  readonly embedded?: boolean;
  /** Lines of `api:` in addition to url and key. */
  readonly api?: string;
  /** The setting `ledger.mark_uri`. */
  readonly markUri?: string;
  /** Cron expression of the job; without one it has no schedule. */
  readonly schedule?: string;
  /** Replaces `sources:` and `jobs:`. */
  readonly flow?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly sandbox?: Partial<SandboxOptions>;
};

export type Ended = CliResult & {
  readonly events: readonly Record<string, unknown>[];
  /** The last event if it is `run_finished`. */
  readonly finished: RunFinished<OrdersReport> | null;
};

export type Workshop = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly sandbox: Service;
  /** Opens the database. It works only with a server. */
  readonly db: Database;
  /** Environment of every command; a test may change it. */
  readonly env: Record<string, string>;
  /** Writes a file into exports/. */
  drop(name: string, content: string | Buffer): void;
  write(name: string, content: string | Buffer): void;
  /** Runs any command as a user would, in the process of the test. */
  cli(...args: string[]): Promise<HereResult>;
  /** Starts any command in a process that a test may stop. */
  start(...args: string[]): CliProcess;
  /** Runs `run orders --json` with more arguments. */
  run(...args: string[]): Promise<Ended>;
  /** Returns the order ids that the service processed, including repeats, sorted. */
  posted(): Promise<readonly string[]>;
};

const flowText = (schedule = '') => `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total${schedule === '' ? '' : `, schedule: "${schedule}"`}}
`;

/**
 * Opens a deployment in its own folder: configuration, codes, a folder for exports, a database, and the
 * sandbox as a process.
 */
export async function openWorkshop(options: WorkshopOptions = {}): Promise<Workshop> {
  const isOwn = options.embedded === true || options.databaseUrl !== undefined;
  const stage = isOwn ? null : await setup();
  const folder = stage?.folder ?? makeTestFolder();
  const databaseUrl = options.databaseUrl ?? stage?.databaseUrl ?? '';
  const write = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
  write('account.yaml', ACCOUNT);
  write('codes.csv', CODES);
  write('pipeline.yaml', configText(options));
  mkdirSync(join(folder, 'exports'));
  const sandbox = await startService({ data: join(folder, 'account.yaml'), ...options.sandbox });
  const env: Record<string, string> = {
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    DATABASE_URL: databaseUrl,
    INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
    ...options.env,
  };
  const start = (...args: string[]): CliProcess => startCli(args, { cwd: folder, env });
  const cli = (...args: string[]): Promise<HereResult> => runHere(args, { cwd: folder, env });
  return {
    folder,
    databaseUrl,
    sandbox,
    env,
    write,
    get db() {
      if (stage === null) throw new Error('the database is not the suite’s: open it where it is used');
      return stage.db;
    },
    drop: (name, content) => write(join('exports', name), content),
    start,
    cli,
    run: async (...args) => readRun(await cli('run', 'orders', '--json', ...args)),
    posted: async () => (await sandbox.referrals()).map(({ order_id }) => order_id).sort(),
  };
}

/** Parses the output of `run --json`. Standard output must contain only NDJSON. */
export function readRun(result: CliResult): Ended {
  const events = readEvents(result);
  const last = events.at(-1);
  const isFinished = last?.event === 'run_finished';
  return { ...result, events, finished: isFinished ? (last as unknown as RunFinished<OrdersReport>) : null };
}

function configText({ api = '', markUri, schedule, flow = flowText(schedule) }: WorkshopOptions): string {
  return `api:
  url: \${INFLUENCER_API_URL:-}
  key: \${INFLUENCER_API_KEY:-}
  requests_per_second: 0
${api
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => `  ${line.trim()}\n`)
  .join('')}database: {url: "\${DATABASE_URL:-}"}
${markUri === undefined ? '' : `ledger: {mark_uri: "${markUri}"}\n`}${flow}`;
}

export type Row = {
  readonly id: string;
  readonly revenue?: string;
  readonly currency?: string;
  readonly code?: string;
  readonly status?: string;
  readonly placedAt?: string;
};

export const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status';

/** Returns an export in the generic layout. */
export function toCsv(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ id, revenue = '10.00', currency = 'EUR', code = 'MIA10', status = 'paid', placedAt = timeOf(id) }) =>
      `${id},${revenue},${currency},${code},${placedAt},${status}`,
  );
  return `${[HEADER, ...lines].join('\n')}\n`;
}

/** A time of its own for each id: orders with another id, the same amount and the same time may be the same order. */
function timeOf(id: string): string {
  const seconds = [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 3600, 0);
  return `2026-04-10T11:${new Date(seconds * 1000).toISOString().slice(14, 19)}Z`;
}

/** Returns `count` orders that can all be attributed: ids from `<prefix>1`, revenue 1.01, 2.02 and so on. */
export function manyRows(count: number, prefix = 'o'): Row[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${prefix}${index + 1}`,
    revenue: cents(101 * (index + 1)),
  }));
}

/** Returns `count` orders without a code, which are cheap to read and are not posted. */
export function organicRows(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => ({ id: `organic-${index + 1}`, code: '' }));
}

/** Formats cents as an amount of money. */
export function cents(amount: number): string {
  return `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
}

/** Returns the total revenue of referrals, in cents. */
export function trueCents(referrals: readonly TrueReferral[]): number {
  return referrals.reduce((sum, { order_revenue }) => sum + Math.round(Number(order_revenue) * 100), 0);
}

/** Expects that every order is counted once: orders = Σ excluded + unattributed + organic + Σ entries. */
export function expectSums({ counts }: Pick<RunFinished<OrdersReport>, 'counts'>): void {
  const { orders, excluded, unattributed, organic, entries } = counts;
  const parts = [...Object.values(excluded), unattributed, organic, ...Object.values(entries)];
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(orders);
}

/** Counts the entries in each state. */
export async function countStates(db: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; entries: string }>`
    select state, count(*) as entries from ledger.entries group by state order by state`.execute(db);
  return Object.fromEntries(rows.map(({ state, entries }) => [state, Number(entries)]));
}

/** Counts the rows of every table of the project, by name. */
export async function countRows(db: Database): Promise<Record<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('intake', 'ledger', 'ops', 'mirror') and table_type = 'BASE TABLE' order by 1`.execute(
    db,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ rows: string }>`select count(*) as rows from ${sql.table(name)}`.execute(db);
    counts[name] = Number(rows[0]?.rows);
  }
  return counts;
}

/** Opens a database for a single query and closes it again. */
export async function look<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = await connect({ url, embeddedFolder: '', maxConnections: 1 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Returns the orders that the service processed more than once. */
export function repeated(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}

/** Bytes of each table and index. Rows that were rolled back take space too. */
export async function tableSizes(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ name: string; bytes: string }>`
    select c.oid::regclass::text as name, pg_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('intake', 'ledger', 'reporting') and c.relkind in ('r', 'i') order by 1`.execute(db);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** Names the tables and indexes that have grown. Autovacuum may shrink one at any time. */
export async function grownSince(
  db: Database,
  before: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const after = await tableSizes(db);
  return [...after].flatMap(([name, bytes]) => (bytes > (before.get(name) ?? 0) ? [name] : []));
}

/** Waits until the service has processed this many orders. */
export function processed(shop: Workshop, orders: number): Promise<void> {
  return waitFor(async () => (await shop.posted()).length >= orders);
}

/**
 * Waits until all leases have expired by the database's clock. Retrying the run instead would use a whole
 * core.
 */
export function leasesAreOver({ databaseUrl }: Pick<Workshop, 'databaseUrl'>): Promise<void> {
  return look(databaseUrl, (db) =>
    waitFor(async () => {
      const { rows } = await sql`select 1 from ops.leases where expires_at > clock_timestamp()`.execute(db);
      return rows.length === 0;
    }),
  );
}
