import type { Database } from '../connect.ts';
import { APP_ROLE, type FunctionRight, functionRights } from '../create-roles.ts';
import { execute, rowOf, rowsOf } from '../statement.ts';
import { toJsonParameter } from '../to-json-parameter.ts';

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
      current_setting('fsync')::boolean as fsync, current_setting('full_page_writes')::boolean as "fullPageWrites",
      has_database_privilege(current_database(), 'CREATE') as "mayCreate"`;
  if (row === undefined) throw new Error('the server did not answer');
  return { ...row, versionNumber: Number(row.versionNumber) };
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
  { needed, isOwn }: { readonly needed: readonly FunctionRight[]; readonly isOwn: boolean },
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
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting') and c.relkind = 'r'
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
      ('to make tables in schema public', exists (select from pg_namespace where nspname = 'public' and has_schema_privilege(pg_roles.oid, oid, 'CREATE')))
    ) as r("right", has) where rolname = 'bi_reader' and not rolsuper and r.has`;
  return rows.map(({ right }) => right);
}

/** The current time by the clock of the server. */
export async function readClock(db: Database): Promise<Date> {
  const row = await rowOf<{ now: Date }>(db)`select clock_timestamp() as now`;
  if (row === undefined) throw new Error('the server did not answer');
  return row.now;
}

/** Checks that the database answers. @throws the error of the driver if it does not. */
export async function ping(db: Database): Promise<void> {
  await execute(db)`select 1`;
}
