import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { Database } from './connect.ts';

const FOLDER = new URL('../../sql/migrations/', import.meta.url);

/** One file of `sql/migrations/` is one migration, in the order of the names. Merged ones are immutable. */
const fromFiles: MigrationProvider = {
  async getMigrations() {
    const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
    const migrations: Record<string, Migration> = {};
    for (const file of files) {
      migrations[file.replace(/\.sql$/, '')] = {
        async up(db) {
          // As one DO block a file of many statements is one statement, which PGlite's protocol needs.
          const statements = await readFile(new URL(file, FOLDER), 'utf8');
          await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(db);
        },
      };
    }
    return migrations;
  },
};

function migrator(db: Database): Migrator {
  return new Migrator({
    db,
    provider: fromFiles,
    migrationTableSchema: 'public',
    migrationTableName: 'influencer_sync_migrations',
    migrationLockTableName: 'influencer_sync_migrations_lock',
  });
}

/** Names of the migrations that this database has not had yet, in order. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const all = await migrator(db).getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

/**
 * Brings the schema up to date, all in one transaction.
 *
 * @returns the names that were applied, in order.
 * @throws KnownError `migration_failed` (exit 1); nothing of a failed migration stays.
 */
export async function migrate(db: Database): Promise<string[]> {
  const { error, results } = await migrator(db).migrateToLatest();
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'unknown';
    throw new KnownError({
      code: 'migration_failed',
      message: `Migration ${failed} failed: ${error instanceof Error ? error.message : String(error)}`,
      help: 'Nothing of it was kept. The database user needs the right to create schemas (GRANT CREATE ON DATABASE …).',
      exitCode: EXIT.crash,
      cause: error,
    });
  }
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}
