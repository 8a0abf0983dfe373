import { hostname } from 'node:os';
import type pg from 'pg';
import { configurationError } from '../../core/known-error.ts';
import type { WireClient } from './cancel-request.ts';

/** Postgres truncates application_name to this length. */
const NAME_BYTES = 63;

/**
 * The name that `pg_stat_activity` shows for this process, so that a person who finds a lock taken can
 * identify the holder. It is unique, so that the process finds its own sessions, even behind a pooler.
 *
 * @param purpose for example `run orders`.
 */
export function applicationName(purpose: string): string {
  const end = ` ${process.pid}@${hostname().slice(0, 20)}`;
  const name = `influencer-sync ${purpose}`.trim().replace(/[^\x20-\x7e]/g, '?');
  return name.slice(0, NAME_BYTES - end.length) + end;
}

/**
 * Session settings that must not depend on the role, the database or the server:
 *
 * - Statements and locks are written for read committed. With a stricter default they would fail with
 *   serialization errors.
 * - `statement-watch.ts` applies our own time limits, by phase. pg_dump overrides the limits of the server
 *   for the same reason.
 * - `lock_timeout` is a fallback: this process should have ended the wait earlier.
 * - A plan is a transaction in which files are read, so it may be idle for a long time.
 * - The driver reads times, intervals and bytes in one format only, numbers must come back with all their digits, and
 *   a day is a day in UTC unless a statement names a zone.
 * - Statements name the schema of each table; the table of migrations is in `public`. What they say (`=`, strings,
 *   names of tables) means the same everywhere.
 */
export const SESSION_SETTINGS = {
  default_transaction_isolation: 'read committed',
  statement_timeout: '0',
  lock_timeout: '35s',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  search_path: 'public',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  quote_all_identifiers: 'off',
} as const;

/** Those of them that decide what a statement means and what the driver reads, and other values that mean the same. */
const MEANINGS: Readonly<Partial<Record<keyof typeof SESSION_SETTINGS, readonly string[]>>> = {
  DateStyle: ['ISO, DMY', 'ISO, YMD'],
  IntervalStyle: [],
  TimeZone: ['Etc/UTC', 'UCT', 'Etc/UCT', 'GMT', 'Etc/GMT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal'],
  extra_float_digits: ['2', '3'],
  bytea_output: [],
  standard_conforming_strings: [],
  transform_null_equals: [],
  array_nulls: [],
};

/** How soon a server on Linux notices that this process is gone, and stops its statement. */
const NOTICE_AFTER = '2s';

export type PreparedSession = {
  /** False behind a pooler, where the next statement may reach another session. */
  readonly ownsSession: boolean;
};

/**
 * Sets up a new session. Does nothing behind a pooler, where sessions are shared and the settings would
 * remain for other users. A pooler is detected by its process id, which differs from that of the server.
 *
 * @throws KnownError `database_encoding`, `database_settings` (exit 2).
 * @param options.sortMemoryMb minimum for each sort; 0 keeps the setting of the server.
 */
export async function prepareSession(
  client: WireClient,
  { sortMemoryMb }: { sortMemoryMb: number },
): Promise<PreparedSession> {
  const ownId = Number(client.processID);
  const settings = Object.entries(SESSION_SETTINGS).map(
    ([name, value]) => `perform set_config('${name}', '${value}', false);`,
  );
  // Several statements in one query have a result each, which the driver's types do not say.
  const results = (await client.query(`do $session$ begin
    if pg_backend_pid() <> ${ownId} then return; end if;
    ${settings.join('\n    ')}
    if pg_size_bytes(current_setting('work_mem')) < ${sortMemoryMb} * 1048576 then
      perform set_config('work_mem', '${sortMemoryMb}MB', false);
    end if;
    begin
      perform set_config('client_connection_check_interval', '${NOTICE_AFTER}', false);
    exception when others then null; -- A server that cannot: it is not on Linux.
    end;
    begin
      perform set_config('transaction_timeout', '0', false);
    exception when others then null; -- Since Postgres 17.
    end;
  end $session$;
  select pg_backend_pid() = ${ownId} as owns_session, current_setting('server_encoding') as encoding,
    quote_ident(current_user) as role, quote_ident(current_database()) as database,
    (select json_object_agg(name, current_setting(name)) from unnest(array['${Object.keys(MEANINGS).join("', '")}']) as name) as settings`)) as unknown as readonly pg.QueryResult<{
    owns_session: boolean;
    encoding: string;
    role: string;
    database: string;
    settings: Readonly<Record<string, string>>;
  }>[];
  const session = results[1]?.rows[0];
  if (session === undefined) return { ownsSession: false };
  const { encoding, role, database, settings: found, owns_session: ownsSession } = session;
  // Names, codes and answers of the service have letters of all scripts.
  if (encoding !== 'UTF8')
    throw configurationError({
      code: 'database_encoding',
      message: `The database has the encoding ${encoding}, which cannot store every letter that files and answers contain.`,
      help: "Create a database with UTF8 and set database.url (DATABASE_URL) to it:  create database influencer_sync encoding 'UTF8' template template0",
      safe: 'Nothing was read or sent.',
    });
  const different = Object.entries(MEANINGS).flatMap(([name, equals]) => {
    const value = SESSION_SETTINGS[name as keyof typeof MEANINGS];
    if (found[name] === value || equals.includes(found[name] ?? '')) return [];
    return `alter role ${role} in database ${database} set ${name} = '${value}';`;
  });
  // They are those of the role: to change them would change the sessions of other users.
  if (different.length > 0)
    throw configurationError({
      code: 'database_settings',
      message: `The database is behind a connection pooler, and its settings change what times, days or numbers mean. They have to be:\n  ${different.join('\n  ')}`,
      help: 'Execute these statements as the role itself or as an administrator, then let the pooler connect again (RECONNECT in pgbouncer). Or set database.url (DATABASE_URL) to the server itself.',
      safe: 'Nothing was read or sent.',
    });
  return { ownsSession };
}
