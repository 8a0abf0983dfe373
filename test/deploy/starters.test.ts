import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Database } from '../../src/db/connect.ts';
import { queryViews } from '../../src/reports/query-views.ts';
import { tellStory } from '../bi/story.ts';
import { setup } from '../support/setup.ts';
import { DASHBOARD, findMisplaced, panelOf } from './panels.ts';

const DEPLOY = new URL('../../deploy/', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, DEPLOY), 'utf8');
}

async function columnsOf(db: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql<{ view: string; columns: string[] }>`
    select table_name::text as view, array_agg(column_name::text) as columns from information_schema.columns
    where table_schema = 'bi' group by 1 order by 1`.execute(db);
  return new Map(rows.map(({ view, columns }) => [view, columns]));
}

describe('the dbt starter', () => {
  const Period = z.strictObject({ count: z.number(), period: z.enum(['minute', 'hour', 'day']) });
  const Freshness = z.strictObject({
    warn_after: Period,
    error_after: Period.optional(),
    filter: z.string().optional(),
  });
  const Test = z.union([
    z.enum(['unique', 'not_null']),
    z.strictObject({
      accepted_values: z.strictObject({
        arguments: z.strictObject({ values: z.array(z.unknown()), quote: z.boolean().optional() }),
        config: z.strictObject({ severity: z.enum(['warn', 'error']) }).optional(),
      }),
    }),
  ]);
  const Column = z.strictObject({ name: z.string(), data_tests: z.array(Test).min(1) });
  const Table = z.strictObject({
    name: z.string(),
    config: z.strictObject({ loaded_at_field: z.string(), freshness: Freshness }).optional(),
    columns: z.array(Column).min(1),
  });
  const Sources = z.strictObject({
    version: z.literal(2),
    sources: z.tuple([
      z.strictObject({
        name: z.string(),
        description: z.string(),
        schema: z.literal('bi'),
        tables: z.array(Table),
      }),
    ]),
  });
  const [source] = Sources.parse(parse(read('dbt/sources.yml'))).sources;

  it('names every view in sources.yml, and only existing columns', async () => {
    const { db } = await setup();
    const there = await columnsOf(db);
    expect(source.tables.map(({ name }) => name).sort()).toEqual([...there.keys()]);
    const missing = source.tables.flatMap(({ name, config, columns }) =>
      [...columns.map((column) => column.name), ...(config === undefined ? [] : [config.loaded_at_field])]
        .filter((column) => there.get(name)?.includes(column) !== true)
        .map((column) => `${name}.${column}`),
    );
    expect(missing).toEqual([]);
  });

  it('has tests that pass with the rows of a filled database, and a freshness that can be computed', async () => {
    const { db } = await setup();
    await tellStory(db);
    const failed: string[] = [];
    for (const { name, config, columns } of source.tables) {
      const view = sql.table(`bi.${name}`);
      if (config !== undefined) {
        const { filter = 'true' } = config.freshness;
        const { rows } = await sql<{ loaded: Date | null }>`
          select max(${sql.ref(config.loaded_at_field)}) as loaded from ${view} where ${sql.raw(filter)}`.execute(
          db,
        );
        expect(rows[0]?.loaded, name).toBeInstanceOf(Date);
      }
      for (const { name: column, data_tests: tests } of columns)
        for (const test of tests) {
          // The example data contain a lost job, which this dbt test correctly detects.
          if (name === 'run_health' && column === 'is_lost') continue;
          const { rows } = await sql`${failing(test, { view, column })}`.execute(db);
          if (rows.length > 0) failed.push(`${name}.${column}: ${JSON.stringify(test)}`);
        }
    }
    expect(failed).toEqual([]);
  });

  /** SQL for the rows that fail a test, like the query of dbt. */
  function failing(
    test: z.infer<typeof Test>,
    { view, column }: { view: ReturnType<typeof sql.table>; column: string },
  ) {
    const value = sql.ref(column);
    if (test === 'not_null') return sql`select from ${view} where ${value} is null`;
    if (test === 'unique') return sql`select ${value} from ${view} group by ${value} having count(*) > 1`;
    const allowed = test.accepted_values.arguments.values.map(String);
    return sql`select ${value} from ${view} where ${value}::text <> all(${allowed}::text[])`;
  }
});

