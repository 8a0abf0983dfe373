import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration';
import { errorCode } from '../core/error-code.ts';
import { configurationError, KnownError } from '../core/known-error.ts';
import { packageFile } from '../core/package.ts';
import { applyViews, areViewsStale, dropViews } from './apply-views.ts';
import { BASELINE, LAST_BEFORE, REPLACED, versionOf } from './baseline.ts';
import { hasTable } from './has-table.ts';
import type { DatabaseTransaction } from './in-transaction.ts';
import { inPhase } from './phase.ts';
import { explainFailure } from './server/explain-failure.ts';
import { type Database, execute, rowsOf } from './statement.ts';

const FOLDER = packageFile('sql/migrations/');

/**
 * Each file of `sql/migrations/` is one migration. They are applied in the order of their names. Merged
 * migrations are immutable. The first one, the baseline, has the names of those that it replaces.
 */
const fromFiles: MigrationProvider = {
  async getMigrations() {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql')).sort();
    const later = files.map((file) => file.replace(/\.sql$/, '')).filter((name) => name !== BASELINE);
    return Object.fromEntries(
      [...REPLACED, ...later].map((name): [string, Migration] => [name, { up: (db) => apply(db, name) }]),
    );
  },
};

async function apply(db: Kysely<unknown>, name: string): Promise<void> {
  // Under the last of its names: on the tables of an earlier version it would fail, and nothing would be recorded.
  const file = name === REPLACED.at(-1) ? BASELINE : name;
  if (REPLACED.includes(file)) return;
  const statements = await readFile(new URL(`${file}.sql`, FOLDER), 'utf8');
  // A single DO block turns a file of many statements into one statement, which the protocol of PGlite requires.
  await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(db);
}

/** Names the baseline instead of the migrations that it replaces. */
function shown(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => (REPLACED.includes(name) ? BASELINE : name)))];
}

/** Kysely's table of applied migrations: `name`, `timestamp`. */
const TABLE = { schema: 'public', name: 'influencer_sync_migrations' };

/**
 * Applies the migrations and replaces the views in one transaction, which holds the lock of migrations until it
 * ends. If anything of it fails, the database is what it was, and the version that used it still works.
 * If two processes find an empty database, one of them creates the table that is locked. The transaction of the
 * other one fails, and it starts again.
 */
async function migrateTogether(db: Database, attempt = 1): Promise<string[]> {
  const trx = await db.startTransaction().execute();
  let result: MigrationResultSet | null = null;
  try {
    await execute(trx)`select set_config('lock_timeout', ${`${MIGRATING.lockLimitMs}ms`}, true)`;
    await lockMigrations(trx);
    // A migration may change the tables that the views read. Another process may have applied it meanwhile.
    if ((await pendingMigrations(trx)).some((name) => name !== VIEWS)) await dropViews(trx);
    result = await new Migrator({
      db: trx,
      provider: fromFiles,
      migrationTableSchema: TABLE.schema,
      migrationTableName: TABLE.name,
      migrationLockTableName: `${TABLE.name}_lock`,
    })
      .migrateToLatest()
      .catch((error: unknown): MigrationResultSet => ({ error }));
    if (result.error !== undefined) throw result.error;
    const hasNewViews = await applyViews(trx);
    await trx.commit().execute();
    const applied = result.results?.filter(({ status }) => status === 'Success') ?? [];
    return shown([...applied.map(({ migrationName }) => migrationName), ...(hasNewViews ? [VIEWS] : [])]);
  } catch (error) {
    // If the connection is gone, there is nothing to roll back, and the first error is the relevant one.
    await trx
      .rollback()
      .execute()
      .catch(() => {});
    const hasBegun = result?.results !== undefined;
    const isOvertaken = !hasBegun && TABLE_MADE_BY_ANOTHER.includes(errorCode(error) ?? '');
    if (isOvertaken && attempt < 3) return migrateTogether(db, attempt + 1);
    const failed = result?.results?.find(({ status }) => status === 'Error')?.migrationName;
    throw explainFailed(failed ?? (result?.error === undefined ? VIEWS : 'unknown'), error);
  }
}

