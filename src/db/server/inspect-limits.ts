import { sql } from 'kysely';
import type { Database } from '../connect.ts';
import { SESSION_SETTINGS } from './session.ts';

/** What a server, a database or a role may have set that keeps a run from its work, or makes a commit less than certain. */
export type ServerLimits = {
  /** It follows another server and takes no writes. */
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /** Sessions are set up by this process and not shared; false behind a pooler, where the settings of the role count. */
  readonly isOwnSession: boolean;
  /** As a new session has it: `read committed`. */
  readonly isolation: string;
  /** As a new session has it; 0 is none. */
  readonly statementTimeoutMs: number;
  /** Connections that this user may still open, those of this process not counted. */
  readonly connectionsLeft: number;
  /** Servers that receive this one's commits, and may be promoted, without that a commit waits for one of them. */
  readonly asynchronousStandbys: number;
};

/** Asks a server for its limits. What this user may not see of other sessions is counted all the same. */
export async function inspectLimits(db: Database): Promise<ServerLimits> {
  const { rows } = await sql<ServerLimits>`
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
       from pg_stat_replication where coalesce(sync_state, 'async') = 'async')::float8 as "asynchronousStandbys"`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the server did not answer');
  return row;
}
