import { expect, test } from 'vitest';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import { mapText, onlyFault } from './map-text.ts';

const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at';

test.each([
  ['a mangled id', '1.23E+12,5,EUR,,', ['spreadsheet_damage', 'order_id', '1.23E+12']],
  ['no value as an id', 'N/A,5,EUR,,', ['no_value', 'order_id', 'N/A']],
  ['a blank id', ',5,EUR,,', ['missing_value', 'order_id', '']],
  ['no amount', '1,,EUR,,', ['missing_value', 'order_revenue', null]],
  ['a bad amount', '1,"5,00",EUR,,', ['bad_money', 'order_revenue', '5,00']],
  ['a bad currency', '1,5,EURO,,', ['bad_currency', 'currency', 'EURO']],
  ['a bad time', '1,5,EUR,,45123', ['bad_time', 'placed_at', '45123']],
  [
    'a time without a zone',
    '1,5,EUR,,2026-04-10 10:00:00',
    ['time_without_zone', 'placed_at', '2026-04-10 10:00:00'],
  ],
  [
    'a code that is a text',
    `1,5,EUR,${'x'.repeat(201)},`,
    ['value_too_long', 'discount_codes', `${'x'.repeat(199)}…`],
  ],
])('%s is rejected with its place, and the other rows are read', async (_, row, fault) => {
  const mapped = await mapText(`${HEADER}\n0,1,EUR,,\n${row}\n9,1,EUR,,\n`);
  expect(onlyFault(mapped)).toEqual(fault);
  expect(mapped.rejected[0]).toMatchObject({ line: 3, record: 2, rowCount: 1 });
  expect(mapped.rejected[0]?.help).not.toBe('');
  expect(mapped.orders.map(({ orderId }) => orderId)).toEqual(['0', '9']);
});

test('an e-mail address in a required column is masked', async () => {
  const mapped = await mapText(`${HEADER}\n1,ada.example@example.com,EUR,,\n`);
  expect(onlyFault(mapped)).toEqual(['bad_money', 'order_revenue', 'a***@***']);
});

test('a cell of a column about people is shown without its letters, whatever it is read as', async () => {
  const generic = loadLayout('generic');
  const layout = { ...generic, columns: { ...generic.columns, order_id: ['Kunde'] } };
  const text = `Kunde,order_revenue,currency\n${'Mara '.repeat(41)},5,EUR\n`;
  const [code, column, value] = onlyFault(await mapText(text, { layout }));
  expect([code, column, value?.slice(0, 9)]).toEqual(['id_too_long', 'Kunde', 'M*** M***']);
});

test('a row without a currency is rejected if the source has none, and a file without the column is held', async () => {
  const options = { source: { timeZone: null, currency: null } };
  const mapped = await mapText('order_id,order_revenue,currency\n1,5,\n', options);
  expect(onlyFault(mapped)[0]).toBe('missing_value');
  await expect(mapText('order_id,order_revenue\n1,5\n', options)).rejects.toMatchObject({
    reason: { code: 'currency_unknown' },
  });
});

test('a blank currency is that of the source, unless an order of the file states another one', async () => {
  const source = { timeZone: null, currency: 'EUR' };
  const csv = (...currencies: readonly string[]): string =>
    `order_id,order_revenue,currency\n${currencies.map((one, at) => `${at},5,${one}`).join('\n')}\n`;
  const { orders } = await mapText(csv('', 'EUR', ''), { source });
  expect(orders.map(({ currency }) => currency)).toEqual(['EUR', 'EUR', 'EUR']);
  for (const text of [csv('', 'EUR', 'GBP'), csv('GBP', '')])
    await expect(mapText(text, { source })).rejects.toMatchObject({ reason: { code: 'currency_unknown' } });
  // What has no amount has nothing to be credited.
  await mapText(csv('', 'GBP').replace('0,5', '0,'), { source });
  const excused = { source: { ...source, missingColumns: { Currency: 'Blank is EUR.' } } };
  expect((await mapText(csv('', 'GBP'), excused)).orders).toHaveLength(2);
});

test('escaped formulas of the export of rejected rows are read back', async () => {
  const { orders } = await mapText(
    "order_id,order_revenue,currency,discount_codes,influencer_handle\n1,'-5.00,EUR,'=ADA,'@ada\n",
  );
  expect(orders).toMatchObject([{ total: '-5.00', codes: ['=ADA'], influencerHandle: '@ada' }]);
});

