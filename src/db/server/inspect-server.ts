import { APP_ROLE, type FunctionRight, functionRights } from '../create-roles.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../statement.ts';
import { SESSION_SETTINGS } from './session.ts';

/** Version 15.0, in the format of `server_version_num`. */
export const OLDEST_VERSION = 150_000;

export type ServerFacts = {
  /** For example `17.2`. */
  readonly version: string;
  readonly versionNumber: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** Whether this user may create schemas, as migrations do. */
  readonly mayCreate: boolean;
};

/** Reads the version, settings and privileges of a server. */
export async function inspectServer(db: Database): Promise<ServerFacts> {
  const row = await rowOf<Omit<ServerFacts, 'versionNumber'> & { versionNumber: string }>(db)`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('server_version_num') as "versionNumber",
      current_setting('fsync')::boolean as fsync,
      current_setting('full_page_writes')::boolean as "fullPageWrites",
      has_database_privilege(current_database(), 'CREATE') as "mayCreate"`;
  if (row === undefined) throw new Error('the server did not answer');
  return { ...row, versionNumber: Number(row.versionNumber) };
}

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
             where name in ('superuser_reserved_connections', 'reserved_connections')
               and not (select rolsuper from me)) as at_most,
        (select count(*) from activity) as used
      union all
      select rolconnlimit, (select count(*) from activity where usename = rolname)
      from me
      where rolconnlimit >= 0 and not rolsuper
      union all
      select datconnlimit, (select count(*) from activity a where a.datname = d.datname)
      from pg_database d
      where datname = current_database() and datconnlimit >= 0 and not (select rolsuper from me)
    )
    select pg_is_in_recovery() as "isStandby",
      (select reset_val = 'on' from setting where name = 'default_transaction_read_only') as "isReadOnly",
      current_setting('lock_timeout') = ${SESSION_SETTINGS.lock_timeout} as "isOwnSession",
      (select reset_val from setting where name = 'default_transaction_isolation') as isolation,
      (select reset_val::float8 from setting where name = 'statement_timeout') as "statementTimeoutMs",
      (select min(at_most - used) from limits)::float8
        + (select count(*) from activity
          where application_name = current_setting('application_name'))::float8 as "connectionsLeft",
      -- Behind synchronous_standby_names a commit waits; the name of a standby is hidden from most users, that it is there is not.
      (select case when current_setting('synchronous_standby_names') = '' then count(*) else 0 end
       from pg_stat_replication
       where coalesce(sync_state, 'async') = 'async')::float8 as "asynchronousStandbys"`;
  if (row === undefined) throw new Error('the server did not answer');
  return row;
}

/**
 * Privileges that this user lacks on our tables and functions, for example `UPDATE on ledger.entries`. Append-only tables
 * need no UPDATE and DELETE.
 */
export async function missingGrants(db: Database): Promise<readonly string[]> {
  const needed = (await functionRights()).filter(({ role }) => role === APP_ROLE);
  const lacked = await lackedFunctions(db, { needed, isOwn: true });
  return [...(await missingTableGrants(db)), ...lacked.map(({ right }) => right)];
}

/** A role of sql/roles.sql, and a right that it lacks: `EXECUTE on ledger.reap_lost()`. */
export type LackedRight = { readonly role: string; readonly right: string };

/** Functions that existing roles of sql/roles.sql may not execute, because a migration added them after `migrate --roles`. */
export async function missingRoleGrants(db: Database): Promise<readonly LackedRight[]> {
  return lackedFunctions(db, { needed: await functionRights(), isOwn: false });
}

async function lackedFunctions(
  db: Database,
  { needed, isOwn }: { needed: readonly FunctionRight[]; isOwn: boolean },
): Promise<readonly LackedRight[]> {
  return rowsOf<LackedRight>(db)`
    select n.role, 'EXECUTE on ' || n.function as "right"
    from jsonb_to_recordset(${toJsonParameter(needed)}::jsonb) as n(role text, function text)
    join pg_roles r on r.rolname = case when ${isOwn} then current_user else n.role end
    -- A function that a migration is yet to add is no right that a role lacks: the migration is reported.
    where not coalesce(has_function_privilege(r.oid, to_regprocedure(n.function), 'EXECUTE'), true)
      -- Roles belong to the whole server, and may be for another database only.
      and (${isOwn} or has_schema_privilege(r.oid, 'ledger', 'USAGE'))
    order by n.role, n.function`;
}

async function missingTableGrants(db: Database): Promise<readonly string[]> {
  const rows = await rowsOf<{ missing: string }>(db)`
    select format('%s on %I.%I', p.privilege, n.nspname, c.relname) as missing
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
      and n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting') and c.relkind = 'r'
    cross join (values ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) as p(privilege)
    where not (has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, p.privilege))
      and (p.privilege in ('SELECT', 'INSERT')
        or not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'append_only'))
    order by n.nspname, c.relname, p.privilege`;
  return rows.map(({ missing }) => missing);
}

/**
 * Describes privileges of `bi_reader` that it does not need. Empty if the role does not exist or is a
 * superuser. Use it only on servers.
 */
export async function needlessReaderRights(db: Database): Promise<readonly string[]> {
  const rows = await rowsOf<{ right: string }>(db)`
    select r."right" from pg_roles cross join lateral (values
      ('to make temporary tables', has_database_privilege(pg_roles.oid, current_database(), 'TEMPORARY')),
      ('to make schemas', has_database_privilege(pg_roles.oid, current_database(), 'CREATE')),
      ('to make tables in schema public',
        exists (select from pg_namespace
          where nspname = 'public' and has_schema_privilege(pg_roles.oid, oid, 'CREATE')))
    ) as r("right", has) where rolname = 'bi_reader' and not rolsuper and r.has`;
  return rows.map(({ right }) => right);
}

/** Checks that the database answers. @throws the error of the driver if it does not. */
export async function ping(db: Database): Promise<void> {
  await execute(db)`select 1`;
}
