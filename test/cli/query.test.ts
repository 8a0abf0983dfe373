import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { queryViews, renderQuery } from '../../src/reports/query-views.ts';
import { tellStory } from '../bi/story.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { readEvents } from '../support/run-cli.ts';
import { setup, setupEmbedded } from '../support/setup.ts';

const limits = { limit: 10, timeoutMs: 30_000 };

/** Statements that would change data or end the read-only transaction. */
const NOT_QUESTIONS = [
  'delete from ledger.attempts',
  'update ops.runs set problem = null',
  'drop view bi.orders',
  'create table mine (n int)',
  'select 1; drop view bi.orders',
  'select 1; commit; drop view bi.orders',
  'select 1) q; commit; drop view bi.orders; select * from (select 1',
  'commit',
  'set role postgres',
  'with gone as (delete from ops.runs returning 1) select * from gone',
  'select 1 into mine',
  "select set_config('transaction_read_only', 'off', true), nextval('ops.runs_run_id_seq')",
  '',
  ';',
];

describe('amounts in a table', () => {
  const terminal = {
    columns: 80,
    isInteractive: false,
    isStyled: false,
    hasUnicode: true,
    style: (_format: unknown, text: string) => text,
  };
  const ask = (rows: readonly (readonly (string | null)[])[], columns: readonly string[]) =>
    renderQuery({ columns, rows, json: [], isCut: false }, { terminal, isCsv: false });

  test('are formatted like those of reports, by the currency of their row; CSV keeps all digits', () => {
    const columns = ['currency', 'orders', 'amount', 'ratio'];
    const rows = [
      ['EUR', '1204', '1234567.5000', '0.25'],
      ['JPY', '2', '-120.0000', '0.1250'],
      ['KWD', '3', null, '1'],
    ];
    const lines = ask(rows, columns).split('\n');
    expect(lines.slice(-4, -1).map((line) => line.trim().split(/ +/))).toEqual([
      ['EUR', '1204', '1,234,567.50', '0.25'],
      ['JPY', '2', '-120', '0.1250'],
      ['KWD', '3', '1'],
    ]);
    expect(renderQuery({ columns, rows, json: [], isCut: false }, { terminal, isCsv: true })).toContain(
      'EUR,1204,1234567.5000,0.25',
    );
  });

  test('lose only trailing zeros', () => {
    expect(ask([['10.1250'], ['0.0001']], ['sum'])).toBe('   sum\n10.125\n0.0001\n');
  });
});