test.each(['N/A', 'null', 'None', '-', '#REF!'])('an order names nobody by %s', async (nobody) => {
  const { orders } = await mapText(
    `order_id,order_revenue,currency,influencer_handle,deal_id,collab_id,brand_id\n1,5,EUR,${Array(4).fill(nobody).join(',')}\n`,
  );
  expect(orders).toMatchObject([{ influencerHandle: null, dealId: null, collabId: null, brandId: null }]);
});

const ORDERS = ['1,2026-05-01,paid,10.00,MIRA10', '2,2026-05-02,paid,2.50,', '3,2026-05-03,refunded,4.00,'];

test.each<readonly [readonly string[], readonly string[], readonly string[]]>([
  [['Grand total,,,16.50,'], ['5 Grand total sum'], []],
  [['Suma,,,16.50,', 'Liczba,,,3,'], ['5 Suma sum', '6 L***** count'], []],
  // The id is blank, or the number of orders; the label stands among the codes.
  [[',,,16.50,'], ['5 16.50 sum'], []],
  // One sign is missing: it may be an order by chance, and is one if it says what only an order says.
  [['3 sales,,,16.50,Total'], [], ['5 may_be_total']],
  [['Suma,2026-05-04,,16.50,'], [], ['5 may_be_total']],
  [['zoe,2026-05-04,paid,16.50,'], [], []],
  [['zoe,2026-05-04,,16.50,ZOE20'], [], []],
  [['6,,paid,16.50,'], [], []],
  [['GIFT,,paid,16.50,MIRA10'], [], ['5 may_be_total']],
  [['GIFT,,,16.50,MIRA10'], [], ['5 may_be_total']],
  // Nothing shows what it is.
  [['Average,,,5.50,'], [], ['5 may_be_total']],
  // Orders follow: it is the total of a page, if it is that of the orders since the last one.
  [['Suma,,,16.50,', '4,2026-05-04,paid,1.00,'], ['5 Suma sum'], []],
  [
    ['Page 1,,,16.50,', '4,2026-05-04,paid,1.00,', 'Page 2,,,1.00,', 'All,,,17.50,'],
    ['5 P*** 1 sum', '7 P*** 2 sum', '8 All sum'],
    [],
  ],
  [['Page 1,,,16.00,', '4,2026-05-04,paid,1.00,'], [], []],
  [['Suma,,,16.00,', '4,2026-05-04,paid,1.00,'], [], ['5 may_be_total']],
  // An order without a time, and one that happens to have the amount of all others.
  [['4,,paid,7.00,MIRA10', '5,2026-05-05,paid,23.50,'], [], []],
  // Only its numbers show that it is no order, so its first cell may be a name.
  [['Jane Doe,,,16.50,'], ['5 J*** D** sum'], []],
])('rows after the last order that add up those above are none: %j', async (rows, footer, rejected) => {
  const text = ['order_id,placed_at,status,order_revenue,discount_code', ...ORDERS, ...rows, ''].join('\n');
  const mapped = await mapText(text, { source: { timeZone: 'UTC', currency: 'EUR' }, reduced: true });
  expect(mapped.footer.map((row) => `${row.line} ${row.text} ${row.by}`)).toEqual(footer);
  expect(mapped.rejected.map(({ line, code }) => `${line} ${code}`)).toEqual(rejected);
  const others = rows.length - footer.length - rejected.length;
  expect([mapped.orders.length, mapped.rowsRead]).toEqual([3 + others, 3 + others + rejected.length]);
});

test('an amount is rejected if the name of its column states another currency than its order', async () => {
  const generic = loadLayout('generic');
  const columns = {
    ...generic.columns,
    order_id: ['id'],
    total: ['Total (EUR)'],
    refunded: ['Refunded (EUR)'],
  };
  const layout = { ...generic, columns };
  const text = 'id,Total (EUR),Refunded (EUR),currency\n1,85,0,USD\n2,200,0,EUR\n3,0,0,USD\n';
  const mapped = await mapText(text, { layout });
  expect(onlyFault(mapped)).toEqual(['other_currency', 'Total (EUR)', '85']);
  expect(mapped.orders.map(({ orderId, total }) => [orderId, total])).toEqual([
    ['2', '200.00'],
    ['3', '0.00'],
  ]);
});
