import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { refusal } from '../core/known-error.ts';
import { packageFile } from '../core/package.ts';
import { inTransaction } from './in-transaction.ts';
import { type Database, execute } from './statement.ts';

const FOLDER = packageFile('sql/views/');

/** Returns true if `sql/views/` differs from the views of this database. The tables must be up to date. */
export async function areViewsStale(db: Database): Promise<boolean> {
  return (await appliedHash(db)) !== hashOf(await readViews());
}

/**
 * Replaces the content of schema `bi` by that of `sql/views/`, in one commit. All views are dropped and
 * created again, so that the files need no particular order and a view may change its columns. Does nothing
 * if the views are up to date.
 *
 * @returns true if the views were replaced.
 * @throws KnownError `views_in_use` (exit 2) if another object depends on a view. Objects of other owners are
 * never dropped.
 */
export async function applyViews(db: Database): Promise<boolean> {
  const views = await readViews();
  return inTransaction(db, async (trx) => {
    // Processes that apply the views wait for each other. Only the owner of the table can take this lock.
    // Reading is not blocked.
    await execute(trx)`lock table reporting.applied_views in exclusive mode`;
    if ((await appliedHash(trx)) === hashOf(views)) return false;
    await dropViews(trx);
    await execute(trx)`create schema if not exists bi`;
    // A single DO block turns the statements of all files into one statement, which the protocol of PGlite
    // requires.
    await sql.raw(`do $views$ begin\n${views}\nend $views$`).execute(trx);
    const applied = { content_hash: hashOf(views), applied_at: sql<Date>`now()` };
    await trx
      .insertInto('reporting.applied_views')
      .values(applied)
      .onConflict((before) => before.column('only_row').doUpdateSet(applied))
      .execute();
    return true;
  });
}

/**
 * Drops all objects in schema `bi` at once, because views may read each other. Keeps the schema itself, with
 * the privileges granted on it.
 *
 * @throws KnownError `views_in_use` (exit 2).
 */
export async function dropViews(db: Database): Promise<void> {
  try {
    await sql
      .raw(
        `do $drop$ declare functions text; views text; begin
          select string_agg(oid::regprocedure::text, ', ') into functions from pg_proc where pronamespace = to_regnamespace('bi');
          select string_agg(oid::regclass::text, ', ') into views from pg_class where relnamespace = to_regnamespace('bi') and relkind = 'v';
          if functions is not null then execute 'drop function ' || functions; end if;
          if views is not null then execute 'drop view ' || views; end if;
          if to_regclass('reporting.applied_views') is not null then delete from reporting.applied_views; end if;
        end $drop$`,
      )
      .execute(db);
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== DEPENDENT_OBJECTS) throw cause;
    const users = 'detail' in cause && typeof cause.detail === 'string' ? cause.detail : cause.message;
    throw refusal({
      code: 'views_in_use',
      message: `The views of schema bi cannot be replaced, because other views depend on them:\n${users}`,
      help: 'Drop these views, migrate, and create them again. Build on bi in another database, or with a tool that can rebuild views (dbt).',
      cause,
    });
  }
}

/** SQLSTATE dependent_objects_still_exist. */
const DEPENDENT_OBJECTS = '2BP01';

async function readViews(): Promise<string> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, FOLDER), 'utf8')));
  return texts.join('\n');
}

function hashOf(views: string): string {
  return createHash('sha256').update(views).digest('hex');
}

async function appliedHash(db: Database): Promise<string | null> {
  const applied = await db.selectFrom('reporting.applied_views').select('content_hash').executeTakeFirst();
  return applied?.content_hash ?? null;
}
