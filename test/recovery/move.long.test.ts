import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { connect, type Database } from '../../src/db/connect.ts';
import { hasNoRows } from '../../src/db/move/copy-database.ts';
import { countStates, manyRows, openWorkshop, readRun, repeated, toCsv } from '../runs/workshop.ts';
import { environmentOf } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { setup } from '../support/setup.ts';

/** What the move itself writes. */
const WRITTEN_BY_THE_MOVE = ['ops.audit', 'ledger.identity', 'ledger.machines', 'reporting.applied_views'];

/** A digest of the rows of each table. */
async function digests(db: Database): Promise<Readonly<Record<string, string>>> {
  const { rows } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('intake', 'ledger', 'mirror', 'ops', 'reporting')
    order by 1`.execute(db);
  const found: Record<string, string> = {};
  for (const { name } of rows.filter((each) => !WRITTEN_BY_THE_MOVE.includes(each.name))) {
    const { rows: sums } = await sql<{ digest: string }>`
      select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest
      from ${sql.raw(name)} t`.execute(db);
    found[name] = sums[0]?.digest ?? '';
  }
  return found;
}

async function constraintsOf(db: Database): Promise<unknown> {
  const { rows } = await sql`
    select conrelid::regclass::text as on, conname, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace::regnamespace::text in ('intake', 'ledger', 'mirror', 'ops', 'reporting') and contype = 'f'
    union all select tgrelid::regclass::text, tgname, tgenabled::text from pg_trigger where not tgisinternal
    order by 1, 2`.execute(db);
  return rows;
}

it('a move from the embedded database to a server is killed at each step, and at no moment both can post; the same command finishes it', {
  timeout: 400_000,
}, async () => {
  const shop = await openWorkshop({ embedded: true });
  shop.drop('orders.csv', toCsv(manyRows(12)));
  expect(await shop.run('--limit', '5')).toMatchObject({ exitCode: 0 });
  const { db: server, databaseUrl } = await setup();
  const constraints = await constraintsOf(server);
  const env = { ...shop.env, DATABASE_URL: databaseUrl };
  const onServer = (...args: string[]) => runHere(args, { cwd: shop.folder, env });
  const endAt = async (...step: string[]) => {
    const script = new URL('moving-process.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, 'pipeline.yaml', ...step], {
      cwd: shop.folder,
      env: environmentOf(env),
      stdio: 'inherit',
    });
    return once(child, 'exit');
  };
  const killAt = async (step: string) => expect(await endAt(step)).toEqual([null, 'SIGKILL']);
  const dataFolder = join(shop.folder, '.data');
  // As an earlier version left it.
  const earlier = await connect({ url: '', embeddedFolder: dataFolder });
  await sql`delete from reporting.applied_views`.execute(earlier).finally(() => earlier.destroy());

  const tried = await onServer('ledger', 'move', '--reason', 'x', '--dry-run');
  expect(tried.stdout, tried.stderr).toMatch(/^Would move ledger [0-9a-f]{8}, and close/m);
  expect(await endAt('copy', 'told'), 'stopped').toEqual([130, null]);
  await killAt('close');
  // The old one is as it was; the new one has nothing, and is not taken for it.
  expect(await hasNoRows(server)).toBe(true);
  expect(readRun(await onServer('run', 'orders', '--json'))).toMatchObject({ exitCode: 7 });
  expect((await shop.run('--limit', '1')).exitCode).toBe(0);
  const backup = join(shop.folder, 'backup');
  cpSync(dataFolder, backup, { recursive: true });
  await killAt('open');
  expect(await hasNoRows(server)).toBe(true);
  for (const args of [['run', 'orders'], ['status']])
    expect((await shop.cli(...args)).stderr, args[0]).toContain('was moved to a server');
  expect(readRun(await onServer('run', 'orders', '--json'))).toMatchObject({ exitCode: 7 });

  // The whole move, but for its last words.
  await killAt('end');
  const old = await connect({ url: '', embeddedFolder: dataFolder, isMoving: true });
  onTestFinished(() => old.destroy());
  expect(await digests(server)).toEqual(await digests(old));
  expect(await constraintsOf(server)).toEqual(constraints);
  await old.destroy();
  const again = await onServer('ledger', 'move', '--reason', 'once more');
  expect(again.stdout, again.stderr).toContain('An earlier attempt has already moved ledger');

  // No other server gets the ledger too, not even an empty one.
  const second = await setup();
  const { host, pathname } = new URL(databaseUrl);
  for (const option of ['--dry-run', '--json']) {
    const refused = await runHere(['ledger', 'move', '--reason', 'x', option], {
      cwd: shop.folder,
      env: { ...shop.env, DATABASE_URL: second.databaseUrl },
    });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('was already moved') });
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain(`"to ${host}${pathname} at `);
  }
  expect(await hasNoRows(second.db)).toBe(true);

  // 5 orders were posted before the move, 1 after the first kill; the server posts the others.
  expect(readRun(await onServer('run', 'orders', '--json')).finished).toMatchObject({
    counts: { entries: { accepted: 6 } },
  });
  expect(await countStates(server)).toEqual({ accepted: 12 });
  expect([(await shop.posted()).length, repeated(await shop.posted())]).toEqual([12, []]);
  expect((await shop.run()).exitCode).toBe(2);
  expect(existsSync(join(dataFolder, 'postgres'))).toBe(true);

  // A copy of the data folder from before the move knows nothing of what the server has posted, nor of the move.
  rmSync(dataFolder, { recursive: true });
  renameSync(backup, dataFolder);
  for (const args of [
    ['run', 'orders'],
    ['plan', 'orders'],
    ['ledger', 'recover', '--reason', 'x'],
  ]) {
    const refused = await shop.cli(...args);
    expect(refused, args[0]).toMatchObject({ exitCode: 7 });
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain(`was moved to a server (to ${host}${pathname} at `);
  }
  expect(await onServer('ledger', 'move', '--reason', 'x')).toMatchObject({ exitCode: 7 });
  expect((await shop.cli('status')).stderr.replace(/\s+/g, ' ')).toContain('is an older copy');
  expect([(await shop.posted()).length, repeated(await shop.posted())]).toEqual([12, []]);

  // A server that is in use is refused, and nothing is closed.
  const other = await openWorkshop({ embedded: true });
  other.drop('orders.csv', toCsv(manyRows(1)));
  await other.run();
  for (const option of ['--dry-run', '--json']) {
    const refused = await runHere(['ledger', 'move', '--reason', 'x', option], {
      cwd: other.folder,
      env: { ...other.env, DATABASE_URL: databaseUrl },
    });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('already has rows') });
  }
  expect((await other.run()).exitCode).toBe(0);
});