/** Waits until no other process migrates. Only the owner of the table can take this lock. */
async function lockMigrations(trx: DatabaseTransaction): Promise<void> {
  const table = `${TABLE.schema}.${TABLE.name}_lock`;
  if (await hasTable(trx, table)) await sql`lock table ${sql.table(table)} in exclusive mode`.execute(trx);
}

/**
 * SQLSTATEs unique_violation (of the catalog), duplicate_table, and in_failed_sql_transaction, which Kysely's
 * second check causes.
 */
const TABLE_MADE_BY_ANOTHER = ['23505', '42P07', '25P02'];

const INSUFFICIENT_PRIVILEGE = '42501';

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
 * does not know, or lacks one before its last; `database_of_earlier_version` (exit 2) if it has only some of those
 * that the baseline replaces.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const applied = await readApplied(db);
  const ours = Object.keys(await fromFiles.getMigrations());
  const unknown = [...applied].filter((name) => !ours.includes(name)).sort();
  if (unknown.length > 0)
    throw ofAnotherVersion(`It has migrations that this version lacks: ${unknown.join(', ')}`);
  const pending = ours.filter((name) => !applied.has(name));
  const last = [...applied].sort().at(-1) ?? '';
  const skipped = pending.find((name) => name < last);
  if (skipped !== undefined)
    throw ofAnotherVersion(`It has migrations later than ${skipped}, but not that one`);
  if (applied.size > 0 && pending.some((name) => REPLACED.includes(name)))
    throw configurationError({
      code: 'database_of_earlier_version',
      message: `This database has the tables of ${versionOf(last)}: its last migration is ${last}. This version upgrades databases of version ${LAST_BEFORE} and later.`,
      help: `Run \`migrate\` of version ${LAST_BEFORE} on this database, which has the migrations in between, and then \`migrate\` of this version. docs/upgrading.md has the commands.`,
      safe: 'Nothing was read, changed or sent.',
    });
  return pending.length > 0 || (await areViewsStale(db)) ? shown([...pending, VIEWS]) : [];
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
  const rows = await rowsOf<{ name: string }>(db)`select name from ${sql.table(table)}`;
  return new Set(rows.map(({ name }) => name));
}

/**
 * Brings the schema up to date: migrations and views in one transaction. Changes nothing if nothing is pending,
 * so a user without the necessary privileges may call it.
 *
 * @returns the applied names, in order.
 * @throws KnownError `migration_failed` (exit 1) and `views_in_use` (exit 2), after which the database is what it
 * was before.
 */
export function migrate(db: Database): Promise<string[]> {
  return inPhase(MIGRATING, () => applyPending(db));
}

/** Migrations may rewrite large tables, and wait for another process that is migrating. */
const MIGRATING = { name: 'Applying migrations', limitMs: 60 * 60_000, lockLimitMs: 10 * 60_000 };

async function applyPending(db: Database): Promise<string[]> {
  return (await pendingMigrations(db)).length === 0 ? [] : migrateTogether(db);
}

function ofAnotherVersion(why: string): KnownError {
  return configurationError({
    code: 'database_of_another_version',
    message: `A newer or unreleased version of influencer-sync created this database. ${why}.`,
    help: 'Run the version that created it (git log sql/migrations/ shows which), or use another database (DATABASE_URL, database.url). A database of an unreleased version cannot be migrated.',
    safe: 'Nothing was read, changed or sent.',
  });
}

function explainFailed(name: string, error: unknown): KnownError {
  if (error instanceof KnownError) return error;
  // A missing privilege is explained below, with the way to grant it.
  const lacksRight = errorCode(error) === INSUFFICIENT_PRIVILEGE;
  const failure = lacksRight ? null : explainFailure(error);
  if (failure !== null) return failure;
  return new KnownError({
    code: 'migration_failed',
    message: `Migration ${shown([name])} failed: ${error instanceof Error ? error.message : String(error)}`,
    help: lacksRight
      ? 'The database user needs the right to create schemas (GRANT CREATE ON DATABASE …).'
      : 'Please report this with the message. An earlier version that worked still works.',
    safe: 'Nothing was changed: neither a table nor a view.',
    cause: error,
  });
}
