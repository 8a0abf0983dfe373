import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { convertLines } from '../../src/money/convert-lines.ts';
import { parseRates } from '../../src/money/load-rules.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { setup } from '../support/setup.ts';

const parse = (...rows: string[]) => parseRates(['day,from,to,rate', ...rows].join('\n'), 'EUR');

describe('fx.csv', () => {
  it('contains rates by day into the reporting currency; rates into others are ignored', () => {
    const { rows, problems } = parse(
      '2026-03-01,usd,EUR,0.92',
      '2026-03-01,EUR,USD,1.087',
      '2026-03-02,GBP,eur,1.15',
    );
    expect({ rates: rows, problems }).toEqual({
      rates: [
        { currency: 'USD', day: '2026-03-01', rate: '0.92' },
        { currency: 'GBP', day: '2026-03-02', rate: '1.15' },
      ],
      problems: [],
    });
  });

  it.each([
    ['2026-02-30,USD,EUR,0.92', 'day', 'This is not a day.'],
    ['2026-03-01,US,EUR,0.92', 'from', 'This is not a currency.'],
    ['2026-03-01,EUR,EUR,1', 'to', 'Both currencies are the same.'],
    ['2026-03-01,USD,EUR,"0,92"', 'rate', 'This is not a rate.'],
    ['2026-03-01,USD,EUR,0.0', 'rate', 'This is not a rate.'],
    ['2026-03-01,USD,EUR,-1', 'rate', 'This is not a rate.'],
    // A decimal comma without quotes: the rate would be 1.
    ['2026-03-01,USD,EUR,1,08', null, 'The row has 5 cells, and the header has 4.'],
    ['2026-03-01,USD,EUR', null, 'The row has 3 cells, and the header has 4.'],
  ])('is rejected for the row %s', (row, column, reason) => {
    expect(parse(row).problems).toEqual([expect.objectContaining({ line: 2, column, reason })]);
  });

  it('is rejected if it has two rates for one day, or lacks a column or has it twice', () => {
    expect(parse('2026-03-01,USD,EUR,0.92', '2026-03-01,USD,EUR,0.93').problems).toEqual([
      expect.objectContaining({ line: 3, reason: 'Line 2 already has a rate of USD for this day.' }),
    ]);
    expect(parseRates('day,from,rate\n', 'EUR').problems).toMatchObject([
      { line: 1, column: 'to', reason: 'The column is missing.' },
    ]);
    expect(parseRates('day,from,to,rate,Rate\n2026-03-01,USD,EUR,0.92,1.08\n', 'EUR')).toMatchObject({
      problems: [{ line: 1, column: 'rate', reason: 'The column appears twice.' }],
    });
  });
});

