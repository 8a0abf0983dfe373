import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { BASELINE } from '../../src/db/baseline.ts';
import { connect } from '../../src/db/connect.ts';
import { dropBoth, openSpreadShop } from '../runs/workers/spread-shop.ts';
import {
  countStates,
  manyRows,
  openWorkshop,
  processed,
  readRun,
  repeated,
  toCsv,
  type Workshop,
} from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { type CliProcess, startCli } from '../support/run-cli.ts';
import { makeTestFolder } from '../support/setup.ts';
import { runStatement, urlOf } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

/** api.concurrency is 4, and half as many more entries may be claimed. */
const IN_FLIGHT_AT_MOST = 6;

const ROOT = new URL('../../', import.meta.url).pathname;

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 }).trim();

/** A version to upgrade from. */
type Older = {
  readonly commit: string;
  /** Whether this version has a migration that it does not know. The baseline is recorded under names that it knows. */
  readonly isOutdated: boolean;
};

/**
 * Returns the version to upgrade from: UPGRADE_FROM (the tag of a release), otherwise the commit before the
 * newest migration; or why there is none.
 */
function findOlder(): Older | { readonly missing: string } {
  const migrations = readdirSync(join(ROOT, 'sql/migrations')).sort();
  const newest = migrations.at(-1) ?? '';
  const named = process.env.UPGRADE_FROM || null;
  try {
    const [added = ''] = git('log', '--diff-filter=A', '--format=%H', '--', `sql/migrations/${newest}`).split(
      '\n',
    );
    const before = added === '' ? 'HEAD' : `${added}^`;
    const commit = git('rev-parse', '--verify', `${named ?? before}^{commit}`);
    const known = git('ls-tree', '--name-only', commit, 'sql/migrations/').split('\n');
    const unknown = migrations.filter(
      (name) => name !== `${BASELINE}.sql` && !known.includes(`sql/migrations/${name}`),
    );
    const contract = unknown.find((name) =>
      readFileSync(join(ROOT, 'sql/migrations', name), 'utf8').startsWith('-- contract: '),
    );
    if (named === null && contract !== undefined)
      return { missing: `${contract} says that no older version runs beside it` };
    return { commit, isOutdated: unknown.length > 0 };
  } catch {
    return { missing: 'there is no git history to take an older version from, as in a shallow clone' };
  }
}

/**
 * Checks out the version's source into a folder, with the current packages.
 * @returns the function that starts it.
 */
function checkOut(commit: string): string {
  const folder = makeTestFolder();
  const archive = execFileSync('git', ['archive', commit, 'src', 'jobs', 'sql', 'config', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 ** 2,
  });
  mkdirSync(join(folder, 'older'));
  execFileSync('tar', ['--extract', '--directory', join(folder, 'older')], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'older/node_modules'));
  return join(folder, 'older/src/start.js');
}

const FLOW = `
serve: {port: 0, grace_seconds: 20}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "${(new Date().getUTCMinutes() + 30) % 60} * * * *"}
`;

