import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTestFolder, setup } from '../support/setup.ts';
import {
  CODES,
  countRows,
  grownSince,
  LATER_CODE,
  look,
  manyRows,
  openWorkshop,
  readRun,
  tableSizes,
  toCsv,
  type Workshop,
} from './workshop.ts';

const MIXED = toCsv([
  ...manyRows(30),
  { id: 'usd', currency: 'USD', revenue: '12.34' },
  { id: 'unowned', code: 'ZOE20' },
  { id: 'organic', code: '' },
  { id: 'cancelled', status: 'cancelled' },
  { id: 'ambiguous', code: '"MIA10,BEN15"' },
  { id: 'bad', revenue: '1,2,3' },
]);

async function plan(shop: Workshop) {
  return readRun(await shop.cli('plan', 'orders', '--json'));
}

/** Expects that a plan reports what a run does when every ready entry is accepted. */
async function expectPlanToEqualRun(shop: Workshop): Promise<void> {
  const planned = await plan(shop);
  const run = await shop.run();
  expect(planned.finished).not.toBeNull();
  expect(run.finished).not.toBeNull();
  const { ready, accepted, ...others } = planned.finished?.counts.entries ?? { ready: 0, accepted: 0 };
  expect(accepted).toBe(0);
  expect(run.finished?.counts).toEqual({
    ...planned.finished?.counts,
    entries: { ...others, accepted: ready, ready: 0 },
  });
  expect(planned.exitCode).toBe(run.exitCode);
  expect(planned.finished?.status).toBe(run.finished?.status);
}

describe('plan', () => {
  it('predicts the result of the first run', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', MIXED);
    await expectPlanToEqualRun(shop);
    expect(await shop.posted()).toHaveLength(31);
  });

  it('predicts the effect of new files, changed orders and new codes after a run', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', MIXED);
    await shop.run('--limit', '10');
    shop.drop(
      '2.csv',
      toCsv([{ id: 'o1', revenue: '99.99' }, { id: 'o30', revenue: '77.77' }, { id: 'new' }]),
    );
    shop.write('codes.csv', CODES + LATER_CODE);
    await expectPlanToEqualRun(shop);
  });

  it('prints the amounts to post without claiming that they were posted', async () => {
    const shop = await openWorkshop();
    shop.drop(
      'orders.csv',
      toCsv([
        { id: '1', revenue: '1234.56' },
        { id: '2', revenue: '0.44', currency: 'USD' },
      ]),
    );
    const { exitCode, stdout } = await shop.cli('plan', 'orders');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1,234.56 EUR');
    expect(stdout).toContain('0.44 USD');
    expect(stdout).not.toMatch(/^posted/im);
  });

  it('writes and sends nothing, whatever it finds', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', MIXED);
    const before = await countRows(shop.db);
    await plan(shop);
    expect(await countRows(shop.db)).toEqual(before);
    await shop.run('--limit', '5');
    const between = await countRows(shop.db);
    shop.drop('2.csv', toCsv(manyRows(40, 'more')));
    shop.drop('broken.csv', 'no,such,header\n1,2,3\n');
    shop.write('codes.csv', CODES + LATER_CODE);
    expect((await plan(shop)).exitCode).toBe(3);
    expect(await countRows(shop.db)).toEqual(between);
    expect(await shop.posted()).toHaveLength(5);
  });

  it('leaves no dead rows in the tables of the runs, whatever it reads and changes', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv(manyRows(40)));
    const before = await tableSizes(shop.db);
    expect((await plan(shop)).finished).toMatchObject({ counts: { entries: { ready: 40 } } });
    expect(await grownSince(shop.db, before)).toEqual([]);
    await shop.run('--limit', '30');
    const between = await tableSizes(shop.db);
    shop.drop(
      '2.csv',
      toCsv([...manyRows(35).map((row) => ({ ...row, revenue: '7.00' })), ...manyRows(600, 'new')]),
    );
    shop.drop(
      '3.csv',
      toCsv([
        { id: 'bad', revenue: '1,2,3' },
        { id: 'new1', code: 'BEN15' },
      ]),
    );
    shop.write('codes.csv', CODES + LATER_CODE);
    expect((await plan(shop)).finished).toMatchObject({ counts: { entries: { already: 30, ready: 610 } } });
    expect(await grownSince(shop.db, between)).toEqual([]);
    await expectPlanToEqualRun(shop);
  });

  it('predicts the first run without creating a database or tables', async () => {
    const shop = await openWorkshop({ embedded: true });
    shop.drop('orders.csv', MIXED);
    const temporary = makeTestFolder();
    shop.env.TMPDIR = temporary;
    expect((await plan(shop)).finished).toMatchObject({ counts: { entries: { ready: 31 } } });
    expect(existsSync(join(shop.folder, '.data'))).toBe(false);

    const { db, databaseUrl } = await setup();
    const name = `without_tables_${process.pid}`;
    await sql.raw(`create database ${name}`).execute(db);
    onTestFinished(async () => {
      await sql.raw(`drop database ${name} with (force)`).execute(db);
    });
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    shop.env.DATABASE_URL = url.href;
    expect((await plan(shop)).finished).toMatchObject({ counts: { entries: { ready: 31 } } });
    expect(await look(url.href, (fresh) => countRows(fresh))).toEqual({});
    expect(readdirSync(temporary).filter((file) => file.startsWith('influencer-sync'))).toEqual([]);
  });

  it('applies no migration and names the command to do so if the schema is outdated', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', MIXED);
    await sql`drop schema bi cascade`.execute(shop.db);
    await sql`delete from reporting.applied_views`.execute(shop.db);
    const refused = await shop.cli('plan', 'orders');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('npx influencer-sync migrate');
    expect((await sql`select from pg_namespace where nspname = 'bi'`.execute(shop.db)).rows).toEqual([]);
  });

  it('needs neither the service nor a key', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', MIXED);
    shop.env.INFLUENCER_API_URL = '';
    shop.env.INFLUENCER_API_KEY = '';
    expect((await plan(shop)).finished).toMatchObject({ counts: { entries: { ready: 31 } } });
  });
});
