import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { packageFile } from '../package/package-file.ts';
import { applyViews, areViewsStale, dropViews } from './apply-views.ts';
import type { Database } from './connect.ts';
import { hasTable } from './has-table.ts';
import { inPhase } from './phase.ts';
import { explainFailure } from './server/explain-failure.ts';

const FOLDER = packageFile('sql/migrations/');

/**
 * Each file of `sql/migrations/` is one migration. They are applied in the order of their names. Merged
 * migrations are immutable.
 */
const fromFiles: MigrationProvider = {
  async getMigrations() {
    const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
    const migrations: Record<string, Migration> = {};
    for (const file of files) {
      migrations[file.replace(/\.sql$/, '')] = {
        async up(db) {
          // A single DO block turns a file of many statements into one statement, which the protocol of
          // PGlite requires.
          const statements = await readFile(new URL(file, FOLDER), 'utf8');
          await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(db);
        },
      };
    }
    return migrations;
  },
};

/** Kysely's table of applied migrations: `name`, `timestamp`. */
const TABLE = { schema: 'public', name: 'influencer_sync_migrations' };

/**
 * Applies the migrations in one transaction, which holds the migration lock (`connect-server.ts`) until it
 * ends. If two processes find an empty database, one of them creates the table that is locked. The
 * transaction of the other one fails, and it starts again.
 */
async function migrateTogether(db: Database, attempt = 1): Promise<MigrationResultSet> {
  const trx = await db.startTransaction().execute();
  await sql`select set_config('lock_timeout', ${`${MIGRATING.lockLimitMs}ms`}, true)`.execute(trx);
  const result = await migrator(trx)
    .migrateToLatest()
    .catch((error: unknown): MigrationResultSet => ({ error }));
  if (result.error === undefined) {
    await trx.commit().execute();
    return result;
  }
  // If the connection is gone, there is nothing to roll back, and the first error is the relevant one.
  await trx
    .rollback()
    .execute()
    .catch(() => {});
  const isOvertaken = result.results === undefined && hasSqlState(result.error, TABLE_MADE_BY_ANOTHER);
  return isOvertaken && attempt < 3 ? migrateTogether(db, attempt + 1) : result;
}

/**
 * SQLSTATEs unique_violation (of the catalog), duplicate_table, and in_failed_sql_transaction, which Kysely's
 * second check causes.
 */
const TABLE_MADE_BY_ANOTHER = ['23505', '42P07', '25P02'];

const INSUFFICIENT_PRIVILEGE = '42501';

function hasSqlState(error: unknown, states: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && states.includes(String(error.code));
}

function migrator(db: Database): Migrator {
  return new Migrator({
    db,
    provider: fromFiles,
    migrationTableSchema: TABLE.schema,
    migrationTableName: TABLE.name,
    migrationLockTableName: `${TABLE.name}_lock`,
  });
}

/**
 * Represents `sql/views/` among the names of migrations. Applied after the migrations, and again whenever the
 * views change.
 */
const VIEWS = 'bi (views)';

/**
 * Names of the migrations that were not applied to this database yet, in order, and of the views if they are
 * outdated.
 *
 * @throws KnownError `database_of_another_version` (exit 2) if the database has migrations that this version
 * does not know.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const applied = await readApplied(db);
  const ours = Object.keys(await fromFiles.getMigrations());
  const pending = ours.filter((name) => !applied.has(name));
  const unknown = [...applied].filter((name) => !ours.includes(name)).sort();
  if (unknown.length > 0)
    throw ofAnotherVersion(`It has migrations that this version lacks: ${unknown.join(', ')}`);
  return pending.length > 0 || (await areViewsStale(db)) ? [...pending, VIEWS] : [];
}

/** Returns true if any migration was ever applied to this database. */
export async function hasMigrations(db: Database): Promise<boolean> {
  return (await readApplied(db)).size > 0;
}

/**
 * Reads the applied migrations without Kysely. Every command calls this, and Kysely would first read all
 * tables and columns, which takes the embedded database a fifth of a second.
 */
async function readApplied(db: Database): Promise<ReadonlySet<string>> {
  const table = `${TABLE.schema}.${TABLE.name}`;
  if (!(await hasTable(db, table))) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Brings the schema up to date: the migrations in one transaction, then the views in another. Drops the views
 * first, so that a migration may change the tables that they read. Changes nothing if nothing is pending, so
 * a user without the necessary privileges may call it.
 *
 * @returns the applied names, in order.
 * @throws KnownError `migration_failed` (exit 1), after which nothing of the failed migration remains;
 * `views_in_use` (exit 2).
 */
export function migrate(db: Database): Promise<string[]> {
  return inPhase(MIGRATING, () => applyPending(db));
}

/** Migrations may rewrite large tables, and wait for another process that is migrating. */
const MIGRATING = { name: 'Applying migrations', limitMs: 60 * 60_000, lockLimitMs: 10 * 60_000 };

async function applyPending(db: Database): Promise<string[]> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return [];
  const skipped = await skippedMigration(db, pending);
  if (skipped !== null) throw ofAnotherVersion(`It has migrations later than ${skipped}, but not that one`);
  if (pending.length > 1) await dropViews(db).catch(failed(VIEWS));
  const { error, results = [] } = await migrateTogether(db);
  if (error !== undefined) {
    failed(results.find((result) => result.status === 'Error')?.migrationName ?? 'unknown')(error);
  }
  const applied = results
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
  const hasNewViews = await applyViews(db).catch(failed(VIEWS));
  return hasNewViews ? [...applied, VIEWS] : applied;
}

/**
 * The first pending migration that is older than an applied one. If there is one, another version numbered
 * its migrations differently.
 */
async function skippedMigration(db: Database, pending: readonly string[]): Promise<string | null> {
  const last = [...(await readApplied(db))].sort().at(-1) ?? '';
  return pending.find((name) => name !== VIEWS && name < last) ?? null;
}

function ofAnotherVersion(why: string): KnownError {
  return new KnownError({
    code: 'database_of_another_version',
    message: `A newer or unreleased version of influencer-sync created this database. ${why}.`,
    help: 'Run the version that created it (git log sql/migrations/ shows which), or use another database (DATABASE_URL, database.url). A database of an unreleased version cannot be migrated.',
    safe: 'Nothing was read, changed or sent.',
    exitCode: EXIT.configuration,
  });
}

function failed(name: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof KnownError) throw error;
    // A missing privilege is explained below, with the way to grant it.
    const failure = hasSqlState(error, [INSUFFICIENT_PRIVILEGE]) ? null : explainFailure(error);
    if (failure !== null) throw failure;
    throw new KnownError({
      code: 'migration_failed',
      message: `Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`,
      help: hasSqlState(error, [INSUFFICIENT_PRIVILEGE])
        ? 'The database user needs the right to create schemas (GRANT CREATE ON DATABASE …).'
        : 'Please report this with the message. An earlier version that worked still works.',
      safe: 'The migration changed nothing.',
      exitCode: EXIT.crash,
      cause: error,
    });
  };
}