describe('the Grafana starter', () => {
  const Datasource = z.strictObject({ type: z.literal('grafana-postgresql-datasource'), uid: z.string() });
  const Target = z.strictObject({
    refId: z.string(),
    datasource: Datasource,
    editorMode: z.literal('code'),
    format: z.enum(['table', 'time_series']),
    rawQuery: z.literal(true),
    rawSql: z.string(),
  });
  const Panel = panelOf(Datasource, z.array(Target).length(1));
  const Variable = z.looseObject({
    name: z.string(),
    type: z.literal('query'),
    datasource: Datasource,
    query: z.string(),
  });
  const Dashboard = z.looseObject({
    ...DASHBOARD,
    time: z.strictObject({ from: z.string(), to: z.string() }),
    templating: z.strictObject({ list: z.array(Variable) }),
    panels: z.array(Panel),
  });
  const dashboard = Dashboard.parse(JSON.parse(read('grafana/dashboards/influencer-sync.json')));

  it('has a dashboard that Grafana can import: its panels have unique IDs and do not overlap', () => {
    expect(findMisplaced(dashboard.panels)).toEqual([]);
  });

  it('uses the provisioned data source in all panels, and that connects as bi_reader', () => {
    const provisioned = parse(read('grafana/provisioning/datasources/influencer-sync.yaml'));
    const [datasource] = provisioned.datasources;
    expect(datasource).toMatchObject({ user: 'bi_reader', editable: false });
    const used = [...dashboard.panels, ...dashboard.templating.list].map((part) => part.datasource);
    expect(new Set(used.map(({ type, uid }) => `${type} ${uid}`))).toEqual(
      new Set([`${datasource.type} ${datasource.uid}`]),
    );
    const provider = parse(read('grafana/provisioning/dashboards/influencer-sync.yaml')).providers[0];
    expect(provider).toMatchObject({ type: 'file', options: { path: expect.stringMatching(/^\//) } });
  });

  it('gets an answer for every panel and every variable from a filled database', async () => {
    const { db } = await setup();
    await tellStory(db);
    const chosen: Record<string, string> = {};
    for (const { name, query } of dashboard.templating.list) {
      const { rows } = await queryViews(db, { text: query, limit: 10, timeoutMs: 30_000 });
      chosen[name] = String(rows[0]?.[0]);
    }
    expect(chosen).toEqual({ currency: 'EUR', job: 'attribute-orders' });
    for (const { title, type, targets } of dashboard.panels) {
      const text = asGrafanaSends(targets[0]?.rawSql ?? '', chosen);
      const { rows, columns } = await queryViews(db, { text, limit: 100, timeoutMs: 30_000 });
      expect(rows.length, title).toBeGreaterThan(0);
      if (type === 'stat') expect(rows, title).toEqual([[expect.stringMatching(/^\d/)]]);
      if (targets[0]?.format === 'time_series') expect(columns[0], title).toBe('time');
    }
  });

  /** Returns a query with its macros and variables replaced, as Grafana sends it. */
  function asGrafanaSends(text: string, variables: Readonly<Record<string, string>>): string {
    const from = 'to_char(now() - interval \'30 days\', \'YYYY-MM-DD"T"HH24:MI:SS"Z"\')';
    const to = 'to_char(now() + interval \'1 day\', \'YYYY-MM-DD"T"HH24:MI:SS"Z"\')';
    const sent = text
      .replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 between ${from}::timestamptz and ${to}::timestamptz`)
      .replaceAll('$__timeFrom()', from)
      .replaceAll('$__timeTo()', to)
      .replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? `unknown variable ${name}`);
    return sent;
  }
});
