import { randomInt } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

/** A deployment whose database can be copied and replaced while nothing is connected to it. */
export async function openReplaceable(options: WorkshopOptions = {}): Promise<Workshop> {
  const database = await createTestDatabase(suiteDatabases());
  onTestFinished(() => database.drop());
  return openWorkshop({ ...options, databaseUrl: database.url });
}

/**
 * What a backup of the database holds now: a copy of it, byte for byte, as `pg_dump` and restore make one.
 *
 * @returns its address.
 */
export async function backUp(shop: Workshop): Promise<string> {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}backup${randomInt(2 ** 40).toString(36)}`;
  const original = nameOf(shop.env.DATABASE_URL ?? '');
  await execute(serverUrl, `create database ${name} template ${original}`);
  onTestFinished(() => execute(serverUrl, `drop database if exists ${name} with (force)`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** A database of before takes the place of the one that processes are connected to, as when a standby that lacked commits takes over. */
export async function failOver(shop: Workshop, backupUrl: string): Promise<void> {
  const { serverUrl } = suiteDatabases();
  const name = nameOf(shop.env.DATABASE_URL ?? '');
  const backup = nameOf(backupUrl);
  await execute(serverUrl, `alter database ${name} allow_connections false`);
  await execute(
    serverUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
  await waitFor(async () => (await sessionsOf(serverUrl, name)) === 0);
  await execute(serverUrl, `alter database ${name} rename to ${name}_gone`);
  await execute(serverUrl, `alter database ${backup} rename to ${name}`);
  onTestFinished(() => execute(serverUrl, `drop database if exists ${name}_gone with (force)`));
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function sessionsOf(serverUrl: string, name: string): Promise<number> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select count(*)::int as sessions from pg_stat_activity where datname = $1',
      [name],
    );
    return (rows[0] as { sessions: number }).sessions;
  } finally {
    await client.end();
  }
}

async function execute(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