it('an older version and this one serve together during a migration, and every order is posted once, whichever of them runs, dies or takes over', async (context) => {
  const older = findOlder();
  if ('missing' in older) return context.skip(older.missing);
  const program = checkOut(older.commit);
  const shop = await openWorkshop({
    databaseUrl: await createEmptyDatabase('serve'),
    flow: FLOW,
    api: 'lease_seconds: 3\ntimeout_seconds: 2',
    sandbox: { latencyMs: 100 },
  });
  const db = await connect({ url: shop.databaseUrl, embeddedFolder: '' });
  onTestFinished(() => db.destroy());
  const startOlder = (...args: string[]): CliProcess =>
    startCli(args, { cwd: shop.folder, env: shop.env, program });
  const posted = async () => (await shop.posted()).length;
  const slotsAreOver = async () => {
    const slots = await db.selectFrom('ops.slots').select('is_settled').execute();
    return slots.every(({ is_settled: isSettled }) => isSettled);
  };
  // A process listens before it polls for the first time, and its lease may lapse on a busy machine.
  const isServed = async () => {
    const leases = db.selectFrom('ops.leases').select('name').where('name', 'like', 'serve:%');
    return (await leases.where('expires_at', '>', sql<Date>`clock_timestamp()`).execute()).length > 0;
  };
  const runNow = async (start: Workshop['start'], name: string, count: number) => {
    shop.drop(`${name}.csv`, toCsv(manyRows(count, name)));
    await waitFor(async () => (await isServed()) && (await slotsAreOver()), { timeoutMs: 60_000 });
    const { exitCode, stderr } = await start('jobs', 'run-now', 'orders', '--reason', 'upgrade').ended;
    expect(exitCode, stderr).toBe(0);
  };

  // The older version alone: in the middle of a run while this version migrates, and then on the new tables.
  expect((await startOlder('migrate').ended).exitCode).toBe(0);
  const first = await serve(startOlder);
  await runNow(startOlder, 'a', 300);
  await waitFor(async () => (await posted()) >= 20, { timeoutMs: 30_000 });
  const migrated = await shop.start('migrate').ended;
  expect(migrated.exitCode, migrated.stderr).toBe(0);
  expect(await posted(), 'the migration came in the middle of the run').toBeLessThan(300);
  await runNow(shop.start, 'b', 10);
  await waitFor(async () => (await posted()) === 310, { timeoutMs: 60_000 });

  // Both versions. While this version is stopped, the older one starts a run and dies in the middle of it;
  // then this version resumes it.
  const second = await serve(shop.start);
  await runNow(shop.start, 'c', 10);
  await waitFor(async () => (await posted()) === 320, { timeoutMs: 60_000 });
  await waitFor(slotsAreOver);
  second.kill('SIGSTOP');
  await runNow(shop.start, 'd', 100);
  await waitFor(async () => (await posted()) >= 340, { timeoutMs: 60_000 });
  first.kill('SIGKILL');
  await first.ended;
  expect(await posted(), 'it died in the middle of the run').toBeLessThan(420);
  second.kill('SIGCONT');

  // An older version that starts now does nothing and reports that it is not ready, if there are migrations that it
  // does not know; otherwise it serves.
  const late = await serve(startOlder);
  if (older.isOutdated)
    await waitFor(() => late.stderr().includes('the schedule cannot be read'), { timeoutMs: 30_000 });
  const readiness = older.isOutdated ? 503 : 200;
  await waitFor(async () => (await fetch(`${late.url}/readyz`)).status === readiness, { timeoutMs: 30_000 });
  await runNow(shop.start, 'e', 10);
  await waitFor(slotsAreOver, { timeoutMs: 60_000 });

  const { accepted = 0, in_doubt: inDoubt = 0, ...others } = await countStates(db);
  expect(others).toEqual({});
  // Requests in flight when it died may have been processed: an operator settles them, and no process repeats
  // them.
  expect(accepted + inDoubt).toBe(430);
  expect(inDoubt).toBeLessThanOrEqual(IN_FLIGHT_AT_MOST);
  expect(repeated(await shop.posted())).toEqual([]);
  second.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ exitCode: 0, signal: null });
});

it('a database that this version created is one of the older version, and each continues what the other began', async (context) => {
  const older = findOlder();
  if ('missing' in older) return context.skip(older.missing);
  if (older.isOutdated) return context.skip('this version has migrations that the older one does not know');
  const program = checkOut(older.commit);
  const shop = await openWorkshop({
    databaseUrl: await createEmptyDatabase('created'),
    flow: FLOW,
    api: 'timeout_seconds: 2',
  });
  const startOlder = (...args: string[]): CliProcess =>
    startCli(args, { cwd: shop.folder, env: shop.env, program });
  let posted = 0;
  for (const [name, start] of [
    ['a', shop.start],
    ['b', startOlder],
    ['c', shop.start],
  ] as const) {
    const migrated = await start('migrate').ended;
    expect(migrated.exitCode, migrated.stderr).toBe(0);
    if (name !== 'a') expect(migrated.stdout).toBe('The database is up to date.\n');
    shop.drop(`${name}.csv`, toCsv(manyRows(20, name)));
    const run = await start('run', 'orders').ended;
    expect(run.exitCode, run.stderr).toBe(0);
    posted += 20;
    expect(await shop.posted()).toHaveLength(posted);
  }
  expect(repeated(await shop.posted())).toEqual([]);
});

