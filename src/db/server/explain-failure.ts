import { errorCode } from '../../core/error-code.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { isConnectionLost } from './connection-lost.ts';

type Failure = {
  readonly code: string;
  readonly message: string;
  readonly help: string;
  readonly exitCode?: ExitCode;
};

const NOTHING_TWICE =
  'The failed statement changed nothing. Answers of the service that the database did not store are in the spool of the data folder. The next run continues from there and posts nothing twice.';

const ENDED: Failure = {
  code: 'database_lost',
  message: 'The database server ended the connection: {detail}.',
  help: 'Run the command again when the server is back.',
};

const CORRUPTED: Failure = {
  code: 'database_damaged',
  message: 'A table or an index of the database is damaged: {detail}.',
  help: 'Make a backup before you run anything again. REINDEX repairs an index; restore a table from a backup. See docs/database.md.',
};

/**
 * Explains errors of a server that are caused neither by a statement nor by a bug, by SQLSTATE or its class (Postgres,
 * appendix A). `{detail}` is the message of the server, which names tables, settings and roles, but never
 * values.
 */
const FAILURES: Readonly<Record<string, Failure>> = {
  '53100': {
    code: 'database_full',
    message: 'The database server has no disk space left: {detail}.',
    help: 'Free space on the server, or enlarge its volume. Then run the command again.',
  },
  '53200': {
    code: 'database_out_of_memory',
    message: 'The database server is out of memory: {detail}.',
    help: 'Give the server more memory, or lower work_mem and max_connections. Then run the command again.',
  },
  '53300': {
    code: 'too_many_connections',
    message: 'The database has no connection left: {detail}.',
    help: 'End unneeded sessions, raise max_connections or the limit of the role or database, or put a pooler in front. `doctor` counts the sessions.',
  },
  '53400': {
    code: 'database_limit_exceeded',
    message: 'A limit of the database server was exceeded: {detail}.',
    help: 'Raise that limit (temp_file_limit, for example) for the role of influencer-sync. Then run the command again.',
  },
  '25006': {
    code: 'database_read_only',
    message: 'The database is read-only: {detail}.',
    help: 'Point database.url to the primary server and not to a standby. If the role or database is set to read-only:  alter role … reset default_transaction_read_only',
  },
  '42501': {
    code: 'database_permission_denied',
    message: 'The user of the database lacks a right: {detail}.',
    help: 'Grant it as the owner of the tables, for example with `npx influencer-sync migrate --roles`, or use the user that ran the migrations. `doctor` lists the missing rights.',
    exitCode: EXIT.configuration,
  },
  '57014': {
    code: 'statement_cancelled',
    message: 'The database server ended a statement: {detail}.',
    help: 'If statement_timeout ended it: behind a pooler the setting of the role counts:  alter role … set statement_timeout = 0  (influencer-sync has its own limits). Otherwise somebody cancelled it; run the command again.',
  },
  '55P03': {
    code: 'lock_timed_out',
    message: 'A lock of the database was not free in time: {detail}.',
    help: 'End the session that holds it (`select * from pg_stat_activity` shows the sessions), then run the command again.',
  },
  '40001': {
    code: 'transaction_undone',
    message: 'The database rolled back a transaction in favour of another one: {detail}.',
    help: "Run the command again. Behind a pooler, set the role to the isolation that influencer-sync expects:  alter role … set default_transaction_isolation = 'read committed'",
  },
  '40P01': {
    code: 'transaction_undone',
    message: 'The database rolled back a transaction in favour of another one: {detail}.',
    help: 'Run the command again. If it happens often, look for other programs that lock tables of influencer-sync.',
  },
  '26000': {
    code: 'session_exchanged',
    message: 'The database session lost its prepared statements within a transaction: {detail}.',
    help: 'Run the command again. If it happens often, a pooler exchanges sessions: let it pool transactions (pool_mode = transaction), or connect without it.',
  },
  '25P03': {
    code: 'session_timed_out',
    message: 'The database server ended a session that was idle in a transaction: {detail}.',
    help: 'Behind a pooler the setting of the role counts:  alter role … set idle_in_transaction_session_timeout = 0  Then run the command again.',
  },
  '25P04': {
    code: 'session_timed_out',
    message: 'The database server ended a transaction that took too long: {detail}.',
    help: 'Behind a pooler the setting of the role counts:  alter role … set transaction_timeout = 0  Then run the command again.',
  },
  '57P05': {
    code: 'session_timed_out',
    message: 'The database server ended an idle session: {detail}.',
    help: 'Run the command again, or raise idle_session_timeout for the role of influencer-sync.',
  },
  '57P01': ENDED,
  '57P02': ENDED,
  '57P03': {
    code: 'database_lost',
    message: 'The database server does not accept connections now: {detail}.',
    help: 'Run the command again when the server is up.',
  },
  // The class of errors of the server’s operating system, for example a failing disk.
  '58': {
    code: 'database_system_error',
    message: 'The operating system of the database server failed: {detail}.',
    help: 'Read the log of the server: its disk may be full or damaged. Then run the command again.',
  },
  // data_corrupted and index_corrupted.
  XX001: CORRUPTED,
  XX002: CORRUPTED,
};

/** A plan that a session keeps no longer fits its table. Other errors with this SQLSTATE are bugs. */
const PLAN_CHANGED: Failure = {
  code: 'table_changed',
  message: 'A migration changed a table while a transaction used it: {detail}.',
  help: 'Run the command again.',
};

/**
 * Converts a database error that is not a bug to one that explains what happened and what to do. Null for any
 * other error.
 *
 * @param where host and name of the database, without user and password.
 */
export function explainFailure(error: unknown, where?: string): KnownError | null {
  if (error instanceof KnownError || !(error instanceof Error)) return null;
  const state = errorCode(error) ?? '';
  const failure = isPlanChanged(error, state) ? PLAN_CHANGED : findFailure(state);
  const place = where === undefined ? {} : { where };
  if (failure !== null)
    return new KnownError({
      code: failure.code,
      message: failure.message.replace('{detail}', () => `${detailOf(error)} (${state})`),
      ...place,
      help: failure.help,
      safe: NOTHING_TWICE,
      exitCode: failure.exitCode ?? EXIT.crash,
      cause: error,
    });
  if (!isConnectionLost(error)) return null;
  return new KnownError({
    code: 'database_lost',
    message: `The connection to the database was lost${state === '' ? '' : ` (${state})`}.`,
    ...place,
    help: 'Run the command again when the database is back.',
    safe: NOTHING_TWICE,
    cause: error,
  });
}

/** The name of the server's function identifies the error in any language of the server. */
function isPlanChanged(error: Error, state: string): boolean {
  return state === '0A000' && 'routine' in error && error.routine === 'RevalidateCachedQuery';
}

function findFailure(state: string): Failure | null {
  return /^[0-9A-Z]{5}$/.test(state) ? (FAILURES[state] ?? FAILURES[state.slice(0, 2)] ?? null) : null;
}

function detailOf(error: Error): string {
  const holders = 'lockHolders' in error ? `; held by ${String(error.lockHolders)}` : '';
  return `${error.message.replace(/\.$/, '')}${holders}`;
}
