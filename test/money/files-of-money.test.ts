import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StatementSettings } from '../../src/config/schema.ts';
import { includes } from '../../src/money/conditions.ts';
import {
  findBrokenRules,
  loadExchange,
  loadStatementRules,
  parseRates,
  parseTerms,
} from '../../src/money/load-rules.ts';
import { scheduleTerms } from '../../src/money/schedule-terms.ts';
import type { Terms } from '../../src/money/statement.ts';
import { termsOf } from '../support/terms.ts';

/** Each function says the whole result for each input, so that nothing of it is left open. */

describe('a row of terms.csv', () => {
  const COLUMNS =
    'deal_id,code,rate,flat,fixed_fee,currency,excluded_skus,only_skus,customer,first_days,from_orders,from_revenue,tier,cap,min_payout,valid_from,valid_to,reason';
  const parse = (given: Readonly<Record<string, string>>) =>
    parseTerms(
      `${COLUMNS}\n${COLUMNS.split(',')
        .map((column) => given[column] ?? '')
        .join(',')}\n`,
    );
  const deal = { deal_id: 'D1' };

  it('has as many cells as the header, since 12,5 before a blank cell looks like two', () => {
    for (const row of ['D1,12,5', 'D1,12,'])
      expect(parseTerms(`deal_id,rate\n${row}\n`), row).toMatchObject({ rows: [], problems: [{ line: 2 }] });
  });

  it('keeps each cell, and says all but the reason as it is written', () => {
    const tier = { ...deal, rate: '12.5 %', currency: 'eur', customer: 'NEW', first_days: '9999' };
    const given = { ...tier, from_orders: '2', from_revenue: '1000.50', tier: 'ALL', reason: 'as agreed' };
    expect(parse({ ...given, valid_from: '2026-01-01', valid_to: '2026-01-01' })).toEqual({
      rows: [
        termsOf({
          ratePercent: '12.5',
          currency: 'EUR',
          customer: 'new',
          firstDays: 9999,
          fromOrders: 2,
          fromRevenue: '1000.50',
          tier: 'all',
          validFrom: '2026-01-01',
          validTo: '2026-01-01',
          text: 'deal_id=D1 rate=12.5 % currency=eur customer=NEW first_days=9999 from_orders=2 from_revenue=1000.50 tier=ALL valid_from=2026-01-01 valid_to=2026-01-01',
        }),
      ],
      problems: [],
    });
    const limits = { cap: '500', min_payout: '20.00', fixed_fee: '100', excluded_skus: 'A;b*; a ;' };
    expect(
      parse({ ...deal, ...limits, currency: 'EUR', valid_from: '2026-02-01', valid_to: '2026-02-28' }),
    ).toEqual({
      rows: [
        termsOf({
          cap: '500',
          minPayout: '20.00',
          fixedFee: '100',
          excludedSkus: ['a', 'b*'],
          currency: 'EUR',
          validFrom: '2026-02-01',
          validTo: '2026-02-28',
          text: 'deal_id=D1 fixed_fee=100 currency=EUR excluded_skus=A;b*; a ; cap=500 min_payout=20.00 valid_from=2026-02-01 valid_to=2026-02-28',
        }),
      ],
      problems: [],
    });
  });

  it.each([
    ['rate', { rate: '0' }, null],
    ['rate', { rate: '1' }, null],
    ['rate', { rate: '100' }, null],
    ['rate', { rate: '0.5%' }, null],
    [
      'rate',
      { rate: '0.5' },
      'Write 50 for that share of the revenue, or 0.5% if you mean less than one percent.',
    ],
    ['rate', { rate: '100.0001' }, 'Write 12.5 for 12.5 percent.'],
    ['rate', { rate: '1.00001' }, 'Write it with a point and without separators: 12.5'],
    ['rate', { rate: '-1' }, 'Write it with a point and without separators: 12.5'],
    ['rate', { rate: '1.000' }, 'Write 1000 or 1.00.'],
    ['rate', { rate: '12.125' }, 'Write 12125 or 12.1250.'],
    ['rate', { rate: '0.125%' }, null],
    ['fixed_fee', { fixed_fee: '2.500', currency: 'EUR', valid_from: '2026-01-01' }, 'Write 2500 or 2.50.'],
    ['fixed_fee', { fixed_fee: '2.500', currency: 'KWD', valid_from: '2026-01-01' }, null],
    ['flat', { flat: '1.000', currency: 'JPY' }, 'Write 1000 or 1.00.'],
    ['flat', { flat: '5.00', currency: 'EUR' }, null],
    ['flat', { flat: '5.00', currency: 'EUR', rate: '5' }, 'Fill in one of rate and flat.'],
    ['fixed_fee', { fixed_fee: '5.00', currency: 'JPY', valid_from: '2026-01-01' }, null],
    [
      'fixed_fee',
      { fixed_fee: '5.50', currency: 'JPY', valid_from: '2026-01-01' },
      'Write the amount that is paid out, or correct the currency.',
    ],
    ['first_days', { rate: '5', first_days: '10000' }, 'Write a whole number from 1 to 9999: 30'],
    ['first_days', { rate: '5', first_days: '1.5' }, 'Write a whole number from 1 to 9999: 30'],
    ['from_orders', { rate: '5', from_orders: '9999999', tier: 'month' }, null],
    [
      'from_orders',
      { rate: '5', from_orders: '10000000', tier: 'month' },
      'Write 10 for the tenth order and those after it.',
    ],
    ['tier', { rate: '5', from_orders: '2', tier: 'year' }, 'Write month for those of the month, or all.'],
    ['tier', { rate: '5', tier: 'all' }, 'Fill in one of them, or leave tier blank.'],
    [
      'customer',
      { rate: '5', customer: 'old' },
      'Write new for the first order of a customer, or returning. Leave it blank for any customer.',
    ],
    ['min_payout', { min_payout: '5', currency: 'EUR', code: 'A', deal_id: '' }, 'Name the deal in deal_id.'],
    ['deal_id', { min_payout: '5', currency: 'EUR', deal_id: '' }, null],
    [
      'deal_id',
      { min_payout: '5', rate: '5', currency: 'EUR', deal_id: '' },
      'Fill in one of deal_id and code. A row without them can only exclude products or set a minimum, for everybody: excluded_skus, min_payout.',
    ],
    [
      'rate',
      { from_revenue: '5', tier: 'all', currency: 'EUR' },
      'Fill in rate, flat, fixed_fee, excluded_skus, cap or min_payout.',
    ],
    ['cap', { cap: '5', currency: 'EUR', valid_from: '2028-02-01', valid_to: '2028-02-29' }, null],
    [
      'valid_from',
      { cap: '5', currency: 'EUR', valid_from: '2028-02-11' },
      'Write 2028-02-01, and give what else the row says a row of its own.',
    ],
    [
      'valid_to',
      { cap: '5', currency: 'EUR', valid_to: '2028-02-28' },
      'Write 2028-02-29, and give what else the row says a row of its own.',
    ],
    ['valid_to', { rate: '5', valid_to: '2028-02-30' }, 'Write 2026-04-30.'],
    ['only_skus', { rate: '5', only_skus: 'A;B*' }, null],
    [
      'only_skus',
      { rate: '5', only_skus: 'A', customer: 'new' },
      'Fill in rate, and write what else the row says in rows without only_skus.',
    ],
    [
      'only_skus',
      { rate: '5', only_skus: 'A*B' },
      'Write GIFT-* for all SKUs that begin with GIFT-. To pay nothing for any product, set the rate to 0.',
    ],
    ['excluded_skus', { excluded_skus: ';' }, 'Write SKUs with a semicolon between them: GIFT-50;GIFT-60'],
    ['excluded_skus', { excluded_skus: 'A' }, null],
    [
      'excluded_skus',
      { excluded_skus: '*A' },
      'Write GIFT-* for all SKUs that begin with GIFT-. To pay nothing for any product, set the rate to 0.',
    ],
    ['excluded_skus', { excluded_skus: 'A', min_payout: '5', currency: 'EUR', deal_id: '' }, null],
    [
      'deal_id',
      { deal_id: '', currency: 'EUR' },
      'Fill in one of deal_id and code. A row without them can only exclude products or set a minimum, for everybody: excluded_skus, min_payout.',
    ],
    ['rate', { rate: '0.12345' }, 'Write it with a point and without separators: 12.5'],
    [
      'rate',
      { rate: '0.1234' },
      'Write 12.34 for that share of the revenue, or 0.1234% if you mean less than one percent.',
    ],
    ['rate', { rate: '1.500', cap: '5', currency: 'KWD' }, 'Write 1500 or 1.50.'],
    ['flat', { flat: '5', currency: 'EUR', code: 'A', deal_id: '' }, null],
    [
      'from_orders',
      { rate: '5', from_orders: 'ten', tier: 'all' },
      'Write 10 for the tenth order and those after it.',
    ],
    [
      'from_orders',
      { rate: '5', from_orders: '1', tier: 'all' },
      'Write 10 for the tenth order and those after it.',
    ],
    [
      'from_revenue',
      { rate: '5', from_revenue: '90', tier: 'all', cap: '5', currency: 'EUR' },
      'Fill in rate or flat, and write fixed_fee, cap, min_payout and excluded_skus in a row without conditions.',
    ],
    [
      'customer',
      { excluded_skus: 'A', customer: 'new' },
      'Fill in rate or flat, and write fixed_fee, cap, min_payout and excluded_skus in a row without conditions.',
    ],
    ['valid_to', { rate: '5', valid_to: '2026-04-30' }, null],
  ] as const)('may have in %s what is allowed there: %j', (column, cells, help) => {
    const { rows, problems } = parse({ ...deal, ...cells });
    expect([rows.length, problems.map((one) => [one.line, one.column, one.help])]).toEqual(
      help === null ? [1, []] : [0, [[2, column, help]]],
    );
  });

  it.each([
    ['code,rate', 'A,5'],
    ['deal_id,flat,currency', 'D1,5,EUR'],
    ['deal_id,fixed_fee,currency,valid_from', 'D1,5,EUR,2026-04-01'],
    ['deal_id,excluded_skus', 'D1,A'],
    ['deal_id,cap,currency', 'D1,5,EUR'],
    ['deal_id,min_payout,currency', 'D1,5,EUR'],
  ])('needs no other columns than %s', (header, row) => {
    expect(parseTerms(`${header}\n${row}\n`)).toMatchObject({ rows: { length: 1 }, problems: [] });
  });

  it.each<readonly [wide: Partial<Terms>, narrow: Partial<Terms>, isIncluded: boolean, back: boolean]>([
    [{}, {}, true, true],
    [{}, { customer: 'new' }, true, false],
    [{}, { firstDays: 30 }, true, false],
    [{}, { tier: 'all', fromOrders: 5 }, true, false],
    [{}, { tier: 'month', fromRevenue: '5', currency: 'EUR' }, true, false],
    [{ customer: 'new' }, { customer: 'returning' }, false, false],
    [{ onlySkus: ['a*', 'b'] }, { onlySkus: ['a1', 'b'] }, true, false],
    [{ onlySkus: ['a*'] }, { onlySkus: ['a*', 'b'] }, false, true],
    [{}, { onlySkus: ['a'] }, true, false],
    [{ firstDays: 30 }, { firstDays: 30 }, true, true],
    [{ firstDays: 31 }, { firstDays: 30 }, true, false],
    [{ tier: 'all', fromOrders: 5 }, { tier: 'month', fromOrders: 5 }, true, false],
    [{ tier: 'all', fromOrders: 5 }, { tier: 'all', fromOrders: 6 }, true, false],
    [{ tier: 'month', fromOrders: 5 }, { tier: 'month', fromOrders: 5 }, true, true],
    [{ flat: '5', currency: 'EUR' }, { flat: '6', currency: 'USD' }, false, false],
    [{ flat: '5', currency: 'EUR' }, { ratePercent: '6' }, true, true],
    [
      { tier: 'all', fromRevenue: '100', currency: 'EUR' },
      { tier: 'all', fromRevenue: '100.00', currency: 'EUR' },
      true,
      true,
    ],
    [
      { tier: 'all', fromRevenue: '100', currency: 'EUR' },
      { tier: 'all', fromRevenue: '101', currency: 'EUR' },
      true,
      false,
    ],
    [
      { tier: 'all', fromRevenue: '100', currency: 'EUR' },
      { tier: 'all', fromRevenue: '101', currency: 'USD' },
      false,
      false,
    ],
    [{ tier: 'all', fromRevenue: '100', currency: 'EUR' }, { tier: 'all', fromOrders: 2 }, false, false],
  ])('with %j applies to all orders of one with %j: %s, and the other way: %s', (wide, narrow, is, back) => {
    expect([includes(termsOf(wide), termsOf(narrow)), includes(termsOf(narrow), termsOf(wide))]).toEqual([
      is,
      back,
    ]);
  });

  it('is in force from its first to its last day, and in a schedule of its deal, its code or everybody', () => {
    const [line2, line3, line4] = [
      termsOf({ line: 2, ratePercent: '10', validTo: '2026-02-28', excludedSkus: ['a'] }),
      termsOf({ line: 3, ratePercent: '12', validFrom: '2026-03-01', validTo: '9999-12-31' }),
      termsOf({ line: 4, excludedSkus: ['b', 'a'], validFrom: '2026-02-01', validTo: '2026-02-28' }),
    ];
    expect(
      scheduleTerms([
        line3,
        line2,
        line4,
        termsOf({ line: 5, ratePercent: '20', customer: 'new' }),
        termsOf({
          line: 6,
          dealId: null,
          codeFolded: 'mia10',
          ratePercent: '15',
          validFrom: '2026-12-31',
          validTo: '2026-12-31',
        }),
        termsOf({ line: 7, dealId: null, excludedSkus: ['gift-*'] }),
      ]),
    ).toEqual([
      {
        dealId: 'D1',
        code: null,
        since: ['-infinity', '2026-02-01', '2026-03-01'],
        rates: ['10', '10', '12'],
        lines: [2, 2, 3],
        skus: [['a'], ['a', 'b'], []],
      },
      {
        dealId: null,
        code: 'mia10',
        since: ['-infinity', '2026-12-31', '2027-01-01'],
        rates: [null, '15', null],
        lines: [null, 6, null],
        skus: [[], [], []],
      },
      { dealId: null, code: null, since: ['-infinity'], rates: [null], lines: [null], skus: [['gift-*']] },
    ]);
  });
});