it('workers of both versions process runs of either version, also during a migration, and every order is posted once', async (context) => {
  const older = findOlder();
  if ('missing' in older) return context.skip(older.missing);
  const program = checkOut(older.commit);
  const shop = await openSpreadShop({
    databaseUrl: await createEmptyDatabase('workers'),
    sandbox: { latencyMs: 25 },
  });
  const start = (args: readonly string[], version: { program?: string }, machine: string): CliProcess =>
    startCli(args, {
      cwd: shop.folder,
      env: { ...shop.env, INFLUENCER_SYNC_DATA: join(shop.folder, machine) },
      ...version,
    });
  const db = await connect({ url: shop.databaseUrl, embeddedFolder: '' });
  onTestFinished(() => db.destroy());
  const areAtWork = async (count: number) => {
    const workers = await db.selectFrom('ops.workers').select('worker_id').execute();
    return workers.length === count;
  };
  const doneBy = async (run: number) => {
    const units = await db.selectFrom('ops.work_units').select(['run_id', 'state', 'worker_id']).execute();
    const ofRun = units.filter(({ run_id: runId }) => Number(runId) === run);
    expect(ofRun.map(({ state }) => state)).toEqual(ofRun.map(() => 'done'));
    return new Set(ofRun.map(({ worker_id: worker }) => worker)).size;
  };

  // The run and the worker are older, and this version migrates while they are active.
  expect((await start(['migrate'], { program }, 'older').ended).exitCode).toBe(0);
  const first = start(['work', '--json'], { program }, 'older');
  await waitFor(() => areAtWork(1));
  dropBoth(shop, 120);
  // Slow answers until the migration is complete, so that the run is still active on a busy machine.
  await shop.sandbox.setFaults([{ kind: 'latency', ms: 1_000 }]);
  const run = start(['run', 'orders', '--json'], { program }, 'runs');
  await processed(shop, 8);
  const migrated = await shop.start('migrate').ended;
  expect(migrated.exitCode, migrated.stderr).toBe(0);
  expect(await shop.posted(), 'the migration came in the middle of the run').not.toHaveLength(240);
  await shop.sandbox.setFaults(null);
  const second = start(['work', '--json'], {}, 'newer');
  expect(readRun(await run.ended)).toMatchObject({
    exitCode: 0,
    finished: { counts: { entries: { accepted: 240 } } },
  });

  // A run of this version uses workers of both versions. The older one is replaced in the middle of it.
  await waitFor(() => areAtWork(2));
  dropBoth(shop, 240);
  const next = start(['run', 'orders', '--json'], {}, 'runs');
  await processed(shop, 340);
  first.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ exitCode: 0, signal: null });
  expect(readRun(await next.ended)).toMatchObject({
    exitCode: 0,
    finished: { counts: { entries: { accepted: 240 } } },
  });
  expect(await doneBy(2)).toBe(2);
  expect(await countStates(db)).toEqual({ accepted: 480 });
  expect(repeated(await shop.posted())).toEqual([]);
  second.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ exitCode: 0, signal: null });
});

/** Starts `serve` and returns its URL. */
async function serve(start: Workshop['start']): Promise<CliProcess & { readonly url: string }> {
  const started = start('serve', '--json');
  await waitFor(() => started.stdout().includes('"listening"') || started.hasEnded(), { timeoutMs: 30_000 });
  expect(started.hasEnded(), started.stderr()).toBe(false);
  const { url } = JSON.parse(started.stdout().split('\n')[0] ?? '') as { url: string };
  return { ...started, url };
}

/**
 * Creates a database without a schema, which the older version creates. It is dropped with the databases of
 * the suite.
 */
async function createEmptyDatabase(of: string): Promise<string> {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}rolling_upgrade_${of}`;
  await runStatement(serverUrl, `create database ${name}`);
  return urlOf(serverUrl, name);
}
