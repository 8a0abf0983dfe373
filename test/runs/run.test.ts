import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startTestConsole, textOf } from '../console/console-server.ts';
import {
  CODES,
  cents,
  countStates,
  expectSums,
  LATER_CODE,
  manyRows,
  openWorkshop,
  repeated,
  toCsv,
  trueCents,
} from './workshop.ts';

/** One order for each outcome, and a row that is rejected. */
const MIXED = toCsv([
  { id: '1', revenue: '10.10', code: 'MIA10' },
  { id: '2', revenue: '0.03', code: 'ben15' },
  { id: '3', revenue: '1249.99', code: 'MIA10', currency: 'USD' },
  { id: '4', revenue: '77.00', code: 'ZOE20' },
  { id: '5', revenue: '5.00', code: '' },
  { id: '6', revenue: '5.00', code: 'MIA10', status: 'cancelled' },
  { id: '7', revenue: '5.00', code: '"MIA10,BEN15"' },
  { id: '8', revenue: 'twelve' },
]);

describe('run --json', () => {
  it('ends with 3 while rows below zero lower no order, and names their sum, as Home does', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv([{ id: '1' }, { id: 'r1', revenue: '-4.00', code: '' }]));
    const { exitCode, stdout } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('Refunds that lower no order (1)');
    expect(stdout).toContain('1 row below zero, -4.00 EUR');
    const { get } = await startTestConsole(shop);
    const home = await get('/');
    expect(textOf(home.text)).toMatch(
      /Run needs your attention -4\.00 EUR since .* Run 1 of orders .* 1 row below zero lowers no order, .* Export others in a column of the order/,
    );
    const [, href = ''] = /href="(\/orders\?[^"]*)"/.exec(home.text) ?? [];
    expect(textOf((await get(href.replaceAll('&amp;', '&'))).text)).toMatch(/1 order, .* -4\.00 EUR/);
    // Fix does not list them, so the page of the run leads to the orders, too.
    const { text } = await get('/runs/1');
    expect(textOf(text)).toContain('1 row below zero lowers no order');
    expect(text).toContain(`href="${href}">See the rows below zero<`);
    expect(textOf((await get('/orders/shop/r1')).text)).toContain(
      'Not credited: it is below zero and lowers',
    );
    shop.drop('2.csv', toCsv([{ id: 'r1', revenue: '4.00', code: '' }]));
    expect((await shop.cli('run', 'orders')).exitCode).toBe(0);
    const corrected = (await get('/runs/1')).text;
    expect(textOf(corrected)).toContain('No row of orders is below zero any more.');
    expect(corrected).not.toContain('See the rows below zero');
  });

  it('ends with one run_finished event whose sums add up and whose amounts match the service to the cent', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', MIXED);
    const { exitCode, events, finished } = await shop.run();
    expect(exitCode).toBe(3);
    expect(events.filter(({ event }) => event === 'run_finished')).toHaveLength(1);
    expect(finished).toEqual({
      event: 'run_finished',
      job: 'orders',
      kind: 'attribute-orders',
      run_id: expect.stringMatching(/^\d+$/),
      status: 'issues',
      exit_code: 3,
      service: shop.sandbox.url,
      held_files: 0,
      check_warnings: 0,
      counts: {
        files: 1,
        rows: 8,
        orders: 7,
        excluded: { cancelled: 1 },
        unattributed: 1,
        organic: 1,
        rejected_rows: 1,
        entries: { accepted: 3, rejected: 0, in_doubt: 0, held: 1, ready: 0, already: 0 },
        ready_by_backfill: 0,
        other_currency: 0,
      },
      amounts: [
        { currency: 'EUR', accepted: expect.stringMatching(/^10\.13(00)?$/) },
        { currency: 'USD', accepted: expect.stringMatching(/^1249\.99(00)?$/) },
      ],
    });
    if (finished !== null) expectSums(finished);
    const referrals = await shop.sandbox.referrals();
    expect(trueCents(referrals)).toBe(1013 + 124_999);
    expect(await shop.posted()).toEqual(['1', '2', '3']);
  });

  it('posts nothing the second time', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(20)));
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { entries: { accepted: 20 } } },
    });
    const second = await shop.run();
    expect(second).toMatchObject({
      exitCode: 0,
      finished: {
        status: 'ok',
        amounts: [],
        counts: { files: 0, rows: 0, orders: 20, entries: { accepted: 0, already: 20, ready: 0 } },
      },
    });
    expect(await shop.posted()).toHaveLength(20);
  });

  it('posts nothing for a copy of a file under another name', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', MIXED);
    await shop.run();
    shop.drop('copy of orders.csv', MIXED);
    const again = await shop.run();
    // The bad row was reported with the first file and is not reported again.
    expect(again).toMatchObject({
      finished: { counts: { files: 0, rejected_rows: 0, entries: { accepted: 0, already: 3 } } },
    });
    expect(
      again.events.some(({ event, message }) => event === 'note' && /same content/.test(String(message))),
    ).toBe(true);
    const { rows } = await sql<{
      state: string;
    }>`select state from intake.source_files order by source_file_id`.execute(shop.db);
    expect(rows.map(({ state }) => state)).toEqual(['sealed', 'duplicate']);
    expect(await shop.posted()).toHaveLength(3);
  });

  it('updates a changed order that was not sent, and records an adjustment for an accepted one', async () => {
    const shop = await openWorkshop();
    const [first, second] = [{ id: 'a' }, { id: 'b' }];
    shop.drop('1.csv', toCsv([first, second]));
    expect(await shop.run('--limit', '1')).toMatchObject({
      finished: { counts: { entries: { accepted: 1, ready: 1 } } },
    });
    shop.drop(
      '2.csv',
      toCsv([
        { ...first, revenue: '33.33' },
        { ...second, revenue: '44.44' },
      ]),
    );
    const { finished } = await shop.run();
    expect(finished).toMatchObject({
      counts: { orders: 2, entries: { accepted: 1, already: 1 } },
      amounts: [{ currency: 'EUR', accepted: expect.stringMatching(/^44\.44/) }],
    });
    const referrals = await shop.sandbox.referrals();
    expect(referrals.map(({ order_id, order_revenue }) => `${order_id} ${order_revenue}`)).toEqual([
      'a 10',
      'b 44.44',
    ]);
    const { rows } = await sql`select kind, old_amount, new_amount from ledger.adjustments`.execute(shop.db);
    expect(rows).toEqual([{ kind: 'changed', old_amount: '10.0000', new_amount: '33.3300' }]);
    expect((await shop.cli('explain', 'order', 'a')).stdout).toMatch(/adjust/i);
  });

  it('credits orders whose code is added later', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv([{ id: '1', code: 'zoe20', revenue: '8.88' }, { id: '2' }]));
    expect((await shop.run()).finished).toMatchObject({
      counts: { unattributed: 1, entries: { accepted: 1 } },
    });
    shop.write('codes.csv', CODES + LATER_CODE);
    const { finished } = await shop.run();
    expect(finished).toMatchObject({
      counts: { files: 0, unattributed: 0, entries: { accepted: 1, already: 1 } },
      amounts: [{ currency: 'EUR', accepted: expect.stringMatching(/^8\.88/) }],
    });
    expect(await shop.posted()).toEqual(['1', '2']);
  });

  it('posts at most --limit orders and keeps the others ready', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(8)));
    const { exitCode, finished } = await shop.run('--limit', '3');
    expect(exitCode).toBe(0);
    expect(finished).toMatchObject({ counts: { orders: 8, entries: { accepted: 3, ready: 5 } } });
    if (finished !== null) expectSums(finished);
    expect(await shop.posted()).toHaveLength(3);
    expect(await countStates(shop.db)).toEqual({ accepted: 3, ready: 5 });
    expect((await shop.run()).finished).toMatchObject({ counts: { entries: { accepted: 5, already: 3 } } });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('reads only the files that --file names', async () => {
    const shop = await openWorkshop();
    shop.drop('april.csv', toCsv([{ id: 'april' }]));
    shop.drop('may.csv', toCsv([{ id: 'may' }]));
    expect((await shop.run('--file', 'may')).finished).toMatchObject({ counts: { files: 1, orders: 1 } });
    expect(await shop.posted()).toEqual(['may']);
    const none = await shop.run('--file', 'june');
    expect(none).toMatchObject({ exitCode: 2, finished: null });
    expect(none.stderr).toContain('"june"');
  });

  it('adds up thousands of orders over several files without errors of rounding', async () => {
    const shop = await openWorkshop({ api: 'concurrency: 16' });
    const rows = manyRows(1_500);
    shop.drop('1.csv', toCsv(rows.slice(0, 700)));
    shop.drop('2.csv', toCsv(rows.slice(600).map((row) => ({ ...row, currency: 'EUR' }))));
    const { exitCode, finished } = await shop.run();
    expect(exitCode).toBe(0);
    const total = rows.reduce((sum, { revenue = '' }) => sum + Math.round(Number(revenue) * 100), 0);
    expect(finished).toMatchObject({
      counts: { files: 2, rows: 1_600, orders: 1_500, entries: { accepted: 1_500 } },
      amounts: [{ currency: 'EUR', accepted: `${cents(total)}00` }],
    });
    const referrals = await shop.sandbox.referrals();
    expect(trueCents(referrals)).toBe(total);
    expect(repeated(await shop.posted())).toEqual([]);
  });
});

