import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { toParseOptions } from '../../../src/intake/csv/parse-options.ts';
import { layoutSchema } from '../../../src/intake/layout/layout-schema.ts';
import type { Layout } from '../../../src/intake/layout/to-layout.ts';
import { toLayout } from '../../../src/intake/layout/to-layout.ts';
import { holdReason, inPieces } from '../csv/parse-text.ts';
import { type Mapped, mapText, onlyFault } from '../orders/map/map-text.ts';

const LEAST = {
  title: 'Ours',
  columns: { order_id: ['id'], total: ['total'], currency: ['currency'] },
  required: ['order_id', 'total'],
};

/** Returns a layout of `id`, `total` and `currency`, plus the YAML of the test. */
function layoutOf(yaml: string): Layout {
  const { columns = {}, ...rest } = (parse(yaml) ?? {}) as { columns?: object };
  return toLayout(
    'ours',
    layoutSchema.parse({ ...LEAST, ...rest, columns: { ...LEAST.columns, ...columns } }),
  );
}

function mapRows(yaml: string, rows: readonly string[], timeZone: string | null = null): Promise<Mapped> {
  return mapText(`${rows.join('\n')}\n`, { layout: layoutOf(yaml), source: { timeZone, currency: null } });
}

/** Parses lines as the layout prescribes. */
async function parseBy(yaml: string, lines: readonly string[]) {
  const limits = {
    maxBytes: 1e9,
    maxRatio: 1e3,
    maxRecordBytes: 1e6,
    idleTimeoutSeconds: 1,
    maxRejectedShare: 1,
    maxUnreadableShare: 1,
    maxCancelledShare: 1,
    maxZeroRevenueShare: 1,
    maxUnlistedShare: 1,
  };
  const records: string[] = [];
  const rejected: string[] = [];
  let head: readonly string[] = [];
  for await (const chunk of parseCsv(
    inPieces(`${lines.join('\n')}\n`, 7),
    toParseOptions(layoutOf(yaml), limits),
  )) {
    head = chunk.header;
    records.push(...chunk.records.map(({ line, cells }) => `${line}: ${cells.join(' ')}`));
    rejected.push(...chunk.rejected.map(({ line, code }) => `${line}: ${code}`));
  }
  return { header: head, records, rejected };
}

test('the time zone of the format applies to times without a zone, whatever the source says', async () => {
  const yaml = 'time_zone: UTC\ntimes: ["YYYY-MM-DD HH:mm"]\ncolumns: { placed_at: [Created (UTC)] }';
  const rows = ['id,total,currency,Created (UTC)', 'A,1.00,EUR,2026-04-10 23:30'];
  expect((await mapRows(yaml, rows, 'Europe/Amsterdam')).orders[0]?.placedAt).toBe('2026-04-10T23:30:00Z');
});

test.each([
  ['PST', '2026-04-11T07:30:00Z'],
  ['PDT', '2026-04-11T06:30:00Z'],
  ['cest', '2026-04-10T21:30:00Z'],
  ['GMT+05:30', '2026-04-10T18:00:00Z'],
  ['-8', '2026-04-11T07:30:00Z'],
  ['America/New_York', '2026-04-11T03:30:00Z'],
  ['', '2026-04-10T21:30:00Z'],
])('a zone column determines the time zone of its row: %j', async (zone, instant) => {
  const yaml =
    'time_zone_column: [TimeZone]\ntime_of_day: [Time]\ntimes: ["M/D/YY H:mm"]\ncolumns: { placed_at: [Date] }';
  const rows = ['id,total,currency,Date,Time,TimeZone', `A,1.00,EUR,4/10/26,23:30,${zone}`];
  expect((await mapRows(yaml, rows, 'Europe/Amsterdam')).orders[0]?.placedAt).toBe(instant);
});

test.each(['CST', 'IST', 'Mars/Olympus', 'summer', '+99:00'])(
  'an unknown or ambiguous zone is an error: %s',
  async (zone) => {
    const yaml = 'time_zone_column: [TimeZone]\ntimes: ["M/D/YYYY"]\ncolumns: { placed_at: [Date] }';
    const mapped = await mapRows(
      yaml,
      ['id,total,currency,Date,TimeZone', `A,1.00,EUR,4/10/2026,${zone}`],
      'UTC',
    );
    expect(onlyFault(mapped)).toEqual(['bad_time_zone', 'TimeZone', zone]);
  },
);

