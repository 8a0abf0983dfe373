import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { createTestDatabase, runStatement, urlOf } from '../support/test-database.ts';

/** A deployment whose database can be copied while nothing is connected to it. */
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
  await runStatement(serverUrl, `create database ${name} template ${original}`);
  onTestFinished(() => runStatement(serverUrl, `drop database if exists ${name} with (force)`));
  return urlOf(serverUrl, name);
}

/** `DATABASE_URL` is left out: a new embedded database takes its place. */
export async function useEmbedded(shop: Workshop): Promise<void> {
  delete shop.env.DATABASE_URL;
  await layEmbeddedDatabase(join(shop.folder, '.data'));
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