describe('a total in one currency', () => {
  it('is exact and rounded once, like in the database, and unknown if a rate is unknown', async () => {
    const { db } = await setup();
    const line = fc.record({
      amount: fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => (cents / 100).toFixed(2)),
      currency: fc.constantFrom('EUR', 'USD', 'GBP'),
      dueOn: fc.constantFrom('2026-03-01', '2026-03-02'),
    });
    const rates = parse(
      '2026-03-01,USD,EUR,0.921234567891',
      '2026-03-02,USD,EUR,0.93',
      '2026-03-01,GBP,EUR,1.15',
    ).rows;
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        const isKnown = lines.every(
          ({ currency, dueOn, amount }) =>
            currency !== 'GBP' || dueOn === '2026-03-01' || Number(amount) === 0,
        );
        const { rows } = await sql<{ total: string }>`
          select round(coalesce(sum(amount * case when currency = 'EUR' then 1 when currency = 'GBP' then 1.15
            when "dueOn" = '2026-03-01' then 0.921234567891 else 0.93 end), 0), 2)::text as total
          from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as l (amount numeric, currency text, "dueOn" text)`.execute(
          db,
        );
        const { amount, missing } = convertLines(lines, { reportingCurrency: 'EUR', rates });
        expect(amount).toBe(isKnown ? rows[0]?.total : null);
        expect(missing).toEqual(isKnown ? [] : [{ currency: 'GBP', day: '2026-03-02' }]);
      }),
      { numRuns: 60 },
    );
  });

  it('of a statement lists the days without a rate; returns are converted by the day of the order', async () => {
    const shop = await openWorkshop({
      flow: `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, reporting_currency: eur, fx: ./fx.csv, margin_percent: 50, return_window_days: 1, time_zone: UTC}
`,
    });
    shop.write('terms.csv', 'deal_id,rate,fixed_fee,currency,valid_from\nDEALMIA,10,20,USD,2026-03-05\n');
    const rates =
      'day,from,to,rate\n2026-03-05,USD,EUR,0.5\n2026-03-06,USD,EUR,0.8\n2026-03-07,USD,EUR,0.9\n';
    shop.write('fx.csv', rates);
    shop.drop(
      'orders.csv',
      'order_id,order_revenue,currency,discount_codes,placed_at,status\nA1,100.00,EUR,MIA10,2026-03-06T10:00:00Z,paid\nA2,60.00,USD,MIA10,2026-03-06T10:00:00Z,paid\nA3,10.00,USD,MIA10,2026-03-08T10:00:00Z,paid\n',
    );
    await shop.run();
    // No rate is known for 8 March.
    const unknown = (await shop.cli('returns', '--one-currency')).stdout;
    expect(unknown).toMatch(/DEALMIA +mia\.test +3 +unknown +unknown +unknown [\s\S]*exchange rate, because/);
    const due = (await shop.cli('statement', '--month', '2026-03')).stdout.replace(/\s+/g, ' ');
    expect(due).toContain('The total in EUR is unknown: statements.fx has no rate for USD on 2026-03-09.');
    shop.write('fx.csv', `${rates}2026-03-08,USD,EUR,0.7\n2026-03-09,USD,EUR,0.6\n`);
    await shop.run();
    const { rows } = await sql`
      select currency, net_reporting_amount, cost_reporting_amount, profit_reporting_amount, unknown
      from bi.returns_monthly order by currency`.execute(shop.db);
    // USD: net revenue of 60 at 0.8 and 10 at 0.7; commission of 6 at 0.8 and 1 at 0.7, and the fee of 20 at
    // 0.5.
    expect(rows).toMatchObject([
      { currency: 'EUR', net_reporting_amount: '100.0000', cost_reporting_amount: '10.0000' },
      {
        currency: 'USD',
        net_reporting_amount: '55.0000',
        cost_reporting_amount: '15.5000',
        profit_reporting_amount: '12.0000000000',
      },
    ]);
    const known = (await shop.cli('returns', '--one-currency')).stdout;
    expect(known).toMatch(/DEALMIA +mia\.test +3 +155\.00 EUR +25\.50 EUR +203\.92 %/);
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/money?in=EUR')).text)).toMatch(
      /Amounts in other currencies are converted into EUR .* mia\.test 3 155\.00 EUR 25\.50 EUR 52\.00 EUR 203\.92 %/,
    );
    // A sum is rounded once, to the decimals of its currency: 7.0049996 EUR of the last order is not 7.005.
    shop.write('fx.csv', `${rates}2026-03-08,USD,EUR,0.70049996\n2026-03-09,USD,EUR,0.6\n`);
    await shop.run();
    const profit = await sql`
      select trim_scale(profit_reporting_amount) as profit from bi.returns_monthly where currency = 'USD'`.execute(
      shop.db,
    );
    expect(profit.rows).toEqual([{ profit: '12.00199984' }]);
    const precise = await shop.cli('returns', '--one-currency', '--json');
    expect(JSON.parse(precise.stdout)).toMatchObject({
      net_amount: '155.00',
      net_at_least: '155.00',
      cost_amount: '25.50',
      cost_at_least: '25.50',
      profit_amount: '52.00',
    });
    // At the rates of the days on which the lines count: 10 EUR, 6 USD at 0.9, 1 USD at 0.6, and the fee.
    expect((await shop.cli('statement', '--month', '2026-03')).stdout).toContain('Total: 26.00 EUR');
    shop.write('fx.csv', 'day,from,to,rate\n2026-03-05,USD,EUR,x\n');
    const broken = await shop.cli('statement', '--month', '2026-03');
    expect([broken.exitCode, broken.stderr]).toEqual([3, expect.stringContaining('fx.csv:2 rate')]);
  });
});
