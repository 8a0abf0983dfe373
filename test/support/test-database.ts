import { randomInt } from 'node:crypto';
import pg from 'pg';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';

/** Prefix of the names of test databases: `<prefix><run>_<what>`. */
const PREFIX = 'influencer_sync_test_';

/** First half of the advisory lock that a live run holds. An arbitrary number. */
const LOCK_CLASS = 51_983;

export type SuiteDatabases = {
  /** URL of the server, with a user who may create databases. */
  readonly serverUrl: string;
  /** Prefix of the names of this run's databases. `<prefix>template` has the schema of the migrations. */
  readonly prefix: string;
  /**
   * How the template is cloned. `file_copy` needs two checkpoints. They cost nothing on a server that never
   * waits for a disk (measured: 40 ms to create and 26 ms to drop, compared with 101 and 69), and much on any
   * other.
   */
  readonly strategy: 'file_copy' | 'wal_log';
};

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

/**
 * Creates the template that the tests clone, on a server that other runs of the suite may use at the same
 * time. Drops the databases of killed runs.
 */
export async function prepareDatabases(
  serverUrl: string,
  strategy: SuiteDatabases['strategy'],
): Promise<{ databases: SuiteDatabases; drop: () => Promise<void> }> {
  const session = new pg.Client({ connectionString: serverUrl });
  session.on('error', () => {});
  await session.connect();
  await dropAbandoned(session);
  const run = randomInt(2 ** 31 - 1);
  await session.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, run]);
  const prefix = `${PREFIX}${run}_`;
  await session.query(`create database ${prefix}template`);
  const db = await connect({ url: urlOf(serverUrl, `${prefix}template`), embeddedFolder: '' });
  await migrate(db);
  await db.destroy();

  async function drop(): Promise<void> {
    await session.query('select pg_advisory_unlock_all()');
    await dropAbandoned(session);
    await session.end();
  }
  return { databases: { serverUrl, prefix, strategy }, drop };
}

/** Drops databases of runs that hold no lock. A live run holds its lock. */
async function dropAbandoned(session: pg.Client): Promise<void> {
  const { rows } = await session.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [PREFIX],
  );
  for (const { datname } of rows) {
    const run = Number(datname.slice(PREFIX.length).split('_')[0]);
    const { rows: locks } = await session.query<{ free: boolean }>(
      'select pg_try_advisory_lock($1, $2) as free',
      [LOCK_CLASS, run],
    );
    if (locks[0]?.free !== true) continue;
    await session.query(`drop database if exists ${datname} with (force)`);
    await session.query('select pg_advisory_unlock($1, $2)', [LOCK_CLASS, run]);
  }
}

/** Creates a database for one test: with the schema of the migrations, or without any. */
export async function createTestDatabase(
  { serverUrl, prefix, strategy }: SuiteDatabases,
  content: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const name = `${prefix}${randomInt(2 ** 47).toString(36)}`;
  const from = content === 'empty' ? '' : `template ${prefix}template strategy ${strategy}`;
  await runStatement(serverUrl, `create database ${name} ${from}`);
  return {
    url: urlOf(serverUrl, name),
    drop: () => runStatement(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

/** Runs one statement on a separate connection. */
export async function runStatement(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The URL of a database on a server. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
