import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import { cancelStatements, connect, type Database } from '../../src/db/connect.ts';
import { inPhase } from '../../src/db/phase.ts';
import { explainFailure } from '../../src/db/server/explain-failure.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { findPooler, startPooler } from '../support/pooler.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const POOLER = findPooler();

async function open(url: string, purpose: string): Promise<Database> {
  const db = await connect({ url, embeddedFolder: '', purpose });
  onTestFinished(() => db.destroy());
  return db;
}

/**
 * Returns the active statements of a process by the purpose it has registered, as another session sees them.
 */
async function atWork(db: Database, purpose: string): Promise<readonly { readonly query: string }[]> {
  const { rows } = await sql<{ query: string }>`
    select query from pg_stat_activity
    where datname = current_database() and application_name like ${`influencer-sync ${purpose} %`} and state = 'active'`.execute(
    db,
  );
  return rows;
}

async function failure(work: Promise<unknown>): Promise<KnownError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof KnownError)) throw error;
  return error;
}

describe.each([
  ['on a server', false],
  ['behind a pooler in transaction mode', true],
])('%s', (_, isPooled) => {
  const test = it.skipIf(isPooled && POOLER === null);
  const reach = async (url: string): Promise<string> => (isPooled ? startPooler(POOLER ?? '', url) : url);

  test('a statement that exceeds the limit of its phase ends here and on the server, with an error that names phase and limit', async () => {
    const { db, databaseUrl } = await setup();
    const slow = await open(await reach(databaseUrl), 'slow');
    const phase = { name: 'Attributing orders', limitMs: 300 };
    const { details } = await failure(inPhase(phase, () => sql`select pg_sleep(60)`.execute(slow)));
    expect(details).toMatchObject({ code: 'statement_too_slow', exitCode: 1 });
    expect(details.message).toContain('0.3 s');
    expect(details.message).toContain('Attributing orders');
    await waitFor(async () => (await atWork(db, 'slow')).length === 0);
    // The error for the connection's own limit names the setting that changes it, and other statements
    // continue.
    expect((await sql`select 1 as one`.execute(slow)).rows).toEqual([{ one: 1 }]);
  });

  test('a lock that is not free in time causes an error that names its holder', async () => {
    const { databaseUrl } = await setup();
    const holder = new pg.Client({ connectionString: databaseUrl, application_name: 'psql of a colleague' });
    await holder.connect();
    const waiting = await open(await reach(databaseUrl), 'waiting');
    await holder.query('begin; lock table ledger.entries');
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
    const notes: string[] = [];
    const phase = {
      name: 'Reading orders.csv',
      lockLimitMs: 500,
      note: (message: string) => notes.push(message),
    };
    const { details } = await failure(
      inPhase(phase, () => sql`select count(*) from ledger.entries`.execute(waiting)),
    );
    await holder.end();
    expect(details).toMatchObject({ code: 'lock_timed_out', exitCode: 1 });
    for (const text of [details.message, notes.join()]) {
      expect(text).toContain(`process ${rows[0]?.pid} (application_name "psql of a colleague"`);
      expect(text).toMatch(/since \d{4}-\d{2}-\d{2}T/);
    }
    expect(details.message).toContain('Reading orders.csv');
  });

  test('running statements of a process are cancelled before it exits', async () => {
    const { db, databaseUrl } = await setup();
    const leaving = await open(await reach(databaseUrl), 'leaving');
    const outcome = sql`select pg_sleep(60)`.execute(leaving).catch((error: unknown) => error);
    await waitFor(async () => (await atWork(db, 'leaving')).some(({ query }) => query.includes('pg_sleep')));
    await cancelStatements(leaving);
    expect(await outcome).toMatchObject({ details: { code: 'interrupted', exitCode: 130 } });
    await waitFor(async () => (await atWork(db, 'leaving')).length === 0);
  });

  test('statements run as read committed within their own limits, whatever limits, isolation and idle times the role has', async () => {
    const { db, databaseUrl } = await setup();
    const role = `strict_${process.pid}_${isPooled}`;
    await sql.raw(`create role ${role} login superuser password 'strict'`).execute(db);
    onTestFinished(() => dropRole(role));
    const settings = isPooled
      ? ["default_transaction_isolation = 'serializable'"]
      : [
          "default_transaction_isolation = 'serializable'",
          "statement_timeout = '50ms'",
          "lock_timeout = '1ms'",
          "idle_in_transaction_session_timeout = '50ms'",
          "idle_session_timeout = '700ms'",
        ];
    for (const setting of settings) await sql.raw(`alter role ${role} set ${setting}`).execute(db);
    const url = new URL(databaseUrl);
    url.username = role;
    url.password = 'strict';
    const ours = await open(await reach(url.href), 'strict');
    await sql`select pg_sleep(0.2)`.execute(ours);
    await ours.transaction().execute(async (trx) => {
      const { rows } = await sql`show transaction_isolation`.execute(trx);
      expect(rows).toEqual([{ transaction_isolation: 'read committed' }]);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await sql`select 1`.execute(trx);
    });
    if (!isPooled) await new Promise((resolve) => setTimeout(resolve, 1_000));
    // Each of two sessions reads what the other one writes. Under serializable isolation one of them would
    // fail.
    await sql`create table turns (who integer primary key, n integer)`.execute(db);
    await sql`insert into turns values (1, 0), (2, 0)`.execute(db);
    const add = (who: number) =>
      sql`update turns set n = n + 1 + 0 * (select count(*) from turns where who <> ${who}) where who = ${who}`.execute(
        ours,
      );
    await Promise.all(Array.from({ length: 40 }, (_each, index) => add((index % 2) + 1)));
    expect((await sql`select who, n from turns order by who`.execute(ours)).rows).toEqual([
      { who: 1, n: 20 },
      { who: 2, n: 20 },
    ]);
  });
});

