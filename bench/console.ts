/**
 * Measures every page of the console over HTTP. The database has a million orders, 50,000 deals, 20,000 runs,
 * 40,000 rejected rows, 100,000 units of work, a bulk action of 100,000 entries, and a backfill and a closed
 * statement of every credited order. Afterwards, pages that show open entries are measured with half of the
 * backfill still to be posted and 100,000 entries in doubt.
 *
 *     node bench/console.ts 5000000
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { loadConfig } from '../jobs/index.ts';
import { addConsole } from '../src/console/add-console.ts';
import { pages } from '../src/console/pages/index.ts';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { listen, openServer } from '../src/monitoring/observe/start-observer.ts';
import { refreshReporting } from '../src/rollups/refresh-reporting.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { CLOSED_MONTH, fillMoney } from './fill-money.ts';
import { type FillOptions, fillReporting, JOB } from './fill-reporting.ts';
import type { Measurement } from './measure.ts';

const RUNS = 20_000;
const REJECTED_ROWS = 40_000;
const REJECTED_ROWS_OF_FILE = 100;
const BULK_ENTRIES = 100_000;
const DOUBTS = 100_000;
const DEALS = 50_000;
const WORKERS = 50;
/** Units of work that are kept, those of a week. One in a hundred failed. */
const UNITS = 100_000;
/** The pages that show open entries. */
const OPEN_PAGES = ['/', '/doubts', '/backfills', '/backfills/:backfill'];

/** Values for the parameters of a path, and query strings to append. */
const PARAMETERS: Readonly<Record<string, string>> = {
  source: 'shop-1',
  order: '5600000500001',
  deal: 'DEAL10',
  creator: 'handle123',
  run: '9000',
  entry: '1',
  month: CLOSED_MONTH,
  backfill: '1',
};
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/orders': [
    '',
    '?disposition=in_doubt',
    '?disposition=unattributed',
    '?deal=DEAL10',
    '?order=5600000500001',
  ],
  '/runs': ['', '?status=failed', `?job=${JOB}`],
  '/codes': ['', '?show=owned', '?show=ambiguous'],
  '/codes/assign': [`?job=${JOB}&code=CODE7`],
  '/codes/export': [`?job=${JOB}`],
  '/deals': ['', '?handle=handle123'],
  '/money': ['', '?by=creator', '?by=month', '?by=month&deal=DEAL10'],
  '/money/conflicts': ['', '?deal=DEAL10'],
  '/money/reconciliation': ['', '?show=all', '?deal=DEAL10'],
  '/rejected': ['', '?code=cause_3'],
  '/bulk/:bulk': ['', '?outcome=changed'],
  '/statements/:month': ['', '?deal=DEAL10'],
};

/** @returns for each page the 95th percentile in milliseconds, of the slowest of its addresses. */
export async function measureConsole(
  given: FillOptions & { readonly rounds: number },
): Promise<readonly Measurement[]> {
  const server = await startPostgresServer();
  // As the console connects.
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 4, sortMemoryMb: 32 });
  try {
    await migrate(db);
    await fillReporting(db, given);
    await fillConsole(db);
    return await measureBoth(db, given.rounds);
  } finally {
    await db.destroy();
    await server.stop();
  }
}

/** Measures all pages, then those that show open entries with many of these. */
async function measureBoth(db: Database, rounds: number): Promise<readonly Measurement[]> {
  const settled = await measurePages(db, { rounds });
  await openEntries(db);
  const open = await measurePages(db, { rounds, wanted: OPEN_PAGES });
  return [
    ...settled,
    ...open.map((figure) => ({ ...figure, name: `${figure.name} with many open entries` })),
  ];
}

/**
 * Fills what only pages show, in addition to the data of `fillReporting`, and every sum that runs maintain.
 */
async function fillConsole(db: Database): Promise<void> {
  await fillMoreRuns(db);
  await fillRejected(db);
  await fillBulk(db);
  await fillBackfill(db);
  await fillUnits(db);
  await refreshReporting(db, { job: JOB });
  await fillMoney(db);
  await sql`vacuum analyze`.execute(db);
}