describe('a query', () => {
  test('returns exact numbers, instants in UTC, and dates as days', async () => {
    const { db } = await setup();
    const text = `select 12345678901234567890.1200::numeric as amount, '2026-04-01T00:30:00+02:00'::timestamptz as seen_at,
      date '2026-04-01' as day_utc, null::text as nothing, true as is_so, 'a' as twice, 'b' as twice -- and a comment`;
    const answer = await queryViews(db, { text, ...limits });
    expect(answer.columns).toEqual(['amount', 'seen_at', 'day_utc', 'nothing', 'is_so', 'twice', 'twice']);
    expect(answer.rows).toEqual([
      ['12345678901234567890.1200', '2026-03-31T22:30:00+00:00', '2026-04-01', null, 'true', 'a', 'b'],
    ]);
    expect(answer.json[0]).toContain('"amount":12345678901234567890.1200');
  });

  test('returns at most the requested number of rows, and reports if there are more', async () => {
    const { db } = await setup();
    const ask = (limit: number) =>
      queryViews(db, {
        text: 'select n from generate_series(1, 5) n order by n desc;',
        limit,
        timeoutMs: 30_000,
      });
    expect(await ask(2)).toMatchObject({ rows: [['5'], ['4']], isCut: true });
    expect(await ask(5)).toMatchObject({ isCut: false });
    expect((await ask(5)).rows).toHaveLength(5);
  });

  test('is aborted at its time limit', async () => {
    const { db } = await setup();
    await expect(
      queryViews(db, { text: 'select pg_sleep(600)', limit: 1, timeoutMs: 20 }),
    ).rejects.toMatchObject({
      details: { code: 'query_failed', message: expect.stringContaining('longer than 0.02 s') },
    });
  });

  test('cannot change anything', async () => {
    const { db } = await setup();
    for (const text of NOT_QUESTIONS)
      await expect(queryViews(db, { text, ...limits }), text).rejects.toMatchObject({
        details: { code: 'query_failed', exitCode: 2 },
      });
    expect((await sql`select * from bi.orders`.execute(db)).rows).toEqual([]);
  });

  test('cannot leave its role or execute text as a statement', async () => {
    const { db } = await setup();
    for (const text of [
      "select set_config('role', 'postgres', true)",
      `select U&"set\\005fconfig"('role', 'postgres', true)`,
      "select query_to_xml('select * from ledger.entries', true, false, '')",
      "select QUERY_TO_XML('select 1', true, false, '')",
      "select table_to_xml('ledger.entries', true, false, '')",
      "select * from ts_stat('select to_tsvector(state) from ledger.entries')",
      'select pg_advisory_lock(1)',
      "select lo_from_bytea(0, 'x')",
    ])
      await expect(queryViews(db, { text, ...limits }), text).rejects.toMatchObject({
        details: { code: 'query_failed', message: expect.stringContaining('cannot be used') },
      });
  });

  test('fails above a size limit', async () => {
    const { db } = await setup();
    for (const text of [
      "select repeat('x', 40000000) as wide",
      "select repeat('x', 1000000) as wide, n from generate_series(1, 40) n",
    ])
      await expect(queryViews(db, { text, limit: 50, timeoutMs: 60_000 }), text).rejects.toMatchObject({
        details: { code: 'query_failed', message: expect.stringContaining('more than 32 MiB') },
      });
    const fitting = await queryViews(db, { text: "select repeat('x', 1000000) as wide", ...limits });
    expect(fitting.rows[0]?.[0]).toHaveLength(1_000_000);
  });

  test('cannot change anything in the embedded database', async () => {
    const db = await setupEmbedded();
    await tellStory(db);
    for (const text of NOT_QUESTIONS)
      await expect(queryViews(db, { text, ...limits }), text).rejects.toMatchObject({
        details: { code: 'query_failed' },
      });
    expect((await queryViews(db, { text: 'select * from bi.runs', ...limits })).rows).toHaveLength(2);
  });
});

describe('the command query', () => {
  test('prints a table, CSV or events, and the message of Postgres for an invalid query', async () => {
    const shop = await openWorkshop();
    await tellStory(shop.db);
    const question =
      'select brand_name, currency, accepted_amount from bi.brand_performance_daily order by currency';
    const table = await shop.cli('query', question);
    expect(table).toMatchObject({ exitCode: 0, stderr: '' });
    expect(table.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'brand_name  currency  accepted_amount',
      'Acme        EUR              1,264.50',
      'Acme        USD                  0.10',
      '',
    ]);
    expect((await shop.cli('query', question, '--csv')).stdout).toBe(
      'brand_name,currency,accepted_amount\r\nAcme,EUR,1264.5000\r\nAcme,USD,0.1000\r\n',
    );
    expect(
      (await shop.cli('query', "select -1.50 as amount, '=1+1' as name, 'a,b' as list", '--csv')).stdout,
    ).toBe('amount,name,list\r\n-1.50,\'=1+1,"a,b"\r\n');
    const asEvents = await shop.cli('query', question, '--json', '--limit', '1');
    expect(readEvents(asEvents)).toEqual([
      { event: 'row', row: { brand_name: 'Acme', currency: 'EUR', accepted_amount: 1264.5 } },
    ]);
    expect(asEvents.stderr).toContain('there are more');
    // The result is wider than 80 columns, so the rows are printed one below the other without truncation.
    const wide = await shop.cli('query', 'select * from bi.run_health');
    expect(wide.stdout.split('\n').map((line) => line.trimEnd())).toEqual(
      expect.arrayContaining([
        'row                1',
        'job                attribute-orders',
        'is_lost            true',
      ]),
    );
    expect(wide.stdout).toMatch(/^last_started_at {4}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    const mistaken = await shop.cli('query', 'select * from bi.oders');
    expect(mistaken.exitCode).toBe(2);
    expect(mistaken.stderr).toContain('relation "bi.oders" does not exist');
    expect(mistaken.stderr).toContain('data-dictionary.md');
    const change = await shop.cli('query', 'delete from bi.orders');
    expect(change.stderr).toContain('Give one statement that selects');
  });
});
