import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../../jobs/index.ts';
import { findStoredSecrets, storesSecrets } from '../../config/environment/read-variable.ts';
import { withStateFolder } from '../../config/environment/state-folder.ts';
import { findUnusedVariables, type Misled } from '../../config/environment/unused-variables.ts';
import { findVariables, type OnBrokenFiles } from '../../config/load-config-file.ts';
import { databaseLocation, shortPath } from '../../config/locate.ts';
import { findPlainConnections } from '../../config/plain-connections.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import { errorCode } from '../../core/error-code.ts';
import { EXIT } from '../../core/exit-code.ts';
import { configurationError, KnownError, refusal } from '../../core/known-error.ts';
import type { Progress } from '../../core/progress.ts';
import { plural } from '../../core/text/plural.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { StoredVariables } from '../../core/variable.ts';
import { BASELINE } from '../../db/baseline.ts';
import { cancelStatements, connect, type Database } from '../../db/connect.ts';
import { hasMigrations, migrate, pendingMigrations } from '../../db/migrate.ts';
import { explainFailure } from '../../db/server/explain-failure.ts';
import { ping } from '../../db/server/inspect-server.ts';
import { findContinuityProblem, requireWholeLedger } from '../../ledger/continuity/compare-ledger.ts';
import { findBrokenRules } from '../../money/load-rules.ts';
import { endLeasesBefore } from '../../ops/lease.ts';
import { renderWarning } from '../../render/error.ts';
import { explainFolder } from '../../runs/explain-folder.ts';
import type { NamedConfig } from '../terminal/complete-commands.ts';
import type { Stopping } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';
import { findConfig, requireConfigPath } from './find-config.ts';
import { readEnvFile } from './read-env-file.ts';

/** Options of every command that reads the configuration. */
export type ConfigOptions = NamedConfig & {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  /**
   * Called with settings that have no effect, before the command does anything. The program sets it; it is
   * not an option of any command.
   */
  readonly onMisled?: (misled: Misled) => void;
  /** Called with the path of a configuration that was found, not named. The program sets it, too. */
  readonly onConfigFound?: (path: string) => void;
};

/** Variables that decide which database a command uses. */
const OF_DATABASE = ['DATABASE_URL', 'BI_DATABASE_URL'];

/**
 * Reads the environment file, if one is given, and the configuration, including values that AWS stores.
 * Reports settings that have no effect, and which configuration it found if nobody named one.
 *
 * @param onBrokenFiles given by what only reads: see `loadConfigFile`.
 * @param unusedAmong the variables that are reported if they have no effect; null: all.
 * @throws KnownError (exit 2) with all problems at once; `secret_store_unreachable` (exit 1).
 */
export async function openConfig(
  options: ConfigOptions,
  onBrokenFiles?: OnBrokenFiles,
  // What only looks at the database depends on no other variable.
  unusedAmong: readonly string[] | null = onBrokenFiles === undefined ? null : OF_DATABASE,
): Promise<PipelineConfig> {
  const shadowed = options.envFile === undefined ? [] : readEnvFile(options.envFile);
  const search = findConfig(options.config);
  const path = requireConfigPath(search);
  if (!search.isNamed) options.onConfigFound?.(shortPath(path));
  for (const one of shadowed) options.onMisled?.(one);
  const stored = await fetchStored(() => findVariables(path));
  const config = withStateFolder(
    withDataFolder(loadConfig(path, process.env, stored, onBrokenFiles), options.onMisled),
    process.env,
  );
  for (const one of findUnusedVariables(config, process.env, unusedAmong)) options.onMisled?.(one);
  requireFolder(config);
  return config;
}

/**
 * Fetches the values of variables that AWS stores. Takes no time if there are none.
 *
 * @param namesOf returns the variables that the configuration uses, so that values for other programs are not
 *   fetched.
 */
