import { hostname } from 'node:os';
import type { WireClient } from './cancel-request.ts';

/** Postgres cuts an application_name here. */
const NAME_BYTES = 63;

/**
 * What `pg_stat_activity` shows of this process, so that a person who finds a lock taken knows by whom. It is unique, so that the process finds
 * its own sessions, also behind a pooler.
 *
 * @param purpose for example `run orders`.
 */
export function applicationName(purpose: string): string {
  const end = ` ${process.pid}@${hostname().slice(0, 20)}`;
  const name = `influencer-sync ${purpose}`.trim().replace(/[^\x20-\x7e]/g, '?');
  return name.slice(0, NAME_BYTES - end.length) + end;
}

/**
 * What a session of ours is like, whatever the role, the database or the server has set:
 * - Statements and locks are written for read committed; under a stricter default they would fail with serialization errors.
 * - Limits of statements are ours (`statement-watch.ts`), by phase; pg_dump overrides the server's for the same reason.
 * - `lock_timeout` is the server's own end of a wait that this process should have ended before.
 * - A plan is a transaction in which files are read: it may be idle for long.
 */
export const SESSION_SETTINGS = {
  default_transaction_isolation: 'read committed',
  statement_timeout: '0',
  lock_timeout: '35s',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
} as const;

/** A server on Linux then notices that this process is gone while it works for it, and stops. */
const NOTICE_AFTER = '2s';

/**
 * Sets up a new session. Not behind a pooler, where a session is shared with others and what is set would stay with it: a pooler tells its
 * clients another process id than the server's.
 */
export async function prepareSession(client: WireClient): Promise<void> {
  const settings = Object.entries(SESSION_SETTINGS).map(
    ([name, value]) => `perform set_config('${name}', '${value}', false);`,
  );
  await client.query(`do $session$ begin
    if pg_backend_pid() <> ${Number(client.processID)} then return; end if;
    ${settings.join('\n    ')}
    begin
      perform set_config('client_connection_check_interval', '${NOTICE_AFTER}', false);
    exception when others then null; -- A server that cannot: it is not on Linux.
    end;
    begin
      perform set_config('transaction_timeout', '0', false);
    exception when others then null; -- Since Postgres 17.
    end;
  end $session$`);
}
