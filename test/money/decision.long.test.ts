import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listStatements } from '../../src/money/sum-statement.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { CODES, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { MONEY_LAYOUT } from './money-layout.ts';

const flowOf = ({ revenue = 'total', sources = ['shop'], more = '' } = {}) => `
sources:
${sources.map((name) => `  ${name}: {uri: ./exports/${name}/, layout: money, order_platform: shopify, time_zone: UTC}`).join('\n')}
jobs:
  orders: {kind: attribute-orders, source: [${sources.join(', ')}], brand_id: 4819, codes: ./codes.csv, revenue: ${revenue}}
statements: {terms: ./terms.csv, return_window_days: 1, time_zone: UTC${more}}
`;
const TERMS = 'deal_id,code,rate\nDEALMIA,,10\nDEALBEN,,10\n';
const HEADER = 'order_id,total,subtotal,refunded,currency,codes,placed_at,status';

type Order = {
  readonly id: string;
  readonly total: string;
  readonly subtotal?: string;
  readonly refunded?: string;
  readonly currency?: string;
  readonly codes?: string;
  readonly status?: string;
};
const toCsv = (orders: readonly Order[]): string =>
  `${[
    HEADER,
    ...orders.map(
      ({ id, total, subtotal = '', refunded = '', currency = 'EUR', codes = 'MIA10', status = 'paid' }) =>
        `${id},${total},${subtotal},${refunded},${currency},"${codes}",2026-03-06T10:00:00Z,${status}`,
    ),
  ].join('\n')}\n`;

function writeDeep(shop: Workshop, name: string, content: string): void {
  mkdirSync(dirname(join(shop.folder, name)), { recursive: true });
  shop.write(name, content);
}

let files = 0;
async function openShop(options: Parameters<typeof flowOf>[0] = {}, terms = TERMS): Promise<Workshop> {
  const shop = await openWorkshop({ flow: flowOf(options) });
  shop.write('terms.csv', terms);
  writeDeep(shop, 'layouts/money.yaml', MONEY_LAYOUT);
  return shop;
}
function read(shop: Workshop, orders: readonly Order[], source = 'shop'): ReturnType<Workshop['run']> {
  files += 1;
  writeDeep(shop, `exports/${source}/${String(files).padStart(3, '0')}.csv`, toCsv(orders));
  return shop.run();
}