export async function fetchStored(namesOf: () => readonly string[]): Promise<StoredVariables> {
  if (!storesSecrets(process.env)) return new Map();
  const secrets = findStoredSecrets(namesOf(), process.env);
  const { fetchSecrets } = await import('../../config/aws/fetch-secrets.ts');
  return fetchSecrets(secrets, process.env);
}

/**
 * Moves the data folder to INFLUENCER_SYNC_DATA, for a configuration whose own folder is not writable: in an
 * image, or below /etc. This happens here and not in `loadConfig`, because the demo deletes its data folder
 * and must not delete this one.
 */
function withDataFolder(config: PipelineConfig, onMisled: ConfigOptions['onMisled']): PipelineConfig {
  const named = process.env.INFLUENCER_SYNC_DATA ?? '';
  if (named === '') return config;
  const beside = config.database.dataFolder;
  const dataFolder = resolve(named);
  if (dataFolder !== beside && existsSync(join(beside, 'journal')))
    onMisled?.({
      message: `${shortPath(beside)} has journals, but INFLUENCER_SYNC_DATA names ${shortPath(dataFolder)}, so they are not used.`,
      help: 'If the journals belong to this ledger, move them there while nothing runs. Otherwise delete them.',
    });
  return { ...config, database: { ...config.database, dataFolder } };
}