describe('a run that cannot start', () => {
  it('because there are no files exits with 2, unless --allow-empty is set', async () => {
    const shop = await openWorkshop();
    const refused = await shop.run();
    expect(refused).toMatchObject({ exitCode: 2, finished: null });
    expect(refused.events.at(-1)).toMatchObject({ event: 'error', code: 'no_files', exit_code: 2 });
    expect(refused.stderr).toContain('--allow-empty');
    expect(await shop.run('--allow-empty')).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 0, orders: 0 } },
    });
  });

  it('because no service is configured exits with 2 and explains how to start the sandbox', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(2)));
    shop.env.INFLUENCER_API_URL = '';
    const { exitCode, stderr, finished } = await shop.run();
    expect({ exitCode, finished }).toEqual({ exitCode: 2, finished: null });
    expect(stderr).toContain('npx influencer-sync sandbox');
  });

  it('because the service rejects the key exits with 4 and posts nothing', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(2)));
    shop.env.INFLUENCER_API_KEY = 'not-the-key';
    const result = await shop.run();
    expect(result).toMatchObject({ exitCode: 4, finished: null });
    expect(result.stdout + result.stderr).not.toContain('not-the-key');
    expect(await shop.posted()).toEqual([]);
  });

  it('because the key belongs to another account exits with 4 and posts nothing', async () => {
    const shop = await openWorkshop();
    const other = await openWorkshop({ sandbox: { seed: 'another' } });
    expect(other.sandbox.accountId).not.toBe(shop.sandbox.accountId);
    shop.drop('orders.csv', toCsv(manyRows(2)));
    expect(await shop.run('--limit', '1')).toMatchObject({ exitCode: 0 });
    shop.env.INFLUENCER_API_URL = other.sandbox.url;
    shop.env.INFLUENCER_API_KEY = other.sandbox.key;
    const { exitCode, stderr } = await shop.run();
    expect(exitCode).toBe(4);
    expect(stderr).toContain(shop.sandbox.accountId);
    expect(await other.posted()).toEqual([]);
  });

  it('because the job does not exist exits with 2 and lists the existing jobs', async () => {
    const shop = await openWorkshop();
    const { exitCode, stderr } = await shop.cli('run', 'odrers', '--json');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Existing jobs: orders.');
  });
});

it.each([
  [
    '1249.00,249.00',
    '1 order of shop, 1,249.00 EUR, 249.00 EUR of it refunded by now: status "teilweise_erstattet"',
  ],
  ['39.00,0.00', '1 order of shop, 1,249.00 EUR when posted, now 39.00 EUR: status "teilweise_erstattet"'],
  ['1249.00,0.00', '1 order of shop, 1,249.00 EUR: status "teilweise_erstattet"'],
])(
  'an order that was posted and has a new status that is not known says what is at stake: %s',
  async (amounts, said) => {
    const shop = await openWorkshop();
    const header = 'order_id,order_revenue,refunded_amount,currency,discount_codes,placed_at,status';
    const rowOf = (sums: string, status: string) =>
      `${header}\no1,${sums},EUR,MIA10,2026-04-10T11:11:26Z,${status}\n`;
    shop.drop('orders-2026-04-30.csv', rowOf('1249.00,0.00', 'paid'));
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    shop.drop('orders-2026-05-31.csv', rowOf(amounts, 'teilweise erstattet'));
    for (const args of [['plan', 'orders'], ['run', 'orders'], ['review', '--held'], ['status']])
      expect((await shop.cli(...args)).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
  },
);