/** The lines of the statement of a month: `id: net revenue × rate = earned − before, in the currency`. */
async function statementOf(shop: Workshop, month = '2026-03'): Promise<readonly string[]> {
  const { stdout } = await shop.cli('statement', '--month', month, '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | null>)
    .flatMap((line) =>
      line.event === 'statement_line'
        ? [
            `${line.order_id ?? line.kind}: ${Number(line.net_amount)} × ${line.rate_percent ?? '-'} = ${Number(line.earned_amount)} − ${Number(line.closed_before)} ${line.currency}`,
          ]
        : line.event === 'statement_uncounted'
          ? [`${line.deal_id} ${line.why}: ${line.orders}`]
          : line.event === 'statement_held'
            ? [`${line.deal_id} held: ${line.orders}`]
            : [],
    );
}
const close = async (shop: Workshop, month: string): Promise<void> => {
  const { exitCode, stderr } = await shop.cli('statement', 'close', '--month', month, '--reason', 'paid out');
  expect(exitCode, stderr).toBe(0);
};

describe('the earnings of an order follow the decision about it:', () => {
  it('the rate is that of the code that won, and not of another code of the order', async () => {
    const shop = await openShop({}, 'deal_id,code,rate\nDEALMIA,,5\n,JOE20,20\n,MIA10,10\n');
    await read(shop, [
      { id: 'A1', total: '100.00', codes: 'JOE20,MIA10' },
      { id: 'A2', total: '100.00', codes: 'JOE20,BEN15' },
    ]);
    expect(await statementOf(shop)).toEqual(['A1: 100 × 10 = 10 − 0 EUR', 'DEALBEN unknown_rate: 1']);
    // Another code of it wins by now, and is of another creator: it is not kept at which rate it was credited.
    shop.write('codes.csv', CODES.replace(/^MIA10.*$/m, 'JOE20,4819,joe.test,DEALJOE,,,'));
    await read(shop, [{ id: 'A9', total: '1.00', codes: 'NOBODY' }]);
    expect(await statementOf(shop)).toContain('DEALMIA unknown_rate: 1');
  });

  it('only the source that is responsible for the order changes it', async () => {
    const shop = await openShop({ sources: ['shop', 'other'] });
    await read(shop, [{ id: 'A1', total: '50.00' }]);
    await read(shop, [{ id: 'A1', total: '500.00' }], 'other');
    expect(await statementOf(shop)).toEqual(['A1: 50 × 10 = 5 − 0 EUR']);
    await close(shop, '2026-03');
    await read(shop, [{ id: 'A1', total: '40.00' }]);
    await read(shop, [{ id: 'A1', total: '600.00' }], 'other');
    expect(await statementOf(shop, '2026-04')).toEqual(['A1: 40 × 10 = 4 − 5 EUR']);
  });

  it.each(['total', 'total_less_refunds'])(
    'if its source was renamed, what the new name states counts, and otherwise what the old one has (%s)',
    async (revenue) => {
      const shop = await openShop({ revenue });
      await read(shop, [
        { id: 'A1', total: '100.00' },
        { id: 'A2', total: '100.00' },
      ]);
      await read(shop, [{ id: 'A2', total: '100.00', refunded: '30.00' }]);
      writeDeep(
        shop,
        'exports/nl/1.csv',
        toCsv([
          { id: 'A1', total: '100.00', refunded: '60.00' },
          { id: 'A2', total: '6000', currency: 'JPY' },
        ]),
      );
      replaceConfig(shop, flowOf({ revenue }), flowOf({ revenue, sources: ['nl'] }));
      await shop.run();
      expect(await statementOf(shop)).toEqual([
        'A1: 40 × 10 = 4 − 0 EUR',
        'A2: 70 × 10 = 7 − 0 EUR',
        'DEALMIA held: 1',
      ]);
    },
  );

  it('an order that is held later earns what it earned before, is listed, and refunds still count', async () => {
    const shop = await openShop({}, `${TERMS},MIA10,20\n`);
    await read(shop, [
      { id: 'A1', total: '100.00' },
      { id: 'A2', total: '100.00', codes: 'BEN15' },
    ]);
    expect(await statementOf(shop)).toEqual(['A2: 100 × 10 = 10 − 0 EUR', 'A1: 100 × 20 = 20 − 0 EUR']);
    // Both orders now carry codes of two owners.
    await read(shop, [
      { id: 'A1', total: '100.00', codes: 'MIA10,BEN15' },
      { id: 'A2', total: '100.00', codes: 'BEN15,ZOE', refunded: '30.00' },
    ]);
    shop.write('codes.csv', `${CODES}ZOE,,zoe.test,DEALZOE,,,\n`);
    await shop.run();
    // Which code won A1 is unknown by now, and only one of its codes has terms.
    expect(await statementOf(shop)).toEqual([
      'A2: 70 × 10 = 7 − 0 EUR',
      'DEALMIA unknown_rate: 1',
      'DEALBEN held: 1',
      'DEALMIA held: 1',
    ]);
    const shown = (await shop.cli('statement', '--month', '2026-03')).stdout;
    expect(shown).toMatch(/To pay: at least 7\.00 EUR, 1 order unknown/);
    expect(shown).toMatch(/Changed, and held: 2 orders/);
  });
});

function replaceConfig(shop: Workshop, from: string, to: string): void {
  const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  expect(text).toContain(from);
  shop.write('pipeline.yaml', text.replace(from, to));
}

describe('the net revenue of an order is what was sent less its refunds', () => {
  it.each([
    ['total', 'A1: 40 × 10 = 4 − 0 EUR', 'A2: 70 × 10 = 7 − 0 EUR'],
    ['total_less_refunds', 'A1: 40 × 10 = 4 − 0 EUR', 'A2: 70 × 10 = 7 − 0 EUR'],
    ['subtotal', 'A1: 30 × 10 = 3 − 0 EUR', 'A2: 60 × 10 = 6 − 0 EUR'],
  ])('whatever revenue was posted, and never twice (%s)', async (revenue, early, late) => {
    const shop = await openShop({ revenue });
    // The refund of the first order is known when it is posted, and that of the second is not.
    await read(shop, [
      { id: 'A1', total: '100.00', subtotal: '90.00', refunded: '60.00' },
      { id: 'A2', total: '100.00', subtotal: '90.00' },
    ]);
    await read(shop, [{ id: 'A2', total: '100.00', subtotal: '90.00', refunded: '30.00' }]);
    expect(await statementOf(shop)).toEqual([early, late]);
    const { rows } =
      await sql`select net_amount::float8 as net, commission_amount::float8 as commission from bi.returns_monthly`.execute(
        shop.db,
      );
    const nets = revenue === 'subtotal' ? { net: 90, commission: 9 } : { net: 110, commission: 11 };
    expect(rows).toEqual([nets]);
    // Under another rule, what was posted keeps the one by which it was.
    replaceConfig(
      shop,
      flowOf({ revenue }),
      flowOf({ revenue: revenue === 'total' ? 'total_less_refunds' : 'total' }),
    );
    await shop.run();
    expect(await statementOf(shop)).toEqual([early, late]);
  });

  it('and never below zero; a cancelled order has none; a refund out of range makes it unknown, and not larger', async () => {
    const shop = await openShop({ revenue: 'subtotal' });
    const order = { total: '100.00', subtotal: '80.00' };
    const ids = ['all', 'cancelled', 'negative', 'more'];
    await read(
      shop,
      ids.map((id) => ({ ...order, id })),
    );
    await close(shop, '2026-03');
    await read(shop, [
      { ...order, id: 'all', refunded: '100.00' },
      { ...order, id: 'cancelled', status: 'cancelled' },
      { ...order, id: 'more', refunded: '100.01' },
    ]);
    // No file of today states a negative refund, so the database does.
    await sql`update intake.orders set refunded = -30 where order_id = 'negative'`.execute(shop.db);
    await sql`update ledger.entries set attempt = attempt where order_id = 'negative'`.execute(shop.db);
    expect((await statementOf(shop, '2026-04')).filter((line) => !line.includes('held'))).toEqual([
      'all: 0 × 10 = 0 − 8 EUR',
      'cancelled: 0 × 10 = 0 − 8 EUR',
      'DEALMIA unknown_net: 2',
    ]);
    const shown = (await shop.cli('statement', '--month', '2026-04')).stdout;
    expect(shown).toMatch(/Refund unknown: 2 orders[\s\S]*DEALMIA +\S* *2 +unknown +unknown/);
    // They are in the closed statement of March.
    expect(shown.replace(/\s+/g, ' ')).toContain('in no statement, or stay as a closed one has them.');
  });
});

describe('currencies are never mixed:', () => {
  it('an order that is later stated in another currency earns what it earned before, refunds included, and is listed', async () => {
    const shop = await openShop();
    await read(shop, [
      { id: 'A1', total: '100.00', currency: 'USD' },
      { id: 'A2', total: '100.00', currency: 'USD' },
    ]);
    await read(shop, [{ id: 'A2', total: '100.00', currency: 'USD', refunded: '60.00' }]);
    const ended = await read(shop, [
      { id: 'A1', total: '15000', currency: 'JPY' },
      { id: 'A2', total: '15000', currency: 'JPY', refunded: '500' },
    ]);
    expect(ended.exitCode).toBe(3);
    const again = await shop.cli('run', 'orders');
    expect(again.exitCode).toBe(3);
    expect(again.stdout).toMatch(/Posted, and stated in another currency since\D+2\b/);
    expect(again.stdout).toMatch(/A2 +DEALMIA +100\.00 USD +15,000 JPY +500 JPY/);
    expect(again.stdout.replace(/\s+/g, ' ')).toContain('Export these orders again in the currency');
    const stays = ['A1: 100 × 10 = 10 − 0 USD', 'A2: 40 × 10 = 4 − 0 USD'];
    expect(await statementOf(shop)).toEqual([...stays, 'DEALMIA held: 2']);
    const { rows } = await sql`
      select order_id, kind, new_amount, difference_amount from bi.adjustments order by order_id`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { order_id: 'A1', kind: 'held', new_amount: null, difference_amount: null },
      { order_id: 'A2', kind: 'held', new_amount: null, difference_amount: null },
    ]);
    await close(shop, '2026-03');
    expect(await statementOf(shop, '2026-04')).toEqual(['DEALMIA held: 2']);
    // An export in the currency that was sent settles it.
    expect((await read(shop, [{ id: 'A1', total: '90.00', currency: 'USD' }])).exitCode).toBe(3);
    expect(await statementOf(shop, '2026-04')).toEqual(['A1: 90 × 10 = 9 − 10 USD', 'DEALMIA held: 1']);
    expect((await read(shop, [{ id: 'A2', total: '40.00', currency: 'USD' }])).exitCode).toBe(0);
  });

  it('a person decides what an order comes to that no export will state in its currency any more', async () => {
    const shop = await openShop();
    const all = (currency: string, total: string, ids = ['A1', 'A2', 'A3', 'A4']) =>
      ids.map((id) => ({ id, total, currency }));
    await read(shop, all('USD', '100.00'));
    await read(shop, all('USD', '90.00', ['A2']));
    await close(shop, '2026-03');
    await read(shop, [
      ...all('JPY', '15000', ['A1', 'A2', 'A3']),
      { id: 'A4', total: '15000', currency: 'JPY', refunded: '15000' },
    ]);
    // What was refunded in full comes to nothing in each currency.
    const refunded = 'A4: 0 × 10 = 0 − 10 USD';
    expect(await statementOf(shop, '2026-04')).toEqual([refunded, 'DEALMIA held: 3']);
    const decide = (...args: readonly string[]) =>
      shop.cli('statement', 'restated', '--reason', 'the shop sells in JPY now', ...args);
    expect((await decide('--as', 'sent')).stderr).toContain('Name them');
    expect((await decide('--as', 'sent', '--order', 'A4')).stderr).toContain('No such order');
    const listed = await shop.cli('statement', 'restated', '--json');
    expect([listed.exitCode, listed.stdout.match(/"order_id":"A\d"/g)]).toEqual([
      3,
      ['"order_id":"A1"', '"order_id":"A2"', '"order_id":"A3"'],
    ]);
    // A long list shows its first orders, and says how many more there are and what all were sent with.
    const brief = await shop.cli('statement', 'restated', '--limit', '1');
    expect(brief.stdout).toMatch(
      /another currency since \(3\): sent with 300\.00 USD[\s\S]*A1 [\s\S]*and 2 more/,
    );
    expect(brief.stdout).not.toContain('A2');
    const csv = await shop.cli('statement', 'restated', '--format', 'csv');
    expect([csv.exitCode, csv.stdout.split('\r\n')]).toEqual([
      3,
      [
        'source,order_id,deal_id,sent_amount,sent_currency,total,refunded,stated_in',
        ...['A1', 'A2', 'A3'].map((id) => `shop,${id},DEALMIA,100.0000,USD,15000.0000,,JPY`),
        '',
      ],
    ]);
    for (const whole of [
      ['--format', 'csv'],
      ['--as', 'sent', '--order', 'A1'],
    ])
      expect(await decide(...whole, '--limit', '1')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('so --limit has no effect'),
      });
    const kept = await decide('--as', 'sent', '--order', 'A1', '--order', 'A2');
    expect([kept.exitCode, kept.stdout]).toEqual([
      0,
      expect.stringContaining('2 orders, sent with 200.00 USD: they earn what was earned before: 19.00 USD.'),
    ]);
    // A decision counts at once, also if no job reads the source any more.
    replaceConfig(shop, flowOf(), flowOf({ sources: ['other'] }));
    await read(shop, [{ id: 'B1', total: '1.00', codes: 'NOBODY' }], 'other');
    expect((await shop.cli('run', 'orders')).exitCode).toBe(3);
    expect((await decide('--as', 'returned', '--source', 'shop')).stdout).toContain('1 order, sent with 100');
    expect(await statementOf(shop, '2026-04')).toEqual(['A3: 0 × 10 = 0 − 10 USD', refunded]);
    expect((await shop.cli('run', 'orders')).exitCode).toBe(0);
    const { rows } = await sql`
      select order_id, kind, new_amount::float8 from bi.adjustments where is_latest order by 1`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { order_id: 'A1', kind: 'changed', new_amount: 100 },
      { order_id: 'A2', kind: 'changed', new_amount: 90 },
      { order_id: 'A3', kind: 'refunded', new_amount: 0 },
      { order_id: 'A4', kind: 'refunded', new_amount: null },
    ]);
    // Only what is stated otherwise is held again.
    replaceConfig(shop, flowOf({ sources: ['other'] }), flowOf());
    expect((await read(shop, all('JPY', '15000', ['A1', 'A3']))).exitCode).toBe(0);
    expect((await read(shop, all('JPY', '14000', ['A1', 'A3']))).exitCode).toBe(3);
    expect(await statementOf(shop, '2026-04')).toEqual([
      'A3: 0 × 10 = 0 − 10 USD',
      refunded,
      'DEALMIA held: 2',
    ]);
  });

  it('what a person decided can be decided again, and is held again by what is stated otherwise', async () => {
    const flow = flowOf({ sources: ['shop', 'other'] });
    const shop = await openShop({ sources: ['shop', 'other'] });
    replaceConfig(shop, flow, flow.replace(/(other: .*order_platform: )shopify/, '$1woo'));
    const [sent, jpy] = [
      { id: 'A1', total: '100.00' },
      { id: 'A1', total: '15000', currency: 'JPY' },
    ];
    writeDeep(shop, 'exports/other/sent.csv', toCsv([{ ...sent, total: '120.00', codes: 'BEN15' }]));
    await read(shop, [sent, { ...sent, id: 'A2' }]);
    await read(shop, [{ ...sent, id: 'A2', status: 'cancelled' }]);
    writeDeep(shop, 'exports/other/yen.csv', toCsv([{ ...jpy, codes: 'BEN15' }]));
    await read(shop, [jpy, { ...jpy, id: 'A2' }]);
    const decide = (...args: readonly string[]) =>
      shop.cli('statement', 'restated', '--reason', 'x', ...args);
    const [ben, mia] = ['A1: 120 × 10 = 12 − 0 EUR', 'A1: 100 × 10 = 10 − 0 EUR'];
    // It is clear which orders are meant.
    const unknown = await decide('--as', 'returned', '--source', 'shop', '--order', 'A1', '--order', 'NOPE');
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/No such order[\s\S]*NOPE/),
    ]);
    expect((await decide('--as', 'returned', '--order', 'A1')).stderr).toContain('Several sources');
    expect(await statementOf(shop)).toEqual([ben, mia, 'DEALBEN held: 1', 'DEALMIA held: 2']);
    expect((await decide('--as', 'sent', '--source', 'shop')).stdout).toContain(
      '2 orders, sent with 200.00 EUR: they earn what was earned before: 10.00 EUR.',
    );
    const { rows } = await sql`
      select order_id, kind, new_amount::float8, is_decision from bi.adjustments
      where is_latest and source = 'shop' order by 1`.execute(shop.db);
    expect(rows).toEqual([
      { order_id: 'A1', kind: 'changed', new_amount: 100, is_decision: true },
      { order_id: 'A2', kind: 'cancelled', new_amount: 0, is_decision: true },
    ]);
    // A later refund is not what the person decided about.
    await read(shop, [{ ...jpy, refunded: '4500' }]);
    expect(await statementOf(shop)).toEqual([ben, mia, 'DEALBEN held: 1', 'DEALMIA held: 1']);
    const ofShop = ['--source', 'shop', '--order', 'A1'];
    for (const [comesTo, lines] of [
      ['returned', [ben]],
      ['sent', [ben, mia]],
      ['returned', [ben]],
    ] as const) {
      expect((await decide('--as', comesTo, ...ofShop)).exitCode).toBe(0);
      expect(await statementOf(shop)).toEqual([...lines, 'DEALBEN held: 1']);
    }
    // What was decided to be nothing is not counted again by an export, nor by a decision about a whole source.
    await read(shop, [sent]);
    await read(shop, [{ ...sent, total: '90.00' }]);
    expect(await statementOf(shop)).toEqual([ben, 'DEALBEN held: 1', 'DEALMIA held: 1']);
    expect((await decide('--as', 'sent', '--source', 'shop')).stderr).toContain('No such order');
    expect((await decide('--as', 'sent', ...ofShop)).exitCode).toBe(0);
    expect(await statementOf(shop)).toEqual([ben, 'A1: 90 × 10 = 9 − 0 EUR', 'DEALBEN held: 1']);
  });

  it('a fee that was closed in one currency and is owed in another takes two lines', async () => {
    const terms = (fee: string) =>
      `deal_id,code,rate,fixed_fee,currency,valid_from\nDEALMIA,,10,${fee},2026-03-01\n`;
    const shop = await openShop({}, terms('100,EUR'));
    await read(shop, [{ id: 'A1', total: '10.00', codes: 'NOBODY' }]);
    await close(shop, '2026-03');
    shop.write('terms.csv', terms('120,USD'));
    const lines = ['correction: 0 × - = 0 − 100 EUR', 'fixed_fee: 0 × - = 120 − 0 USD'];
    expect(await statementOf(shop, '2026-04')).toEqual(lines);
    await close(shop, '2026-04');
    expect(await statementOf(shop, '2026-04')).toEqual(lines);
    expect(await statementOf(shop, '2026-05')).toEqual([]);
    shop.write('terms.csv', terms('80,EUR'));
    expect(await statementOf(shop, '2026-05')).toEqual([
      'correction: 0 × - = 80 − 0 EUR',
      'correction: 0 × - = 0 − 120 USD',
    ]);
  });
});

