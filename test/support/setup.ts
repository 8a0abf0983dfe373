import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { connect, type Database } from '../../src/db/connect.ts';
import { suiteDatabases } from './absent-server.ts';
import { createEmbeddedDatabase } from './embedded-database.ts';
import { createTestDatabase } from './test-database.ts';

export type Stage = {
  readonly db: Database;
  readonly databaseUrl: string;
  /** A private temporary folder. */
  readonly folder: string;
};

/**
 * Creates a Postgres database, migrated or without a schema, and a private folder for a test. Both are removed when
 * the test ends.
 */
export async function setup(content: 'migrated' | 'empty' = 'migrated'): Promise<Stage> {
  const database = await createTestDatabase(suiteDatabases(), content);
  const db = await connect({ url: database.url, embeddedFolder: '' });
  const folder = makeTestFolder();
  onTestFinished(async () => {
    await db.destroy();
    await database.drop();
  });
  return { db, databaseUrl: database.url, folder };
}

/** Creates an embedded database instead: migrated, or without a schema. */
export async function setupEmbedded(content: 'migrated' | 'empty' = 'migrated'): Promise<Database> {
  const { db, drop } = await createEmbeddedDatabase(content);
  onTestFinished(drop);
  return db;
}

/** Creates a folder for a test that needs no database. */
export function makeTestFolder(): string {
  const folder = mkdtempSync(join(inject('suiteFolder'), 'test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
