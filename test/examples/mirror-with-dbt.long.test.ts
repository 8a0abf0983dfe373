import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Database } from '../../src/db/connect.ts';
import { setup } from '../support/setup.ts';
import { openExample } from './open-example.ts';

const DBT = new URL('../../examples/mirror-with-dbt/dbt/', import.meta.url);
const MODELS = ['brand_deals', 'funnel_durations'];

const Sources = z.object({
  sources: z.tuple([
    z.object({
      name: z.literal('influencer_sync'),
      schema: z.literal('bi'),
      tables: z.array(z.object({ name: z.string(), columns: z.array(z.object({ name: z.string() })) })),
    }),
  ]),
});
const [{ tables }] = Sources.parse(parse(read('models/sources.yml'))).sources;

describe('examples/mirror-with-dbt', () => {
  it('mirrors the account, so that each model has rows', async () => {
    const { db, run } = await openExample('mirror-with-dbt');
    expect(await run('mirror-account')).toMatchObject({ exit_code: 0 });
    for (const model of MODELS) expect(await rowsOf(db, compile(model)), model).not.toEqual([]);
    const [brand] = await rowsOf(db, `${compile('brand_deals')} order by deals desc`);
    expect(brand).toMatchObject({ brand_name: 'Acme Skincare' });
  });

  it('names only sources and columns in sources.yml that schema bi has, and its models read no others', async () => {
    const { db } = await setup();
    const columns = await rowsOf(
      db,
      "select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'bi'",
    );
    const there = new Set(columns.map(({ name }) => name));
    const named = tables.flatMap((table) => table.columns.map(({ name }) => `${table.name}.${name}`));
    expect(named.filter((name) => !there.has(name))).toEqual([]);

    // The views are replaced by tables with only these columns, so a model that reads another column fails.
    await sql`create schema named`.execute(db);
    for (const table of tables) {
      const list = table.columns.map(({ name }) => name).join(', ');
      await sql.raw(`create table named.${table.name} as select ${list} from bi.${table.name}`).execute(db);
    }
    for (const model of MODELS) await rowsOf(db, compile(model, 'named'));
  });
});

/** Returns a model as dbt would compile it. */
function compile(model: string, schema = 'bi'): string {
  return read(`models/${model}.sql`).replaceAll(
    /\{\{ source\('influencer_sync', '(\w+)'\) \}\}/g,
    `${schema}.$1`,
  );
}

async function rowsOf(db: Database, query: string): Promise<readonly Record<string, unknown>[]> {
  return (await sql.raw<Record<string, unknown>>(query).execute(db)).rows;
}

function read(path: string): string {
  return readFileSync(new URL(path, DBT), 'utf8');
}
