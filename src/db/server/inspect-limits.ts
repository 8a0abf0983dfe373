import type { Database } from '../connect.ts';
import { rowOf } from '../statement.ts';
import { SESSION_SETTINGS } from './session.ts';

/** Settings of a server, a database or a role that can make a run fail, or make commits less durable. */
export type ServerLimits = {
  /** The server follows another one and accepts no writes. */
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /**
   * True if this process can configure its sessions. False behind a pooler, which shares sessions, so that
   * the settings of the role apply.
   */
  readonly isOwnSession: boolean;
  /** Default of a new session, for example `read committed`. */
  readonly isolation: string;
  /** Default of a new session. 0 means no limit. */
  readonly statementTimeoutMs: number;
  /** Number of connections that this user may still open, not counting those of this process. */
  readonly connectionsLeft: number;
  /** Number of standby servers that could be promoted and for which commits do not wait. */
  readonly asynchronousStandbys: number;
};

/** Reads the limits of a server. Sessions that this user may not inspect are counted too. */
export async function inspectLimits(db: Database): Promise<ServerLimits> {
  const row = await rowOf<ServerLimits>(db)`
    with activity as (select * from pg_stat_activity where backend_type = 'client backend'),
    setting as (select name, setting, reset_val from pg_settings),
    me as (select * from pg_roles where rolname = current_user),
    -- Each limit with how much of it is used; -1 means that there is none, and superusers are under the first one only.
    limits as (
      select (select setting::int from setting where name = 'max_connections')
          - (select coalesce(sum(setting::int), 0) from setting
             where name in ('superuser_reserved_connections', 'reserved_connections') and not (select rolsuper from me)) as at_most,
        (select count(*) from activity) as used
      union all
      select rolconnlimit, (select count(*) from activity where usename = rolname) from me where rolconnlimit >= 0 and not rolsuper
      union all
      select datconnlimit, (select count(*) from activity a where a.datname = d.datname)
      from pg_database d where datname = current_database() and datconnlimit >= 0 and not (select rolsuper from me)
    )
    select pg_is_in_recovery() as "isStandby",
      (select reset_val = 'on' from setting where name = 'default_transaction_read_only') as "isReadOnly",
      current_setting('lock_timeout') = ${SESSION_SETTINGS.lock_timeout} as "isOwnSession",
      (select reset_val from setting where name = 'default_transaction_isolation') as isolation,
      (select reset_val::float8 from setting where name = 'statement_timeout') as "statementTimeoutMs",
      (select min(at_most - used) from limits)::float8
        + (select count(*) from activity where application_name = current_setting('application_name'))::float8 as "connectionsLeft",
      -- Behind synchronous_standby_names a commit waits; the name of a standby is hidden from most users, that it is there is not.
      (select case when current_setting('synchronous_standby_names') = '' then count(*) else 0 end
       from pg_stat_replication where coalesce(sync_state, 'async') = 'async')::float8 as "asynchronousStandbys"`;
  if (row === undefined) throw new Error('the server did not answer');
  return row;
}