describe('a row of fx.csv', () => {
  it.each([
    ['2026-04-30,usd,eur,0.9215', { currency: 'USD', day: '2026-04-30', rate: '0.9215' }],
    [
      '2026-04-30,USD,EUR,99999999999.123456789012',
      { currency: 'USD', day: '2026-04-30', rate: '99999999999.123456789012' },
    ],
    ['2026-04-30,USD,GBP,0.9', null],
    ['2026-04-31,USD,EUR,0.9', ['day', 'This is not a day.', 'Write 2026-04-30.']],
    ['2026-04-30,US,EUR,0.9', ['from', 'This is not a currency.', 'Write three letters, for example EUR.']],
    ['2026-04-30,USD,EURO,0.9', ['to', 'This is not a currency.', 'Write three letters, for example EUR.']],
    ['2026-04-30,EUR,EUR,1', ['to', 'Both currencies are the same.', 'Remove the row: no rate is needed.']],
    ...['0.000', '1,1', '-1', '', '1.1234567890123', '100000000000'].map(
      (rate) =>
        [
          `2026-04-30,USD,EUR,"${rate}"`,
          [
            'rate',
            'This is not a rate.',
            'Write what 1 of the first currency is worth in the second, with a point: 0.9215',
          ],
        ] as const,
    ),
  ] as const)('%s', (row, wanted) => {
    const { rows, problems } = parseRates(`day,from,to,rate\n${row}\n`, 'EUR');
    const said = problems.map(({ line, column, reason, help }) => [line, column, reason, help]);
    expect([rows, said]).toEqual(
      wanted === null ? [[], []] : Array.isArray(wanted) ? [[], [[2, ...wanted]]] : [[wanted], []],
    );
  });

  it('is the only one of its currency and day', () => {
    const row = (day: string, from = 'USD') => `2026-04-${day},${from},EUR,0.9`;
    const of = (...rows: readonly string[]) => parseRates(`day,from,to,rate\n${rows.join('\n')}\n`, 'EUR');
    // Other columns are the user's own; a row that ends early may lack any cell.
    expect(parseRates('source,rate,to,from,day\nECB,0.9,EUR,USD,2026-04-01\n', 'EUR').rows).toHaveLength(1);
    expect(of(`${row('01')},`).problems).toHaveLength(1);
    for (const column of ['day', 'from', 'to', 'rate'])
      expect(parseRates('day,from,to,rate\n'.replace(column, 'x'), 'EUR').missingColumns).toEqual([column]);
    expect(of(row('01'), row('02'), row('01', 'GBP'))).toMatchObject({ rows: { length: 3 }, problems: [] });
    expect(of(row('01'), row('01')).problems).toMatchObject([{ line: 3, column: 'day' }]);
  });
});