describe('a closed statement', () => {
  it('is shown whole beside broken terms and rates, with the total of the rates of its closing', async () => {
    const shop = await openShop({ more: ', reporting_currency: EUR, fx: ./fx.csv' });
    const otherRates = '2026-03-06,USD,EUR,0.8\n2026-03-08,USD,EUR,0.7\n2026-03-07,GBP,EUR,1.2\n';
    shop.write('fx.csv', `day,from,to,rate\n${otherRates}2026-03-07,USD,EUR,0.9\n`);
    await read(shop, [
      { id: 'A1', total: '100.00' },
      { id: 'A2', total: '100.00', currency: 'USD', codes: 'BEN15' },
    ]);
    await close(shop, '2026-03');
    const shown = await shop.cli('statement', '--month', '2026-03');
    expect(shown.stdout).toContain('Total: 19.00 EUR');
    // A rate that is corrected afterwards changes nothing either.
    shop.write('fx.csv', 'day,from,to,rate\n2026-03-07,USD,EUR,0.5\n');
    expect((await shop.cli('statement', '--month', '2026-03')).stdout).toBe(shown.stdout);
    shop.write('fx.csv', 'day,from,to,rate\n2026-03-07,USD,EUR,nought\n');
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,a lot\n');
    const beside = await shop.cli('statement', '--month', '2026-03');
    expect([beside.exitCode, beside.stdout]).toEqual([0, shown.stdout]);
    expect(beside.stderr).toMatch(/terms\.csv[\s\S]*terms\.csv:2 rate[\s\S]*fx\.csv[\s\S]*fx\.csv:2 rate/);
    expect((await shop.cli('statement', '--month', '2026-03', '--deal', 'DEALBEN')).stdout).toContain(
      'Total: 9.00 EUR',
    );
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/statements/2026-03')).text)).toContain('Total: 19.00 EUR');
    expect((await shop.cli('statement', '--month', '2026-04')).exitCode).toBe(3);
    expect((await shop.cli('statement', 'verify')).exitCode).toBe(0);
    await sql`alter table ops.statement_lines disable trigger all`.execute(shop.db);
    await sql`update ops.statement_lines set exchange_rate = 0.91 where currency = 'USD'`.execute(shop.db);
    expect((await shop.cli('statement', 'verify')).exitCode).toBe(3);
  });

  it('contains the orders until the last instant of its month, and not the one of the midnight after', async () => {
    const shop = await openShop();
    const row = (id: string, at: string) => `${id},10.00,,,EUR,MIA10,${at},paid`;
    // An order counts a day after it was placed.
    writeDeep(
      shop,
      'exports/shop/times.csv',
      `${[
        HEADER,
        row('last', '2026-03-30T23:59:59Z'),
        row('midnight', '2026-03-31T00:00:00Z'),
        row('april', '2026-04-29T23:59:59Z'),
        row('may', '2026-04-30T00:00:00Z'),
      ].join('\n')}\n`,
    );
    await shop.run();
    const idsOf = async (month: string) =>
      (await statementOf(shop, month)).flatMap((line) => /^(\w+): 10 ×/.exec(line)?.[1] ?? []);
    expect(await idsOf('2026-03')).toEqual(['last']);
    expect(await idsOf('2026-04')).toEqual(['last', 'midnight', 'april']);
    await close(shop, '2026-03');
    await close(shop, '2026-04');
    expect(await idsOf('2026-04')).toEqual(['midnight', 'april']);
    expect((await listStatements(shop.db, { limit: 9 })).map(({ month }) => month)).toEqual([
      '2026-04',
      '2026-03',
    ]);
    expect((await listStatements(shop.db, { limit: 9, after: '2026-04' })).map(({ month }) => month)).toEqual(
      ['2026-03'],
    );
  });
});

