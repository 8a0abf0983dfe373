import { sql } from 'kysely';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import type { loadConfig } from '../../../jobs/index.ts';
import type { Finding } from '../../../src/core/finding.ts';
import { connect, type Database } from '../../../src/db/connect.ts';
import { serverLimits } from '../../../src/monitoring/doctor/diagnostics/server.ts';
import type { Patient } from '../../../src/runs/runnable-kind.ts';
import { startServer } from '../../support/absent-server.ts';
import { findPooler, startPooler } from '../../support/pooler.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';

const POOLER = findPooler();

async function findingsAt(url: string): Promise<readonly Finding[]> {
  const db = await connect({ url, embeddedFolder: '' });
  try {
    return await look(db, url);
  } finally {
    await db.destroy();
  }
}

function look(db: Database, url: string): Promise<readonly Finding[]> {
  const config = { database: { url, dataFolder: '', statementMinutes: 15 } } as ReturnType<typeof loadConfig>;
  return serverLimits.look({ config, db } as Patient);
}

/** Creates a role with its own settings and returns the URL that connects as this role. */
async function roleWith(
  stage: { db: Database; databaseUrl: string },
  settings: readonly string[],
): Promise<string> {
  const role = `limited_${process.pid}`;
  await sql.raw(`create role ${role} login password 'limited'`).execute(stage.db);
  onTestFinished(async () => {
    const admin = new pg.Client({ connectionString: stage.databaseUrl });
    await admin.connect();
    await admin.query(`drop role ${role}`);
    await admin.end();
  });
  for (const setting of settings) await sql.raw(`alter role ${role} ${setting}`).execute(stage.db);
  const url = new URL(stage.databaseUrl);
  url.username = role;
  url.password = 'limited';
  return url.href;
}

it('a read-only role is a problem, and a role with few connections causes a warning', async () => {
  const stage = await setup();
  const url = await roleWith(stage, ['set default_transaction_read_only = on', 'connection limit 3']);
  const findings = await findingsAt(url);
  expect(findings).toMatchObject([
    { status: 'problem', what: 'This role, or this database, is set to read-only.' },
    { status: 'warning', what: '3 connections are left for this user; a run opens up to 9.' },
  ]);
});

it('limits and isolation of the role cause no warning on a server', async () => {
  const stage = await setup();
  const settings = ["set default_transaction_isolation = 'serializable'", "set statement_timeout = '5s'"];
  expect(await findingsAt(await roleWith(stage, settings))).toMatchObject([{ status: 'ok' }]);
});

it.skipIf(POOLER === null)('limits and isolation of the role cause a warning behind a pooler', async () => {
  const stage = await setup();
  const settings = ["set default_transaction_isolation = 'serializable'", "set statement_timeout = '5s'"];
  const url = await startPooler(POOLER ?? '', await roleWith(stage, settings));
  expect(await findingsAt(url)).toMatchObject([
    { status: 'warning', what: 'Behind this pooler, statements run at isolation level serializable.' },
    {
      status: 'warning',
      what: 'Behind this pooler, the server ends statements after 5 s (statement_timeout).',
    },
  ]);
});

it('an asynchronous standby causes a warning with a way to protect a failover', async () => {
  // Every session of a server sees its standbys, and the server of the other tests must have none.
  const server = await startServer();
  onTestFinished(() => server.stop());
  // Connects with the replication protocol, as a standby does.
  const standby = new pg.Client({ connectionString: server.url, replication: 'true' } as pg.ClientConfig);
  standby.on('error', () => {});
  await standby.connect();
  const { rows } = await standby.query<{ xlogpos: string }>('IDENTIFY_SYSTEM');
  void standby.query(`START_REPLICATION PHYSICAL ${rows[0]?.xlogpos}`).catch(() => {});
  const db = await connect({ url: server.url, embeddedFolder: '' });
  try {
    await waitFor(async () => (await sql`select from pg_stat_replication`.execute(db)).rows.length > 0);
    const findings = await look(db, server.url);
    expect(findings).toMatchObject([
      { status: 'warning', what: expect.stringContaining('A standby follows') },
    ]);
    expect(findings[0]?.fix).toContain('synchronous_standby_names');
  } finally {
    (standby as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await db.destroy();
  }
});