test('description rows directly below the header are neither orders nor errors; later ones are orders', async () => {
  const rows = [
    'id,total,currency',
    ' Unique id.,The total.,',
    '',
    'unique ID,,',
    'A,1.00,EUR',
    'unique id B,2.00,EUR',
  ];
  const parsed = await parseBy('below_header: [unique id]', rows);
  expect(parsed).toMatchObject({ records: ['5: A 1.00 EUR', '6: unique id B 2.00 EUR'], rejected: [] });
});

test('footer rows after the last order are neither orders nor errors', async () => {
  const rows = [
    'id,total,currency',
    'A,1.00,EUR',
    '',
    '45,record(s) downloaded',
    '45 record(s) downloaded',
    'Seller ID: someone',
  ];
  const parsed = await parseBy('footer: ["record(s) downloaded", "seller id"]', rows);
  expect(parsed).toMatchObject({ records: ['2: A 1.00 EUR'], rejected: [] });
});

test('an order is never a footer row, whatever its cells begin with', async () => {
  const orders = ['7,Summer,EUR', '8,Sum,EUR', 'sum-9,1.00,EUR', 'Sum 10,2.00,EUR', '2 Sum 11,2.00,EUR'];
  const rows = ['id,total,currency', ...orders, 'Sum,30.00,', '2 sum: 5,,'];
  const parsed = await parseBy('footer: [sum]', rows);
  expect(parsed.records).toEqual(orders.map((row, at) => `${at + 2}: ${row.replaceAll(',', ' ')}`));
  expect(parsed.rejected).toEqual([]);
  const last = await parseBy('footer: [sum]', ['currency,total,id', 'Sum,1.00,12', '3,Sum,13', 'Sum,1.00,']);
  expect(last).toMatchObject({ records: ['2: Sum 1.00 12', '3: 3 Sum 13'], rejected: [] });
});

test('a footer row before an order is rejected, and the order counts', async () => {
  const rows = ['id,total,currency', 'Seller ID,1.00,EUR', 'B,2.00,EUR', 'Seller ID: someone'];
  const parsed = await parseBy('footer: ["seller id"]', rows);
  expect(parsed).toMatchObject({ records: ['3: B 2.00 EUR'], rejected: ['2: footer_within'] });
});

test('a header is found by its columns after a preamble of any length, including quotes', async () => {
  const yaml = 'preamble_lines: search';
  for (const preamble of [
    [],
    ['Report of 3" things, all'],
    [',,,', '', 'a;b;c;d', 'id,total of May', 'from,to,"May', 'June"'],
  ]) {
    const parsed = await parseBy(yaml, [...preamble, '"id";"total";currency', 'A;1.00;EUR']);
    expect(parsed.header).toEqual(['id', 'total', 'currency']);
    expect(parsed.records).toEqual([`${preamble.length + 2}: A 1.00 EUR`]);
  }
});

test('if none of the first 100 lines has the columns, the first row is treated as the header', async () => {
  const layout = layoutOf('preamble_lines: search');
  const text = `some,thing\n${'x,y\n'.repeat(200)}id,total\n`;
  const reason = await holdReason(
    (async () => {
      const parsed = await parseBy('preamble_lines: search', text.split('\n'));
      expect(parsed.header).toEqual(['some', 'thing']);
      return mapText(text, { layout: { ...layout, preambleLines: 0 } });
    })(),
  );
  expect(reason.code).toBe('header_mismatch');
});

test('a line of delimiters before the header counts as blank', async () => {
  const parsed = await parseBy('', [',,,', 'id,total,currency', ',,', 'A,1.00,EUR']);
  expect(parsed.records).toEqual(['4: A 1.00 EUR']);
});

test('codes can have several separators', async () => {
  const yaml = 'codes: { split: [";", " / "] }\ncolumns: { codes: [code] }';
  const { orders } = await mapRows(yaml, ['id,total,currency,code', 'A,1.00,EUR,ADA10;BOB / CLEO;ADA10']);
  expect(orders[0]?.codes).toEqual(['ADA10', 'BOB', 'CLEO']);
});

const COUPON_ROWS = `
codes: { split: "," }
grouping: { line_items: true }
conditional_columns:
  - { name: coupon of the row, columns: [item_name], when: { columns: [item_type], equals: [coupon] } }
columns: { codes: [coupon of the row] }
`;

