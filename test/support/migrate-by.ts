import { globSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';

const ARCHIVE = new URL('../fixtures/migrations-to-0.2.1.sql.gz', import.meta.url);

/** The migrations of all versions up to 0.2.1, in order. 0.3.0 has their sum: `sql/migrations/0095_baseline.sql`. */
export const EARLIER_MIGRATIONS: ReadonlyMap<string, string> = new Map(
  gunzipSync(readFileSync(ARCHIVE))
    .toString()
    .split(/^-- migration: /m)
    .slice(1)
    .map((text) => {
      const [file = '', ...statements] = text.split('\n');
      return [file.replace(/\.sql$/, ''), statements.join('\n')];
    }),
);

/** The migrations after the baseline. */
export const LATER_MIGRATIONS: readonly string[] = globSync('sql/migrations/*.sql')
  .map((path) => path.replace(/^.*\/|\.sql$/g, ''))
  .filter((name) => name !== '0095_baseline')
  .toSorted();

/**
 * Applies some of the migrations of earlier versions, in order, and records them as these versions did, so that a
 * test has a database in the state before a certain migration.
 */
export async function migrateBy(db: Database, isWanted: (name: string) => boolean): Promise<void> {
  await sql`create table if not exists public.influencer_sync_migrations (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
    db,
  );
  for (const [name, statements] of EARLIER_MIGRATIONS) {
    if (isWanted(name)) await apply(db, name, statements);
  }
}

/** Applies the migrations up to a certain one, so that a test has a database in the state before the next. */
export async function migrateUpTo(db: Database, last: string): Promise<void> {
  await migrateBy(db, () => true);
  for (const name of LATER_MIGRATIONS.filter((later) => later <= last))
    await apply(db, name, readFileSync(`sql/migrations/${name}.sql`, 'utf8'));
}

async function apply(db: Database, name: string, statements: string): Promise<void> {
  await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(db);
  await sql`insert into public.influencer_sync_migrations values (${name}, now()::text) on conflict do nothing`.execute(
    db,
  );
}
