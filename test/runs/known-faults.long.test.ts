import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { findPooler, startPooler } from '../support/pooler.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  countStates,
  type Ended,
  leasesAreOver,
  manyRows,
  openWorkshop,
  readRun,
  repeated,
  toCsv,
  type Workshop,
} from './workshop.ts';

const POOLER = findPooler();

/** Expects no stack trace, no bug report, and no claim that everything posted is recorded. */
function expectKnown(ended: Ended, code: string): void {
  expect(ended.events.at(-1)).toMatchObject({ event: 'error', code });
  expect(ended.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
  expect(ended.stderr + ended.stdout).not.toMatch(/This is a bug|posted is recorded/);
}

describe.each([
  ['on a server', false],
  ['behind a pooler', true],
])('a run that waits for a lock %s', (_, isPooled) => {
  it.skipIf(isPooled && POOLER === null)(
    'names the holder of the lock, and a second SIGTERM also ends its statement in the server',
    async () => {
      const shop = await openWorkshop();
      shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
      if (isPooled) shop.env.DATABASE_URL = await startPooler(POOLER ?? '', shop.databaseUrl);
      const holder = new pg.Client({
        connectionString: shop.databaseUrl,
        application_name: 'a hung session',
      });
      await holder.connect();
      await holder.query('begin; lock table intake.source_files');
      const run = shop.start('run', 'orders', '--json');
      await waitFor(() => /held by process \d+ .*a hung session/.test(run.stdout() + run.stderr()));
      expect(await waitingForLocks(shop)).toBe(1);
      run.kill('SIGTERM');
      await waitFor(() => run.stderr().includes('again to stop at once'));
      run.kill('SIGTERM');
      expect(readRun(await run.ended)).toMatchObject({ exitCode: 130, signal: null });
      await waitFor(async () => (await waitingForLocks(shop)) === 0);
      await holder.end();
      expect(await shop.posted()).toEqual([]);
    },
  );
});

/** Returns the number of this project's statements that wait for a lock. */
async function waitingForLocks({ db }: Workshop): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and application_name like 'influencer-sync%' and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows.length;
}

it('a command that is ended with Ctrl-C leaves no statement running in the server', async () => {
  const shop = await openWorkshop();
  const asking = shop.start(
    'query',
    'select count(*) from generate_series(1, 1000000000000)',
    '--timeout',
    '600',
  );
  const atWork = async (): Promise<number> => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name like 'influencer-sync query%' and state = 'active'`.execute(
      shop.db,
    );
    return rows.length;
  };
  await waitFor(async () => (await atWork()) === 1);
  asking.kill('SIGINT');
  expect(await asking.ended).toMatchObject({ exitCode: 130, signal: null });
  await waitFor(async () => (await atWork()) === 0);
});

it('a run whose claims the database refuses fails with the reason, and the next one posts each order once', async () => {
  const shop = await openWorkshop();
  shop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2' }]));
  await sql
    .raw(
      `create function ledger.refuse() returns trigger language plpgsql as $$ begin raise exception 'the audit is full'; end $$;
      create trigger refuse before insert on ledger.attempts for each row execute function ledger.refuse()`,
    )
    .execute(shop.db);
  const refused = await shop.run();
  expect(refused.exitCode).toBe(1);
  const { problem } = await shop.db.selectFrom('ops.runs').select('problem').executeTakeFirstOrThrow();
  expect(problem).toBe('It stopped: the audit is full.');
  expect(await shop.posted()).toEqual([]);
  await sql.raw('drop trigger refuse on ledger.attempts; drop function ledger.refuse').execute(shop.db);
  await leasesAreOver(shop);
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toHaveLength(2);
});

it('a role that is read-only or lacks a privilege causes a known error, and nothing is posted', async () => {
  const shop = await openWorkshop();
  shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
  const role = `limited_${randomUUID().slice(0, 8)}`;
  const url = new URL(shop.databaseUrl);
  url.username = role;
  url.password = 'limited';
  shop.env.DATABASE_URL = url.href;
  await sql
    .raw(
      `create role ${role} login password 'limited'; alter role ${role} set default_transaction_read_only = on;
      grant usage on schema ops, intake, ledger, mirror, reporting to ${role};
      grant select, insert, update, delete on all tables in schema public, ops, intake, ledger, mirror, reporting to ${role}`,
    )
    .execute(shop.db);
  onTestFinished(async () => {
    await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(shop.db);
  });
  const readOnly = await shop.run();
  expectKnown(readOnly, 'database_read_only');
  expect(readOnly.exitCode).toBe(1);
  await sql
    .raw(`alter role ${role} reset default_transaction_read_only; revoke insert on ops.leases from ${role}`)
    .execute(shop.db);
  const refused = await shop.run();
  expectKnown(refused, 'database_permission_denied');
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain('leases');
  expect(await shop.posted()).toEqual([]);
});

it('a full database disk sends answers to the spool, and the next run records them', async () => {
  const shop = await openWorkshop();
  shop.drop('orders.csv', toCsv(manyRows(20)));
  await sql
    .raw(
      `create function fail_as_full() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file "base/5/16384": No space left on device' using errcode = 'disk_full'; end $$;
      create trigger full_disk before insert on ledger.answers execute function fail_as_full()`,
    )
    .execute(shop.db);
  const full = await shop.run();
  expect(full.exitCode).toBe(1);
  expect(full.stderr + full.stdout).toContain('No space left on device');
  expect(full.stderr + full.stdout).not.toMatch(/This is a bug|posted is recorded|^ +at .*:\d+:\d+/m);
  await sql.raw('drop trigger full_disk on ledger.answers').execute(shop.db);
  expect(await shop.run()).toMatchObject({ exitCode: 0 });
  expect(await countStates(shop.db)).toEqual({ accepted: 20 });
  expect(repeated(await shop.posted())).toEqual([]);
});

it('a run that can write neither to the database nor to the spool reports the lost answers, and nothing is sent again', async () => {
  const shop = await openWorkshop({
    api: 'lease_seconds: 10\ntimeout_seconds: 8',
    sandbox: { latencyMs: 20 },
  });
  shop.drop('orders.csv', toCsv(manyRows(150)));
  const proxy = await startDatabaseProxy(shop.databaseUrl);
  shop.env.DATABASE_URL = proxy.url;
  const run = shop.start('run', 'orders', '--json');
  await waitFor(async () => (await shop.posted()).length >= 20);
  // A file is in the place of the folder.
  const spool = join(shop.folder, '.data', 'spool');
  rmSync(spool, { recursive: true, force: true });
  mkdirSync(dirname(spool), { recursive: true });
  writeFileSync(spool, '');
  proxy.cut();
  const ended = readRun(await run.ended);
  expectKnown(ended, 'answers_lost');
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toMatch(/(An answer|\d+ answers) of the service could not be stored/);
  rmSync(spool);
  await proxy.close();
  shop.env.DATABASE_URL = shop.databaseUrl;
  await leasesAreOver(shop);
  expect((await shop.run()).exitCode).toBe(6);
  const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
  expect(others).toEqual({});
  expect(accepted + doubts).toBe(150);
  expect(repeated(await shop.posted())).toEqual([]);
});