test('a column can apply to some rows only', async () => {
  const rows = [
    'id,total,currency,item_type,item_name',
    'A,5.00,EUR,line_item,Wool hat',
    'A,,,coupon,ADA10',
    'A,,,coupon',
  ];
  const { orders, rejected } = await mapRows(COUPON_ROWS, [...rows.slice(0, 3), 'A,,,Coupon,BOB']);
  expect(rejected).toEqual([]);
  expect(orders).toMatchObject([{ codes: ['ADA10', 'BOB'], total: '5.00', rowCount: 3 }]);
});

test('of several columns that a conditional column comes from, the first that is filled counts', async () => {
  const yaml = `
grouping: { line_items: true, item: [no], sum: { total: { plus: [amount] } } }
conditional_columns:
  - { name: invoice, columns: [cancels, no], when: { columns: [no], not_blank: true } }
columns: { order_id: [invoice] }`;
  const rows = ['no,cancels,amount,currency', 'A1,,10.00,EUR', 'A2,,5.00,EUR', 'A3,A1,-10.00,EUR'];
  const { orders } = await mapRows(yaml, rows);
  expect(orders.map(({ orderId, total }) => `${orderId} ${total}`)).toEqual(['A1 0.00', 'A2 5.00']);
});

test('an id may be joined of several columns, and a row without one of them has no id', async () => {
  const yaml = `
joined_columns: [{ name: shop and receipt, columns: [shop, id] }]
columns: { order_id: [shop and receipt] }`;
  const rows = ['shop,id,total,currency', 'Oost,12,1.00,EUR', 'West,12,2.00,EUR', ',12,3.00,EUR'];
  const others = ['Oost,1.2E+12,4.00,EUR', 'Oost:1,2,5.00,EUR'];
  const { orders, rejected } = await mapRows(yaml, [...rows, ...others]);
  expect(orders.map(({ orderId }) => orderId)).toEqual(['Oost:12', 'West:12']);
  expect(rejected.map(({ code, line }) => `${line} ${code}`)).toEqual([
    '4 missing_value',
    '5 missing_value',
    '6 missing_value',
  ]);
});

test('a file is held if ids are joined from what tells sales from refunds, by its name or by its words', async () => {
  const yaml = (part: string): string => `
joined_columns: [{ name: id and kind, columns: [id, ${part}] }]
columns: { order_id: [id and kind] }`;
  const rows = (part: string, word: string): string[] => [
    `id,${part},total,currency`,
    '12,Verkoop,50.00,EUR',
    `12,${word},20.00,EUR`,
  ];
  const held = (reason: object) => ({ reason: { code: 'column_missing', ...reason } });
  for (const name of ['Type', 'Soort', 'Order type', 'Status'])
    await expect(mapRows(yaml(name), rows(name, 'Kassa'))).rejects.toMatchObject(
      held({ message: expect.stringContaining(`from "${name}"`) }),
    );
  for (const word of ['Retour', 'Refund', 'geannuleerd'])
    await expect(mapRows(yaml('Boeking'), rows('Boeking', word))).rejects.toMatchObject(
      held({ message: expect.stringContaining('on line 3') }),
    );
  expect((await mapRows(yaml('Boeking'), rows('Boeking', 'Retourenhof Nord'))).orders).toHaveLength(2);
});

test('amounts that are added up are in the currency that the names of their columns state', async () => {
  const yaml = `
grouping: { sum: { total: { plus: [Items (EUR), Shipping ($)] } } }
columns: { total: [unused] }`;
  const rows = ['id,Items (EUR),Shipping ($),currency', 'A,85,0,USD', 'B,200,0,EUR', 'C,200,5,EUR'];
  const { orders, rejected } = await mapRows(yaml, rows);
  expect(rejected.map(({ code, column, line }) => [code, column, line])).toEqual([
    ['other_currency', 'Items (EUR)', 2],
    ['other_currency', 'Shipping ($)', 4],
  ]);
  expect(orders.map(({ orderId }) => orderId)).toEqual(['B']);
});