describe('the rules of statements', () => {
  /** What is said of the two files; null: the file is not configured. */
  const load = (
    files: Readonly<Record<'terms' | 'fx', string | Buffer | null>>,
    reportingCurrency: string | null = 'EUR',
  ) => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    try {
      const pathOf = (name: 'terms' | 'fx') => {
        const [path, content] = [join(folder, `${name}.csv`), files[name]];
        if (content !== null && content !== 'missing') writeFileSync(path, content);
        return content === null ? null : path;
      };
      const settings = { terms: pathOf('terms'), fx: pathOf('fx'), reportingCurrency } as StatementSettings;
      const broken = findBrokenRules(settings).map(
        ({ details: { code, exitCode, message, where, problems = [] } }) =>
          [code, exitCode, message, basename(where ?? ''), ...problems.map((one) => one.where)].join(' | '),
      );
      return broken.length > 0 ? broken : [loadStatementRules(settings).terms.length, loadExchange(settings)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const TERMS = 'deal_id,rate\n';
  const NOT_UTF8 = Buffer.from([0x64, 0xe9]);

  it.each<readonly [what: string, of: ReturnType<typeof load>, wanted: unknown]>([
    ['nothing', load({ terms: null, fx: null }, null), [0, null]],
    [
      'a currency without rates',
      load({ terms: null, fx: null }),
      [0, { reportingCurrency: 'EUR', rates: [] }],
    ],
    ['rates without a currency', load({ terms: `${TERMS}D1,10\n`, fx: 'broken' }, null), [1, null]],
    [
      'one bad row',
      load({ terms: `${TERMS}D1,10\nD2,x\n`, fx: null }),
      [
        'statement_rules_invalid | 3 | A row of the terms or exchange rates cannot be used. | terms.csv | terms.csv:3 rate',
      ],
    ],
    [
      'two bad rows, and a bad row of the other file',
      load({ terms: `${TERMS}D1,x\nD2,x\n`, fx: 'day,from,to,rate\n2026-01-01,USD,EUR,x\n' }),
      [
        'statement_rules_invalid | 3 | 2 rows of the terms or exchange rates cannot be used. | terms.csv | terms.csv:2 rate | terms.csv:3 rate',
        'statement_rules_invalid | 3 | A row of the terms or exchange rates cannot be used. | fx.csv | fx.csv:2 rate',
      ],
    ],
    [
      'a missing file, and one that is not UTF-8',
      load({ terms: 'missing', fx: NOT_UTF8 }),
      [
        'statement_rules_unreadable | 2 | The terms or exchange rates cannot be read. | terms.csv',
        'statement_rules_unreadable | 2 | The terms or exchange rates are not UTF-8. | fx.csv',
      ],
    ],
  ])('with %s', (_, of, wanted) => {
    expect(of).toEqual(wanted);
  });
});