/** @throws KnownError `data_folder_unusable` (exit 2) if something else has the place of the data folder. */
function requireFolder(config: PipelineConfig): void {
  const { dataFolder } = config.database;
  if (statSync(dataFolder, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  try {
    readdirSync(dataFolder);
  } catch (error) {
    throw explainFolder(error, config) ?? error;
  }
}

/** Prints warnings about unencrypted connections. Every run and `serve` do this, because people rarely run `doctor`. */
export function warnOfPlainConnections(config: PipelineConfig, output: Output): void {
  for (const { message, help } of findPlainConnections(config, process.env.PGSSLMODE))
    output.warn(`Warning: ${message} ${help}`);
}

/**
 * Opens the database of the configuration for one piece of work, and closes it in any case. If the ledger lost claims, the
 * work does not begin, unless `onLost` says that it only reads.
 *
 * @throws KnownError `database_unreachable`, `database_refused`, `database_not_migrated`, or `database_lost`
 *   if the connection breaks during the work; what keeps every run from posting (exit 7).
 */
export async function withDatabase<Result>(
  config: PipelineConfig,
  work: (db: Database) => Promise<Result>,
  { migrated = true, stopping = null, onLost, isMoving = false }: DatabaseUse = {},
): Promise<Result> {
  const { url, dataFolder, statementMinutes } = config.database;
  if (migrated && isNewEmbedded(config)) throw await notMigrated(null, config);
  const statementLimitMs = statementMinutes * MS_PER_MINUTE;
  // Postgres shows it: only names of commands and jobs, never values that a person typed.
  const purpose = process.argv
    .slice(2, 4)
    .filter((word) => /^[a-z][\w.-]*$/i.test(word))
    .join(' ');
  const db = await connect({ url, embeddedFolder: dataFolder, purpose, statementLimitMs, isMoving });
  stopping?.beforeExit(() => cancelStatements(db));
  const forget = url === '' ? () => {} : cancelWhenKilled(db);
  try {
    await ping(db).catch((cause: unknown) => {
      throw unreachable(config, cause);
    });
    if (url === '') await endLeasesBefore(db);
    if (migrated) {
      if ((await pendingMigrations(db)).length > 0) throw await notMigrated(db, config);
      const problem = await findContinuityProblem(db, config);
      if (problem !== null) {
        if (onLost === undefined) throw problem;
        onLost(problem);
      }
    }
    return await work(db);
  } catch (error) {
    throw explainFailure(error, databaseLocation(config.database)) ?? explainFolder(error, config) ?? error;
  } finally {
    forget();
    await db.destroy();
  }
}

export type DatabaseUse = {
  /** False if the work needs no tables or creates them. It then asks itself whether the ledger lost claims. */
  readonly migrated?: boolean;
  /** Given by work that only reads (`reading`). Called before it begins if the ledger lost claims. */
  readonly onLost?: (problem: KnownError) => void;
  /** True for the move of an embedded database to a server, which may have been interrupted. */
  readonly isMoving?: boolean;
  /** Given by a command that handles signals itself and ends in order. */
  readonly stopping?: Stopping | null;
};

const MS_PER_MINUTE = 60_000;

/** Cancels the running statements on the server if a signal ends a command that does not handle signals. */
function cancelWhenKilled(db: Database): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  function onSignal(signal: NodeJS.Signals): void {
    if (process.listenerCount(signal) > 1) return;
    void cancelStatements(db).finally(() => process.exit(EXIT.interrupted));
  }
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/** Like `withDatabase`, but first creates or migrates the database. */
export async function withMigratedDatabase<Result>(
  config: PipelineConfig,
  { progress, stopping }: { progress: Pick<Progress, 'note'>; stopping: Stopping },
  work: (db: Database, isKept: boolean) => Promise<Result>,
): Promise<Result> {
  if (isNewEmbedded(config)) {
    const folder = shortPath(config.database.dataFolder);
    progress.note(`Creating the database ${folder}. This takes a few seconds, once.`);
  }
  return withDatabase(
    config,
    async (db) => {
      const applied = await migrate(db);
      if (applied.length > 0) progress.note(describeMigrations(applied));
      return work(db, true);
    },
    { migrated: false, stopping },
  );
}

function describeMigrations(names: readonly string[]): string {
  const [first, last] = [names[0], names.at(-1)];
  if (first === BASELINE) return 'Created the tables and views of the database.';
  return names.length === 1
    ? `Applied migration ${first}.`
    : `Applied ${names.length} migrations: ${first} to ${last}.`;
}

/**
 * Like `withDatabase`, for a plan: it creates no database and applies no migration. If there are no tables
 * yet, nothing was ever recorded, so a temporary database gives the same plan as the first run.
 *
 * @throws KnownError `database_not_migrated` (exit 2) if the tables are of another version; `ledger_swapped`
 *   (exit 7) if there are none and another ledger has posted from this data folder.
 * @param work receives whether the database is kept; whatever it stores in a temporary one is lost.
 */
export async function withPlanDatabase<Result>(
  config: PipelineConfig,
  { progress, stopping }: { progress: Pick<Progress, 'note'>; stopping: Stopping },
  work: (db: Database, isKept: boolean) => Promise<Result>,
): Promise<Result> {
  if (!isNewEmbedded(config)) {
    const planned = await withDatabase(
      config,
      async (db) => {
        if (!(await hasMigrations(db))) return null;
        if ((await pendingMigrations(db)).length > 0) throw await notMigrated(db, config);
        return { result: await work(db, true) };
      },
      { migrated: false, stopping },
    );
    if (planned !== null) return planned.result;
  }
  // A new ledger does not know the orders that another one has posted, so its plan would count them again.
  await requireWholeLedger(null, config);
  progress.note('Nothing has run yet. The plan uses a temporary database and stores nothing.');
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-plan-'));
  try {
    const database = { ...config.database, url: '', dataFolder: folder };
    return await withDatabase(
      { ...config, database },
      async (db) => {
        await migrate(db);
        return work(db, false);
      },
      { migrated: false, stopping },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns true if the embedded database is configured and does not exist yet. */
export function isNewEmbedded({ database }: PipelineConfig): boolean {
  return database.url === '' && !existsSync(join(database.dataFolder, 'postgres'));
}

async function notMigrated(db: Database | null, config: PipelineConfig): Promise<KnownError> {
  await requireWholeLedger(db, config);
  const isNew = isNewEmbedded(config);
  return refusal({
    code: 'database_not_migrated',
    message: isNew
      ? 'Nothing has run yet: there is no database.'
      : 'The database lacks tables of this version.',
    where: databaseLocation(config.database),
    help: `${isNew ? 'Create it' : 'Create or update them'}:  npx influencer-sync migrate\nA run does this automatically.`,
  });
}

/** Error codes with which Postgres refuses a user, a password or a database name. */
const REFUSED = ['28000', '28P01', '3D000', '42501'];

/** Error codes of a failed look-up of a host name. */
const UNKNOWN_NAME = ['ENOTFOUND', 'EAI_AGAIN'];

function unreachable(config: PipelineConfig, cause: unknown): KnownError {
  if (cause instanceof KnownError) return cause;
  const failure = explainFailure(cause, databaseLocation(config.database));
  const code = errorCode(cause) ?? 'unknown';
  const isRefused = REFUSED.includes(code);
  if (failure !== null && failure.details.code !== 'database_lost' && !isRefused) return failure;
  const details = { where: databaseLocation(config.database), safe: 'Nothing was sent.', cause };
  if (isRefused)
    return configurationError({
      ...details,
      code: 'database_refused',
      message: `The database refused the user, the password or the name (${code}).`,
      help: 'Check DATABASE_URL (database.url): user, password (special characters %-encoded) and database name.',
    });
  return new KnownError({
    ...details,
    code: 'database_unreachable',
    message: UNKNOWN_NAME.includes(code)
      ? `The host name of the database was not found (${code}).`
      : `The database does not answer (${code}).`,
    help: 'Check DATABASE_URL (database.url), and that the server runs and can be reached from this machine.',
  });
}

/** @throws KnownError (exit 2) if the configuration has no source with this name. */
export function findSource({ sources }: PipelineConfig, name: string): SourceSettings {
  const source = sources[name];
  if (source !== undefined) return source;
  throw usageError(`There is no source "${name}".`, `There are: ${Object.keys(sources).join(', ')}.`);
}

/**
 * Reads the configuration of a command that only reads. It works beside a codes.csv or terms.csv with mistakes, and
 * says so in one line for each file.
 */
export async function openConfigToRead(
  output: Pick<Output, 'warn' | 'terminal'>,
  options: ConfigOptions,
  unusedAmong?: null,
): Promise<PipelineConfig> {
  const broken: KnownError[] = [];
  const config = await openConfig(options, (error) => broken.push(error), unusedAmong);
  warnOfBrokenFiles(broken, output);
  warnOfBrokenTerms(config, output);
  return config;
}

/** Warns of files beside the configuration, before work that only reads. @param broken what the configuration found. */
export function warnOfBrokenFiles(
  broken: readonly KnownError[],
  output: Pick<Output, 'warn' | 'terminal'>,
): void {
  for (const error of broken) warnOfMistake(error, 'no run starts', output);
}

/** Warns of mistakes in terms.csv and fx.csv, before work that only reads. */
export function warnOfBrokenTerms(
  { statements }: PipelineConfig,
  output: Pick<Output, 'warn' | 'terminal'>,
): void {
  for (const error of findBrokenRules(statements)) warnOfMistake(error, 'earnings stay as they are', output);
}

/** Names the first mistake in a file, and how many others there are. */
function warnOfMistake(
  { details }: KnownError,
  effect: string,
  { warn, terminal }: Pick<Output, 'warn' | 'terminal'>,
): void {
  const { problems: [first, ...others] = [] } = details;
  const { where, message } = first ?? { where: details.where, message: details.message };
  const more = others.length === 0 ? '' : ` (and ${plural(others.length, 'more mistake')})`;
  warn(renderWarning(`${where}: ${message}${more} Until you correct it, ${effect}.`, terminal));
}

/**
 * Opens the database for work that only reads. If the ledger lost claims, it says so and goes on.
 *
 * @param but what else holds until this is settled.
 */
export function reading(
  { warn, terminal }: Pick<Output, 'warn' | 'terminal'>,
  but = 'and what follows may be incomplete',
): Required<Pick<DatabaseUse, 'onLost'>> {
  return {
    onLost({ details: { message, help } }) {
      warn(renderWarning(`${message} Until this is settled, nothing is posted, ${but}.`, terminal));
      warn(wrap(help, { width: terminal.columns, indent: '  ' }));
    },
  };
}
