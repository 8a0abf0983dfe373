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

/** Kysely's table of what was applied: `name`, `timestamp`. */
const TABLE = { schema: 'public', name: 'influencer_sync_migrations' };

/**
 * In one transaction, which holds the lock of the migrations (`server-dialect.ts`) until it ends. Where two processes find an empty
 * database, one of them makes the table that is locked, and the other one's transaction fails: it begins again.
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
  // Where the connection is gone there is nothing to roll back, and the first error is the one that counts.
  await trx
    .rollback()
    .execute()
    .catch(() => {});
  const isOvertaken = result.results === undefined && hasSqlState(result.error, TABLE_MADE_BY_ANOTHER);
  return isOvertaken && attempt < 3 ? migrateTogether(db, attempt + 1) : result;
}

/** SQLSTATE unique_violation (of the catalog), duplicate_table, and in_failed_sql_transaction, with which Kysely's second look ends. */
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

/** What stands for `sql/views/` among the names of migrations: applied after them, and again whenever it changes. */
const VIEWS = 'bi (views)';

/**
 * Names of the migrations that this database has not had yet, in order, and of the views if they are not as they should be.
 *
 * @throws KnownError `database_of_another_version` (exit 2) where it has had migrations that this version does not know.
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

/** Whether any migration was ever applied to this database. */
export async function hasMigrations(db: Database): Promise<boolean> {
  return (await readApplied(db)).size > 0;
}

/** Every command asks. Kysely would read all tables and columns first, which takes the embedded database a fifth of a second. */
async function readApplied(db: Database): Promise<ReadonlySet<string>> {
  const table = `${TABLE.schema}.${TABLE.name}`;
  if (!(await hasTable(db, table))) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Brings the schema up to date: the migrations in one transaction, then the views in one. The views are dropped first, so that a
 * migration may change what they read. When nothing is pending nothing is touched, so a user without the right to do so may call it.
 *
 * @returns the names that were applied, in order.
 * @throws KnownError `migration_failed` (exit 1); nothing of a failed migration stays. `views_in_use` (exit 2).
 */
export function migrate(db: Database): Promise<string[]> {
  return inPhase(MIGRATING, () => applyPending(db));
}

/** Large tables may be rewritten, and another process that does so is waited for. */
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

/** The first that is pending although a later one was applied: then another version numbered them otherwise. */
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
    // A right that is missing is explained below, with how to give it.
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
