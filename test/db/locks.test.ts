import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import { look, openWorkshop, toCsv } from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';

const ROLES = readFileSync(new URL('../../sql/roles.sql', import.meta.url), 'utf8');

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // When a test fails, the database is dropped while the client is connected.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Creates an empty database, which is dropped when the test has finished, and a session that may drop it. */
async function emptyDatabase(): Promise<{ readonly url: string; readonly admin: pg.Client }> {
  const { serverUrl, prefix } = suiteDatabases();
  const admin = await connectTo(serverUrl);
  const name = `${prefix}${randomInt(2 ** 47).toString(36)}`;
  await admin.query(`create database ${name}`);
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, admin };
}

/**
 * SQL that locks the keys of all advisory locks that earlier versions and Kysely took, and the first few
 * thousand numbers.
 */
const EVERY_GUESS = `
  select pg_advisory_lock(k) from (values
    (3853314791062309107), (72016488),
    (hashtextextended('influencer-sync writes evidence', 0)),
    (hashtextextended('influencer-sync decides about orders', 0))) as known(k)
  union all select pg_advisory_lock(k) from generate_series(1, 2000) k
  union all select pg_advisory_lock(1, k) from generate_series(1, 500) k`;

it('a session of bi_reader that takes every guessable advisory lock blocks neither migrations nor a run', async () => {
  const { url, admin } = await emptyDatabase();
  const suffix = `_${randomInt(2 ** 47).toString(36)}`;
  const roles = {
    reader: `bi_reader${suffix}`,
    app: `influencer_sync_app${suffix}`,
    operator: `influencer_sync_operator${suffix}`,
  };
  const readerUrl = new URL(url);
  readerUrl.username = roles.reader;
  readerUrl.password = 'reader';
  await admin.query(`create role ${roles.reader} login password 'reader'`);
  onTestFinished(
    () => void admin.query(`drop role if exists ${roles.reader}, ${roles.app}, ${roles.operator}`),
  );
  const reader = await connectTo(readerUrl.href);
  await reader.query(EVERY_GUESS);

  const shop = await openWorkshop({ databaseUrl: url });
  shop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2' }]));
  expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { entries: { accepted: 2 } } } });
  expect(await shop.posted()).toEqual(['o1', 'o2']);

  await look(url, async (db) => {
    const text = ROLES.replaceAll('bi_reader', roles.reader)
      .replaceAll('influencer_sync_app', roles.app)
      .replaceAll('influencer_sync_operator', roles.operator);
    await sql.raw(text).execute(db);
    // The reader may not take the locks that would stop a run.
    for (const table of [
      'ops.job_locks',
      'ops.leases',
      'ledger.evidence_lock',
      'ledger.entries',
      'reporting.refresh',
    ])
      for (const mode of ['access share', 'row exclusive', 'exclusive'])
        await expect(
          reader
            .query(`begin read write; lock table ${table} in ${mode} mode`)
            .finally(() => reader.query('rollback')),
          `${table} ${mode}`,
        ).rejects.toThrow('permission denied');
    await reader.end();
    await sql
      .raw(`drop owned by ${roles.reader}; drop owned by ${roles.app}; drop owned by ${roles.operator}`)
      .execute(db);
  });
});

it('neither the code nor its SQL takes an advisory lock, because every role could hold it', () => {
  const folder = new URL('../../', import.meta.url);
  const files = ['src', 'sql'].flatMap((root) =>
    readdirSync(new URL(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|sql)$/.test(name))
      .map((name) => `${root}/${name}`),
  );
  expect(files.length).toBeGreaterThan(300);
  const taking = files.filter((name) => readFileSync(new URL(name, folder), 'utf8').includes('pg_advisory'));
  expect(taking).toEqual([]);
});

it('only one of two processes migrates an empty database', async () => {
  const { url } = await emptyDatabase();
  const both = await Promise.all([1, 2].map(() => connect({ url, embeddedFolder: '' })));
  const applied = await Promise.all(both.map((db) => migrate(db)));
  expect(applied.flatMap((names) => names.filter((name) => name === '0095_baseline'))).toHaveLength(1);
  for (const db of both) {
    expect(await pendingMigrations(db)).toEqual([]);
    await db.destroy();
  }
});

it('views that cannot be created undo the migrations before them', async () => {
  const { url } = await emptyDatabase();
  const db = await connect({ url, embeddedFolder: '' });
  onTestFinished(() => db.destroy());
  await sql`create function refuse_views() returns event_trigger language plpgsql as $$ begin
    if exists (select from pg_event_trigger_ddl_commands() where schema_name = 'bi') then raise exception 'no view for you'; end if; end $$`.execute(
    db,
  );
  await sql`create event trigger refuse_views on ddl_command_end when tag in ('CREATE VIEW') execute function refuse_views()`.execute(
    db,
  );
  await expect(migrate(db)).rejects.toMatchObject({
    details: {
      code: 'migration_failed',
      message: expect.stringContaining('bi (views) failed: no view for you'),
    },
  });
  const { rows } =
    await sql`select nspname from pg_namespace where nspname in ('bi', 'ledger', 'ops')`.execute(db);
  expect(rows).toEqual([]);
  await sql`drop event trigger refuse_views`.execute(db);
  expect((await migrate(db)).at(-1)).toBe('bi (views)');
  expect(await pendingMigrations(db)).toEqual([]);
});