describe('a preview of another rule for orders of several owners', () => {
  it('says what it would move, apart for what was posted, and changes nothing', async () => {
    const shop = await openShop();
    writeDeep(shop, 'exports/shop/1.csv', toCsv([{ id: 'A', total: '50.00', codes: 'MIA10,BEN15' }]));
    const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    const preview = async (rule: string) => {
      const { stdout } = await shop.cli('conflicts', 'preview', rule, '--json');
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]));
    };
    await shop.run();
    const held = {
      before: 'held: ambiguous codes',
      orders: 1,
      amount: '50.0000',
      currency: 'EUR',
      is_sent: false,
    };
    expect(await preview('last')).toMatchObject([{ ...held, after: 'deal:DEALBEN' }]);
    expect(await shop.posted()).toEqual([]);
    shop.write('pipeline.yaml', config.replace('revenue: total', 'revenue: total, attribution: last'));
    await shop.run();
    expect(await shop.posted()).toEqual(['A']);
    expect(await preview('first')).toMatchObject([
      { before: 'deal:DEALBEN', after: 'deal:DEALMIA', orders: 1, amount: '50.0000', is_sent: true },
    ]);
    expect((await shop.cli('conflicts', 'preview', 'first')).stdout).toMatch(
      /Posted orders that it decides otherwise/,
    );
    expect((await shop.run()).finished?.counts.entries).toMatchObject({ accepted: 0, already: 1 });
    expect((await shop.cli('conflicts', 'preview', 'first', '--job', 'none')).exitCode).toBe(2);
  });

  it('says of each order what a run with the rule then decides, and which orders it posts, once if two sources have it', async () => {
    const shop = await openShop({ sources: ['shop', 'again'] });
    const links = MONEY_LAYOUT.replace('codes: [codes]', 'codes: [codes]\n  links: [link, second_link]');
    writeDeep(shop, 'layouts/money.yaml', links);
    shop.write(
      'codes.csv',
      `${CODES}PAST,4819,ben.test,DEALBEN,,,2026-03-01\nTWICE,4819,mia.test,DEALMIA,,,\nTWICE,4819,ben.test,DEALBEN,,,\n`,
    );
    const codes = [
      '',
      'MIA10',
      'BEN15',
      'MIA10,BEN15',
      'BEN15,MIA10',
      'PAST,MIA10',
      'TWICE',
      'TWICE,MIA10',
      'NONE',
    ];
    const followed = [
      '',
      'mia.test',
      'ben.test',
      'mia.test,ben.test',
      'ben.test,mia.test',
      'zoe.test,mia.test',
    ];
    const kinds = ['paid', 'refunded', 'pending', 'unknown time', 'unknown amount', 'USD'];
    const rows = codes.flatMap((code, x) =>
      followed.flatMap((link, y) =>
        kinds.flatMap((kind, z) => {
          const [one = '', other = ''] = link.split(',');
          const total = kind === 'unknown amount' ? '' : `${10 + x}.${y}${z}`;
          const status = kind === 'pending' ? kind : 'paid';
          const at = kind === 'unknown time' ? '' : '2026-03-06T10:00:00Z';
          const refunded = kind === 'refunded' ? total : '';
          const currency = kind === 'USD' ? kind : 'EUR';
          return `o${x}${y}${z},${total},,${refunded},${currency},"${code}",${at},${status},${one},${other}`;
        }),
      ),
    );
    writeDeep(shop, 'exports/shop/1.csv', `${[`${HEADER},link,second_link`, ...rows].join('\n')}\n`);
    // The second source has every third order, too, and is read after the first.
    const repeated = rows.filter((_, index) => index % 3 === 0);
    writeDeep(shop, 'exports/again/1.csv', `${[`${HEADER},link,second_link`, ...repeated].join('\n')}\n`);
    const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    const decided = async () => {
      const { rows: found } = await sql<
        Record<'id' | 'outcome' | 'shown' | 'currency' | 'amount' | 'target', string | null>
      >`
        select order_id as id, outcome, target, currency, amount::text as amount,
          coalesce(target, outcome || coalesce(': ' || replace(reason, '_', ' '), '')) as shown
        from intake.attributions where source = 'shop'`.execute(shop.db);
      return new Map(found.map((one) => [one.id ?? '', one]));
    };
    await shop.run();
    for (const rule of ['link', 'first', 'hold', 'last', 'code']) {
      const { stdout } = await shop.cli('conflicts', 'preview', rule, '--json');
      const previewed = stdout.split('\n').flatMap((line) => {
        const one = line === '' ? null : (JSON.parse(line) as Record<string, unknown>);
        return one === null
          ? []
          : [[one.before, one.after, one.currency, one.is_sent, one.orders, one.amount]];
      });
      const [before, posted] = [await decided(), new Set(await shop.posted())];
      shop.write('pipeline.yaml', config.replace('revenue: total', `revenue: total, attribution: ${rule}`));
      await shop.run();
      const [after, all] = [await decided(), await shop.posted()];
      // An order that stays held, but for another reason, moves nothing.
      const moved = [...after.values()].filter(({ id, outcome, target }) => {
        const was = before.get(id ?? '');
        return was?.outcome !== outcome || was.target !== target;
      });
      const groups = Map.groupBy(moved, ({ id, shown, currency }) =>
        JSON.stringify([before.get(id ?? '')?.shown, shown, currency, posted.has(id ?? '')]),
      );
      const sumOf = (of: typeof moved) =>
        of.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
      const done = [...groups].map(([key, of]) => [...(JSON.parse(key) as unknown[]), of.length, sumOf(of)]);
      const inOrder = (of: readonly unknown[][]) => of.map((one) => JSON.stringify(one)).toSorted();
      expect(moved.length, rule).toBeGreaterThan(20);
      expect(
        inOrder(previewed.map((one) => [...one.slice(0, 5), Math.round(Number(one[5]) * 100)])),
        rule,
      ).toEqual(inOrder(done));
      const due = moved.filter(({ id, target }) => target !== null && !posted.has(id ?? ''));
      expect(
        all.filter((id) => !posted.has(id)),
        rule,
      ).toEqual(due.map(({ id }) => id).toSorted());
    }
  });
});
