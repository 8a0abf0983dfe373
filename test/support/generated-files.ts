import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';
import { Kysely, PGliteDialect } from 'kysely';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { rowsOf } from '../../src/db/statement.ts';
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
  const dump = await pgDump({ pg: pglite, args: ['--schema-only', '--no-owner', '--exclude-schema=public'] });
  await pglite.close();
  const lines = (await dump.text()).split('\n').filter((line) => !NOISE.test(line));
  return `${NOTE}\n\n${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/**
 * Generates the types of the tables with kysely-codegen, and with what it does not read: the values that a CHECK
 * allows, and the columns that only Postgres writes.
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
    '--overrides',
    JSON.stringify({ columns: await readColumnTypes(databaseUrl) }),
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

/** A CHECK that lists the values of a column, as Postgres writes it. */
const LISTS_VALUES = /^\(\w+ = ANY \(ARRAY\['[^']*'::text(?:, '[^']*'::text)*\]\)\)$/;

/** The types of the columns whose values a CHECK lists, or that Postgres computes or numbers, by `schema.table.column`. */
async function readColumnTypes(databaseUrl: string): Promise<Readonly<Record<string, string>>> {
  await using db = await connect({ url: databaseUrl, embeddedFolder: '' });
  const columns = await rowsOf<{
    name: string;
    type: string | null;
    checks: readonly string[];
    isNullable: boolean;
    hasDefault: boolean;
    isGenerated: boolean;
  }>(db)`
    select concat_ws('.', n.nspname, c.relname, a.attname) as name,
      case format_type(a.atttypid, null) when 'boolean' then 'boolean' when 'integer' then 'number' when 'bigint' then 'string'
        when 'text' then 'string' end as type,
      array(
        select pg_get_expr(conbin, conrelid) from pg_constraint
        where conrelid = c.oid and contype = 'c' and conkey = array[a.attnum]) as checks,
      not a.attnotnull as "isNullable", a.atthasdef as "hasDefault",
      a.attgenerated <> '' or a.attidentity = 'a' as "isGenerated"
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting') and c.relkind in ('r', 'p') and a.attnum > 0
      and not a.attisdropped`;
  return Object.fromEntries(
    columns.flatMap(({ name, type, checks, isNullable, hasDefault, isGenerated }) => {
      const values = checks.find((check) => LISTS_VALUES.test(check))?.match(/'[^']*'(?=::text)/g);
      if (values === undefined && !isGenerated) return [];
      const read = [...(values ?? [type]), ...(isNullable ? ['null'] : [])].join(' | ');
      if (isGenerated) return [[name, `ColumnType<${read}, never, never>`]];
      return [[name, hasDefault ? `Generated<${read}>` : read]];
    }),
  );
}
