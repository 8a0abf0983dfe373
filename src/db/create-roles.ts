import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { configurationError, type KnownError, refusal } from '../core/known-error.ts';
import { packageFile } from '../core/package.ts';
import type { Database } from './connect.ts';

const FILE = packageFile('sql/roles.sql');

/** SQLSTATE insufficient_privilege. */
const NOT_ALLOWED = '42501';

/**
 * Creates the roles of sql/roles.sql, or corrects their privileges. Works only on a
 * server, because the embedded database has a single user.
 *
 * @throws KnownError `roles_refused` (exit 2) if the user may not create roles. Nothing is changed then.
 */
export async function createRoles(db: Database): Promise<void> {
  try {
    await sql.raw(await readFile(FILE, 'utf8')).execute(db);
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== NOT_ALLOWED) throw cause;
    throw configurationError({
      code: 'roles_refused',
      message: `The user of the database may not do this: ${cause.message}.`,
      help: 'The user that migrates needs CREATEROLE; or let an administrator run sql/roles.sql on this database, as the user that migrates (SET ROLE).',
      safe: 'The tables and views are up to date; no role was changed.',
      cause,
    });
  }
}

/** A right to execute a function, as sql/roles.sql grants it. */
export type FunctionRight = { readonly role: string; readonly function: string };

/** The program itself, among the roles of sql/roles.sql. */
export const APP_ROLE = 'influencer_sync_app';

/**
 * The functions that each role needs, which PUBLIC may not execute. Read from sql/roles.sql, so that a function which a
 * migration adds is checked as soon as it is granted there.
 */
export async function functionRights(): Promise<readonly FunctionRight[]> {
  const grants = (await readFile(FILE, 'utf8')).matchAll(/grant execute on function ([^;]+) to ([^;]+);/g);
  return [...grants].flatMap(([, functions = '', roles = '']) =>
    roles
      .split(',')
      .flatMap((role) =>
        [...functions.matchAll(/[\w.]+\([^)]*\)/g)].map(([name]) => ({ role: role.trim(), function: name })),
      ),
  );
}

/** The embedded database has one user with all privileges, so it needs no roles. */
export function rolesNeedAServer(): KnownError {
  return refusal({
    code: 'roles_need_a_server',
    message: 'Roles need a Postgres server: the embedded database has one user with all rights.',
    help: 'Set database.url of the configuration to a server, usually with the variable DATABASE_URL. `query` reads the embedded database without changing it.',
  });
}
