import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';
import { Kysely, PGliteDialect } from 'kysely';
import { migrate } from '../../src/db/migrate.ts';
import type { DB } from '../../src/db/tables.ts';

const ROOT = new URL('../../', import.meta.url);

/**
 * Files generated from `sql/migrations/` and `sql/views/`. `npm run schema` writes them, and
 * `test/schema.test.ts` checks that they are up to date.
 */
export const SCHEMA_FILE = new URL('sql/schema.sql', ROOT).pathname;
export const TABLES_FILE = new URL('src/db/tables.ts', ROOT).pathname;

const NOTE = `-- The tables, views, functions, comments and rights that sql/migrations/ and sql/views/ add up to, as pg_dump writes them.
-- Written by npm run schema; to change it, add a migration, or change a view.`;

/**
 * Lines of pg_dump about itself and the session. They change with its version and do not describe the schema.
 */
const NOISE = /^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)$/;

/**
 * Dumps the migrated schema as SQL. The same schema gives the same text.
 *
 * @param database folder of an embedded database without a schema. If omitted, one is created in memory,
 * which takes seconds.
 */
export async function dumpSchema(database?: string): Promise<string> {
  const pglite = await PGlite.create(database === undefined ? {} : { dataDir: database });
  const db = new Kysely<DB>({ dialect: new PGliteDialect({ pglite }) });
  await migrate(db);
  const dump = await pgDump({
    pg: pglite,
    args: ['--schema-only', '--no-owner', '--exclude-schema=public'],
  });
  await pglite.close();
  const lines = (await dump.text()).split('\n').filter((line) => !NOISE.test(line));
  return `${NOTE}\n\n${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/**
 * Generates the types of the tables with kysely-codegen.
 *
 * @param databaseUrl a migrated Postgres database.
 */
export async function generateTableTypes(databaseUrl: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-types-'));
  const file = join(folder, 'tables.ts');
  const codegen = new URL('node_modules/kysely-codegen/dist/cli/bin.js', ROOT).pathname;
  const args = [
    '--dialect',
    'postgres',
    '--url',
    databaseUrl,
    '--exclude-pattern',
    // The code never reads schema bi, which is for analysts.
    '{public,bi}.*',
    '--out-file',
    file,
  ];
  try {
    await promisify(execFile)(process.execPath, [codegen, ...args]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