test('a conditional column is summed like any other', async () => {
  const yaml = `
grouping: { sum: { total: { plus: [price, tax on top] } } }
conditional_columns:
  - { name: tax on top, columns: [tax], when: { columns: [channel], none_of: [amazon.de, amazon.fr] } }
columns: { total: [unused] }`;
  const rows = [
    'id,price,tax,currency,channel',
    'A,10.00,1.00,EUR,Amazon.de',
    'B,10.00,1.00,EUR,Amazon.com',
    'C,10.00,1.00,EUR,',
  ];
  const { orders } = await mapRows(yaml, rows);
  expect(orders.map(({ total }) => total)).toEqual(['10.00', '11.00', '11.00']);
});

test('a file without the columns of a required conditional column is held, and so is one with a column of its name', async () => {
  const yaml = `${COUPON_ROWS}\nrequired: [order_id, total, codes]`;
  const lacking = await holdReason(mapRows(yaml, ['id,total,currency,item_name', 'A,5.00,EUR,x']));
  expect(lacking.code).toBe('header_mismatch');
  const taken = await holdReason(
    mapRows(yaml, ['id,total,currency,item_type,item_name,Coupon of the row', 'A,5.00,EUR,x,y,z']),
  );
  expect(taken).toMatchObject({
    code: 'ambiguous_header',
    message: expect.stringContaining('coupon of the row'),
  });
});

test('UTM columns provide links unchanged', async () => {
  const yaml = 'grouping: { line_items: true }\ncolumns: { links: [utm_campaign, landing] }';
  const rows = [
    'id,total,currency,utm_campaign,landing',
    'A,5.00,EUR,mira-spring,https://www.shop.test/mira/?x=1',
    'A,,,cleo,',
    'B,1.00,EUR,ann@example.com,',
  ];
  const { orders } = await mapRows(yaml, rows);
  expect(orders.map(({ links }) => links)).toEqual([
    ['mira-spring', 'cleo', 'shop.test/mira'],
    [expect.not.stringContaining('ann')],
  ]);
});

