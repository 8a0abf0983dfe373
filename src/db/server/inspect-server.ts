import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** As `server_version_num` counts: 15.0. */
export const OLDEST_VERSION = 150_000;

export type ServerFacts = {
  /** `17.2`. */
  readonly version: string;
  readonly versionNumber: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** This user may create schemas, as migrations do. */
  readonly mayCreate: boolean;
};

/** What a server says about itself. */
export async function inspectServer(db: Database): Promise<ServerFacts> {
  const { rows } = await sql<Omit<ServerFacts, 'versionNumber'> & { versionNumber: string }>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('server_version_num') as "versionNumber",
      current_setting('fsync')::boolean as fsync, current_setting('full_page_writes')::boolean as "fullPageWrites",
      has_database_privilege(current_database(), 'CREATE') as "mayCreate"`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the server did not answer');
  return { ...row, versionNumber: Number(row.versionNumber) };
}

/** Rights that this user lacks on our tables, as `UPDATE on ledger.entries`; what is append-only needs no UPDATE and DELETE. */
export async function missingGrants(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ missing: string }>`
    select format('%s on %I.%I', p.privilege, n.nspname, c.relname) as missing
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting') and c.relkind = 'r'
    cross join (values ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) as p(privilege)
    where not (has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, p.privilege))
      and (p.privilege in ('SELECT', 'INSERT')
        or not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'append_only'))
    order by n.nspname, c.relname, p.privilege`.execute(db);
  return rows.map(({ missing }) => missing);
}

/** Rights of `bi_reader` that it does not need, in words; none where there is no such role. Servers that this user may look at only. */
export async function needlessReaderRights(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ right: string }>`
    select r."right" from pg_roles cross join lateral (values
      ('to make temporary tables', has_database_privilege(pg_roles.oid, current_database(), 'TEMPORARY')),
      ('to make schemas', has_database_privilege(pg_roles.oid, current_database(), 'CREATE')),
      ('to make tables in schema public', exists (select from pg_namespace where nspname = 'public' and has_schema_privilege(pg_roles.oid, oid, 'CREATE')))
    ) as r("right", has) where rolname = 'bi_reader' and not rolsuper and r.has`.execute(db);
  return rows.map(({ right }) => right);
}

/** The server's clock now. */
export async function readClock(db: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the server did not answer');
  return row.now;
}

/** Asks the database whether it is there. @throws what the driver throws when it is not. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}