/** @param wanted paths of the pages to measure. */
async function measurePages(
  db: Database,
  { rounds, wanted = pages.map(({ path }) => path) }: { rounds: number; wanted?: readonly string[] },
): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-console-'));
  try {
    const { url, close } = await startConsole(db, folder);
    const figures: Measurement[] = [];
    for (const path of wanted) figures.push(await measurePage(url, path, rounds));
    await close();
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fillMoreRuns(db: Database): Promise<void> {
  await sql`insert into ops.account (account_id) values ('A')`.execute(db);
  await sql`
    insert into ops.runs (job, kind, status, started_at, finished_at, host, pid, exit_code, counts, amounts)
    select case when n % 2 = 0 then 'mirror-account' else 'identify-customers' end,
      case when n % 2 = 0 then 'mirror-account' else 'identify-customers' end, 'ok', at, at + interval '1 minute', 'host', 1, 0, null, null
    from (select n, now() - n * interval '1 hour' as at
      from generate_series(${RUNS}::int - (select count(*)::int from ops.runs), 1, -1) n) runs`.execute(db);
  await sql`
    insert into ops.slots (job, slot, state, attempts, run_id, started_at, settled_at)
    select job, date_trunc('minute', started_at) + run_id % 60 * interval '1 second', 'done', 1, run_id, started_at, finished_at from ops.runs
    on conflict do nothing`.execute(db);
}

async function fillRejected(db: Database): Promise<void> {
  await sql`
    with files as (
      insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, rows_read, rejected_rows, run_id, sealed_at)
      select 'shop-1', 'file:///exports/rejected-' || n, '1', 1, 'generic', 'h', 'sealed', ${REJECTED_ROWS_OF_FILE}::int, ${REJECTED_ROWS_OF_FILE}::int, 1, now()
      from generate_series(1, ${REJECTED_ROWS / REJECTED_ROWS_OF_FILE}::int) n
      returning source_file_id, run_id
    )
    insert into intake.rejected_rows (source_file_id, line_no, record_no, code, column_name, value, reason, help, run_id)
    select source_file_id, n + 1, n, 'cause_' || n % 7, 'Total', '12,3x', 'It is not an amount of money: ' || repeat('x', 60),
      'Write it like 1249.00, without a sign for thousands, and with a dot before the cents.', run_id
    from files, generate_series(1, ${REJECTED_ROWS_OF_FILE}::int) n`.execute(db);
}

/** Adds a bulk action that has ended, so that no work on it remains while pages are measured. */
async function fillBulk(db: Database): Promise<void> {
  await sql`
    with bulk as (
      insert into ops.bulk_actions (state, decision, chosen, reason, created_by, expires_at, entries, amounts, confirmed_by, confirmed_at, ended_at,
        settled, changed, failed)
      values ('finished', 'write_off', 'All entries in doubt', 'looked up', 'bench', now(), ${BULK_ENTRIES}::int,
        '[{"currency": "EUR", "amount": "1200.0000"}]', 'bench', now(), now(), ${BULK_ENTRIES}::int, 0, 0)
      returning bulk_id
    )
    insert into ops.bulk_items (bulk_id, subject_id, job, state, attempt, amount, currency, is_eligible, outcome, outcome_at)
    select bulk_id, entry_id, job, 'in_doubt', 1, amount, currency, true, case when entry_id % 1000 = 0 then 'changed' else 'settled' end, now()
    from bulk, (select * from ledger.entries order by entry_id limit ${BULK_ENTRIES}::int) e`.execute(db);
}

/** Adds an executed backfill with every order that a run has credited. */
async function fillBackfill(db: Database): Promise<void> {
  await sql`
    with backfill as (
      insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
      select ${JOB}, 'done', '2020-01-01', '2024-12-31', 'UTC', 'h', jsonb_build_object('ofTheRuns', 0, 'undated', 0,
          'files', (select jsonb_agg(jsonb_build_object('source', source, 'uri', uri, 'version', version, 'orders', 1)) from intake.source_files),
          'groups', (select jsonb_agg(jsonb_build_object('month', month, 'standing', 'to_post', 'reason', null, 'currency', currency,
              'orders', orders, 'amount', amount::text))
            from (
              select to_char(created_at, 'YYYY-MM') as month, currency, count(*) as orders, sum(amount) as amount
              from ledger.entries group by 1, 2) g)),
        1, 'bench', now()
      returning backfill_id
    )
    insert into ops.backfill_orders (backfill_id, key, source, order_id, body_hash, amount, currency)
    select b.backfill_id, e.key, e.source, e.order_id, e.body_hash, e.amount, e.currency from backfill b, ledger.entries e`.execute(
    db,
  );
}

/** Adds workers, and the units that they have done or are doing. */
async function fillUnits(db: Database): Promise<void> {
  await sql`
    with w as (
      insert into ops.workers (worker_id, host, pid, version, kinds, concurrency, seen_at)
      select gen_random_uuid(), 'worker-' || n, n, '1.0.0', '{read-source,post-share}', 4, now() + interval '1 hour' from generate_series(1, ${WORKERS}::int) n
      returning worker_id, pid
    )
    insert into ops.work_units (run_id, run_owner, job, kind, payload, state, attempt, worker_id, done, result, created_at, begun_at, seen_at, ended_at)
    select 9000 - n % 100, gen_random_uuid(), ${JOB}, 'post-share', '{}', s.state, 1, w.worker_id, 400,
      case when s.state = 'failed' then jsonb_build_object('message', 'Cause ' || n % 7, 'help', 'Correct it.') end,
      now() - n * interval '5 seconds', now(), now(), case when s.state <> 'open' then now() - n * interval '5 seconds' end
    from generate_series(1, ${UNITS}::int) n
    join w on w.pid = n % ${WORKERS}::int + 1
    cross join lateral (select case when n <= 4 * ${WORKERS}::int then 'open' when n % 100 = 0 then 'failed' else 'done' end as state) s`.execute(
    db,
  );
}

/** Puts entries in doubt, and makes the later half of the others wait for the backfill. */
async function openEntries(db: Database): Promise<void> {
  await sql`
    update ledger.entries set state = 'in_doubt', deal_id = null, doubtful_attempt = 1, state_reason = 'HTTP ' || 500 + entry_id % 4,
      doubted_at = state_changed_at
    where entry_id in (select entry_id from ledger.entries where state = 'accepted' order by entry_id limit ${DOUBTS}::int)`.execute(
    db,
  );
  await sql`
    update ledger.entries set state = 'ready', attempt = 0, deal_id = null, backfill_id = 1
    where state = 'accepted' and entry_id > (select max(entry_id) / 2 from ledger.entries)`.execute(db);
  await sql`update ops.backfills set state = 'running'`.execute(db);
  await sql`vacuum analyze`.execute(db);
}

async function startConsole(db: Database, folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const file = join(folder, 'pipeline.yaml');
  writeFileSync(join(folder, 'codes.csv'), 'code,deal_id\n');
  writeFileSync(
    file,
    `sources: {shop-1: {uri: ./, layout: generic, order_platform: shopify}}
jobs: {${JOB}: {kind: attribute-orders, source: shop-1, brand_id: 1, codes: ./codes.csv, revenue: total}}
`,
  );
  const server = openServer();
  addConsole(server, {
    readDb: db,
    db,
    config: loadConfig(file, {}),
    host: '127.0.0.1',
    localActor: 'bench',
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  return listen(server, { host: '127.0.0.1', port: 0, command: 'console' });
}

async function measurePage(url: string, path: string, rounds: number): Promise<Measurement> {
  const address = path.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name] ?? '1');
  const measured: { query: string; ms: number; kilobytes: number }[] = [];
  for (const query of QUERIES[path] ?? ['']) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now();
      const response = await fetch(`${url}${address}${query}`);
      bytes = (await response.arrayBuffer()).byteLength;
      if (response.status >= 500) throw new Error(`${address}${query} answered ${response.status}`);
      if (round > 0) times.push(performance.now() - startedAt);
    }
    times.sort((a, b) => a - b);
    measured.push({
      query,
      ms: times[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN,
      kilobytes: bytes / 1000,
    });
  }
  measured.sort((a, b) => b.ms - a.ms);
  const detail = measured
    .map(
      ({ query, ms, kilobytes }) =>
        `${query === '' ? 'all' : query} ${ms.toFixed(0)} ms, ${kilobytes.toFixed(0)} kB`,
    )
    .join('; ');
  return { name: path, value: measured[0]?.ms ?? Number.NaN, unit: 'ms', detail };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [orders = '1000000'] = process.argv.slice(2);
  for (const { name, value, detail } of await measureConsole({
    orders: Number(orders),
    deals: DEALS,
    rounds: 30,
  }))
    process.stdout.write(`${value.toFixed(0).padStart(6)} ms  ${name}: ${detail}\n`);
}