async function dropRole(role: string): Promise<void> {
  const admin = new pg.Client({ connectionString: suiteDatabases().serverUrl });
  await admin.connect();
  await admin.query(`drop role ${role}`);
  await admin.end();
}

it('on a server that supports it, a session lets the server detect that its process has ended', async () => {
  const { db } = await setup();
  const { rows } = await sql`
    select current_setting('client_connection_check_interval') as interval where version() ~ 'linux'`.execute(
    db,
  );
  expect(rows).toEqual([{ interval: '2s' }]);
});

/** Errors that are the server's fault rather than this project's, with their exit code. */
const KNOWN = [
  ['53100', 'database_full', 1],
  ['53200', 'database_out_of_memory', 1],
  ['53300', 'too_many_connections', 1],
  ['53400', 'database_limit_exceeded', 1],
  ['25006', 'database_read_only', 1],
  ['42501', 'database_permission_denied', 2],
  ['57014', 'statement_cancelled', 1],
  ['55P03', 'lock_timed_out', 1],
  ['40001', 'transaction_undone', 1],
  ['40P01', 'transaction_undone', 1],
  ['25P03', 'session_timed_out', 1],
  ['57P05', 'session_timed_out', 1],
  ['57P01', 'database_lost', 1],
  ['58030', 'database_system_error', 1],
  ['XX001', 'database_damaged', 1],
] as const;

it('an error of the server is a known error that quotes the server and its SQLSTATE', async () => {
  const { db } = await setup();
  for (const [state, code, exitCode] of KNOWN) {
    const answer = sql.raw(
      `do $$ begin raise exception 'the server says so' using errcode = '${state}'; end $$`,
    );
    const error = await answer.execute(db).catch((thrown: unknown) => thrown);
    const details = explainFailure(error, 'db.example/ledger')?.details;
    expect(details, state).toMatchObject({ code, exitCode, where: 'db.example/ledger' });
    expect(details?.message).toContain(`the server says so (${state})`);
    expect(details?.safe).not.toContain('posted is recorded');
  }
});

it('an invalid statement is reported as a bug', async () => {
  const { db } = await setup();
  const error = await sql`select nothing from nowhere`.execute(db).catch((thrown: unknown) => thrown);
  expect(explainFailure(error)).toBeNull();
});