test('renewals of subscriptions are marked by the rule in docs/layouts.md', async () => {
  const page = readFileSync(new URL('../../../docs/layouts.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /```yaml\n(exclusions:\n.*reason: renewal.*\n)```/.exec(page) ?? [];
  const { orders } = await mapRows(yaml, [
    'id,total,currency,Order type',
    'A,1.00,EUR,first',
    'B,1.00,EUR,Recurring',
    'C,1.00,EUR,',
  ]);
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([null, 'renewal', null]);
});

test('none_of matches a blank cell, and a file without the column is held', async () => {
  const yaml = 'exclusions: [{ reason: not_a_sale, columns: [Type], none_of: [Sale, Express Checkout] }]';
  const { orders } = await mapRows(yaml, [
    'id,total,currency,Type',
    'A,1.00,EUR,sale',
    'B,1.00,EUR,Express  checkout',
    'C,1.00,EUR,Refund',
    'D,1.00,EUR,',
  ]);
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([null, null, 'not_a_sale', 'not_a_sale']);
  const reduced = ['id,total,currency', 'A,1.00,EUR'];
  await expect(mapRows(yaml, reduced)).rejects.toMatchObject({ reason: { code: 'column_missing' } });
  const excused = `${yaml}\nmay_be_missing: { Type: Reports before 2020 have only sales. }`;
  expect((await mapRows(excused, reduced)).orders[0]?.exclusion).toBe(null);
});

const SYMBOLS = 'money: { decimal: ".", thousands: "," }';

test('an amount cannot contain a currency if the layout says so', async () => {
  const mapped = await mapRows('money: { symbols: false }', ['id,total,currency', 'A,€7.00,EUR']);
  expect(onlyFault(mapped)).toEqual(['bad_money', 'total', '€7.00']);
});

test.each([
  ['AU $3,013.00', 'AUD', '3013.00'],
  ['AU$3,013.00', 'AUD', '3013.00'],
  ['US $ 12.50', 'USD', '12.50'],
  ['-C $5.00', 'CAD', '-5.00'],
  ['12.00 USD', 'USD', '12.00'],
  ['IDR 1,500', 'IDR', '1500.00'],
  ['Rp1,500', 'IDR', '1500.00'],
  ['RM 8.00', 'MYR', '8.00'],
  ['$7.00', 'AUD', '7.00'],
  ['€7.00', 'EUR', '7.00'],
])('an amount can contain its currency: %j is one of %s', async (cell, currency, amount) => {
  const { orders, rejected } = await mapRows(SYMBOLS, ['id,total,currency', `A,"${cell}",${currency}`]);
  expect(rejected).toEqual([]);
  expect(orders[0]?.total).toBe(amount);
});

test.each(['US $3,013.00', '3.00 USD', 'EUR 3.00', '€3.00', '£3.00', 'kr 3.00', 'R$ 3.00', '3.00 zł'])(
  'an amount in another currency than its order is an error: %j',
  async (cell) => {
    const mapped = await mapRows(SYMBOLS, ['id,total,currency', `A,"${cell}",AUD`]);
    expect(onlyFault(mapped)).toEqual(['other_currency', 'total', cell]);
  },
);

test.each(['XYZ 3.00', '3.00 free', '¤3.00', '$3.00 EUR'])(
  'an amount without a known currency is an error: %j',
  async (cell) => {
    const mapped = await mapRows(SYMBOLS, ['id,total,currency', `A,"${cell}",AUD`]);
    expect(onlyFault(mapped)).toEqual(['bad_money', 'total', cell]);
  },
);

const SUMMED = `${SYMBOLS}\ngrouping: { line_items: true, sum: { total: { plus: [price], minus: [off] } } }`;

test.each([
  ['€5.00', '$1.00', 'off', '$1.00'],
  ['US$5.00', '1.00', 'price', 'US$5.00'],
  ['$5.00', '£1.00', 'off', '£1.00'],
  ['kr 5.00', '', 'price', 'kr 5.00'],
])(
  'amounts that are added up are of the currency of their order: %j less %j are not EUR',
  async (price, off, column, value) => {
    const mapped = await mapRows(SUMMED, [
      'id,price,off,currency',
      'A,10.00,,EUR',
      `A,"${price}","${off}",EUR`,
    ]);
    expect(mapped.orders).toEqual([]);
    expect(mapped.rejected.map((row) => [row.code, row.column, row.value])).toEqual([
      ['other_currency', column, value],
    ]);
  },
);

test('amounts that are added up may have any symbol of the currency, and items more decimals than their sum', async () => {
  const rows = [
    'id,price,off,currency',
    'A,$10.005,,USD',
    'A,US$ 5.005,1.01 USD,USD',
    'B,0.333,,EUR',
    'B,0.333,,EUR',
    'C,100.5,,JPY',
    'C,99.5,,JPY',
  ];
  const { orders, rejected } = await mapRows(SUMMED, rows);
  expect(orders.map(({ orderId, total }) => [orderId, total])).toEqual([
    ['A', '14.00'],
    ['C', '200.00'],
  ]);
  expect(rejected).toMatchObject([{ code: 'too_many_decimals', line: 4, column: 'price', value: '0.666' }]);
});

test('an amount with more decimals than its currency is an error of its row', async () => {
  const { orders, rejected } = await mapRows('', [
    'id,total,currency',
    'A,10.50,JPY',
    'B,10.005,EUR',
    'C,1200.00,JPY',
    'D,10.0000,EUR',
  ]);
  expect(orders.map(({ orderId, total }) => [orderId, total])).toEqual([
    ['C', '1200.00'],
    ['D', '10.00'],
  ]);
  expect(rejected.map(({ code, line, value }) => [code, line, value])).toEqual([
    ['too_many_decimals', 2, '10.50'],
    ['too_many_decimals', 3, '10.005'],
  ]);
});

test('a file without any of several alternative columns is held, and the reason names them all', async () => {
  const yaml = 'columns: { codes: [Code], notes: [Note] }\nrequired_any: [[codes, notes]]';
  expect((await mapRows(yaml, ['id,total,currency,Note', 'A,1.00,EUR,'])).orders).toHaveLength(1);
  const reason = await holdReason(mapRows(yaml, ['id,total,currency', 'A,1.00,EUR']));
  expect(reason.message).toContain('"Code" or "Note"');
});

test('an error in a layout lists the permitted words', () => {
  const problems = (file: object): string =>
    (layoutSchema.safeParse({ ...LEAST, ...file }).error?.issues ?? [])
      .map(({ message }) => message)
      .join(' ');
  expect(problems({ times: ['DD.MM'] })).toMatch(/YYYY YY MMM MM M DD D HH H h mm ss A Z/);
  expect(problems({ required: ['order_id', 'totl'] })).toMatch(/Fields: group, order_id/);
  expect(problems({ preamble_lines: 'find' })).toMatch(/or search/);
  expect(problems({ time_zone: 'Amsterdam' })).toMatch(/IANA/);
});
