import { posix } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { encode } from 'iconv-lite';
import { expect, test } from 'vitest';
import { customersLines } from '../../../../src/cli/init/describe-sources.ts';
import { groupSources, type Listed } from '../../../../src/cli/init/recognise/group-sources.ts';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import { FIXTURES } from '../../../intake/orders/map/map-text.ts';
import { exampleRow } from '../../../support/example-row.ts';
import { folderWith, look, ordersOf, summary } from './look.ts';

const SHOPIFY =
  'Name,Email,Financial Status,Currency,Total,Discount Code,Created at,Id,Notes,Payment Method,Refunded Amount,Source,Cancelled at';
const ORDER = '#1,ada@example.com,paid,EUR,20.00,MIA10,2026-04-10 11:11:26 +0200,5001,,,,web,';
/** Another row of the same order. */
const FURTHER = '#1,,,,,,,,,,,,';
test('every fixture of a known export is recognised', async () => {
  const { sources, refused } = await look(FIXTURES.pathname);
  const wrong = sources.flatMap(({ files, examined, proposed }) =>
    files.filter(({ uri }) => proposed !== null || !uri.includes(`/${examined.layout.name}`)),
  );
  expect(wrong).toEqual([]);
  expect(sources.length).toBe(19);
  expect(refused.map(({ name, why }) => `${name}: ${why}`)).toEqual([
    'generic-least.csv: It looks like orders or payments, but no column has the name and the values of discount codes, links or influencers, so no order could be credited. If one has the codes, name it: --column "NAME=codes".',
  ]);
});

test('own files of clicks are recognised, and refused if a run would hold them for clicks of bots', async () => {
  const folder = folderWith({
    'links/a.csv': 'day,link,clicks\n2026-10-01,bit.ly/MIA10,5\n',
    'codes/b.csv': 'Date,Code,Clicks,Country\n2026-10-01,MIA10,5,NL\n',
    'bots/c.csv': 'day,code,type,clicks\n2026-10-01,MIA10,bot,50\n',
  });
  const found = await look(folder);
  expect(summary(found).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'generic-clicks codes/ 1',
    'generic-clicks links/ 1',
    'column_missing',
  ]);
  expect(found.refused[0]?.why).toContain('The file has "type", which may say');
});

test('compressed and re-encoded files are examined, and files of one kind and encoding form one source', async () => {
  const text = `${SHOPIFY}\n${ORDER}\n`;
  const folder = folderWith({
    'shop/2026/04/orders-1.csv': text,
    'shop/2026/05/orders-2.csv.gz': gzipSync(text.replaceAll('5001', '5002').replace('#1', '#2')),
    'shop/2026/05/orders-3.csv.zst': zstdCompressSync(
      Buffer.from(`\ufeff${text.replaceAll('5001', '5003')}`),
    ),
    'utf16/orders.csv': Buffer.from(`${SHOPIFY}\n${ORDER.replace('MIA10', 'MÍA10')}\n`, 'utf16le'),
    'latin/orders.csv': Buffer.from(`${SHOPIFY}\n${ORDER.replace('MIA10', 'MÍA10')}\n`, 'latin1'),
  });
  const found = await look(folder);
  expect(summary(found)).toEqual([
    'shopify-orders shopify-orders latin/ 1 windows-1252',
    'shop-shopify-orders shopify-orders shop/ 3',
    'utf16-shopify-orders shopify-orders utf16/ 1 utf-16le',
  ]);
  expect(ordersOf(found, 1).preview).toMatchObject({ orders: 3, credited: 3, organic: 0 });
  expect(ordersOf(found, 2).preview.codes.map(({ code }) => code)).toEqual(['MÍA10']);
});

test('an order that has a code in two spellings is one order of this code', async () => {
  const text = `${SHOPIFY}\n${ORDER.replace('MIA10', '"MIA10, mia10"')}\n`;
  const { preview } = ordersOf(await look(folderWith({ 'orders.csv': text })));
  expect(preview.sample).toMatchObject([{ codes: ['MIA10', 'mia10'] }]);
  expect(preview.codes).toMatchObject([{ code: 'MIA10', orders: 1, revenue: [{ amount: '20.0000' }] }]);
});

test('names of columns in one encoding only show the encoding, and a few dates that do not exist do not hide a format', async () => {
  const text = ['注文番号,注文日時,合計金額,クーポンコード,ステータス,Items', ...ROWS_OF_JAPAN].join('\n');
  const found = await look(folderWith({ 'chumon.csv': encode(text, 'cp932') }));
  expect(summary(found)).toEqual(['chumon proposed  1 shift_jis']);
  const { preview } = ordersOf(found);
  expect(preview).toMatchObject({ orders: 3, credited: 3, codes: [{ code: 'ミア10', orders: 3 }] });
  expect(preview.rejected).toMatchObject([{ rows: 1, reason: expect.stringContaining('does not exist') }]);
  expect(found.sources[0]?.proposed?.columns.at(-1)).toMatchObject({
    header: 'Items',
    why: expect.stringContaining('a number, not an amount'),
  });
});

const ROWS_OF_JAPAN = ['2026/04/01', '2026/04/02', '2026/04/03', '2026/04/31'].map(
  (day, at) => `J${at + 501},${day},1${at}00,ミア10,完了,${at + 1}`,
);

test('a renewal of a subscription counts as an order to be credited, and only a cancelled one is never posted', async () => {
  const folder = folderWith({
    'orders.csv': [
      SHOPIFY,
      ORDER.replace('web', 'subscription_contract'),
      `${ORDER.replaceAll('5001', '5002').replace('#1', '#2')}2026-04-11 11:11:26 +0200`,
    ].join('\n'),
  });
  const { preview } = ordersOf(await look(folder), 0);
  expect(preview).toMatchObject({ orders: 2, credited: 1, excluded: [{ reason: 'cancelled', orders: 1 }] });
});

test('each source in a mixed folder gets a pattern that matches only its files', async () => {
  const customers =
    'Customer ID,Email,Accepts Email Marketing\n1,a@example.com,yes\n2,b@example.com,no\n3,c@example.com,\n4,,yes\n';
  const folder = folderWith({
    'orders-2026-04.csv': `${SHOPIFY}\n${ORDER}\n`,
    'orders-2026-05.csv': `${SHOPIFY}\n${ORDER.replaceAll('5001', '5002')}\n`,
    'customers.csv': customers,
    _SUCCESS: '',
    'products.csv': 'Product,SKU,Price\nHat,H-1,2.00\n',
  });
  const found = await look(folder);
  expect(summary(found)).toEqual([
    'shopify-customers shopify-customers customers*.csv 1',
    'shopify-orders shopify-orders orders-*.csv 2',
    'products.csv unknown_header',
  ]);
  expect(found.sources[0]?.examined).toMatchObject({
    submitted: 1,
    passedOver: { no_address: 1, refused: 1, contradicting: 0, unknown: 1 },
    consent: { columns: ['Accepts Email Marketing'], yes: 1, no: 1, blank: 1 },
  });
  expect(found.skipped).toBe(1);
});

test.each([
  ['bonnen-oktober-2026.csv', 'bonnen-*.csv', 'bonnen-november-2026.csv'],
  ['omzet 01-09-2026 tm 30-09-2026.csv', 'omzet * tm *.csv', 'omzet 01-10-2026 tm 31-10-2026.csv'],
  ['Pedidos_septiembre.csv.gz', 'Pedidos_*.csv.gz', 'Pedidos_octubre.csv.gz'],
  ['sales.csv', 'sales*.csv', 'sales (2).csv'],
  // Another export begins like this one, so that only the number tells them apart.
  ['orders-2026-09.csv', 'orders-[0-9]*.csv', 'orders-2026-10.csv'],
])('the pattern of %s is %s', (name, pattern, next) => {
  const files = [name, 'klanten.csv', 'orders-items-1.csv'];
  const file = { name, kind: 'shop' } as Listed;
  const [group] = groupSources([file], files);
  expect(group?.path).toBe(pattern);
  expect(posix.matchesGlob(next, pattern)).toBe(true);
});

test('a file that only resembles an export is refused with the reason', async () => {
  const folder = folderWith({
    'quoted.csv': '"Name,Email,Financial Status,Total"\n"#1,a@example.com,paid,2.00"\n',
    'reduced.csv': 'Name,Financial Status,Total,Vendor\n#1,paid,2.00,x\n',
    'fees.csv':
      'id,Created (UTC),Amount,Amount Refunded,Currency,User ID\nfee_1,2026-01-01 10:00,"0,25","0,00",eur,acct_1\n',
    'checkouts.csv': `${SHOPIFY}\n${ORDER.replace('paid', '')}\n`,
    'rows.csv': `${SHOPIFY}\n"${ORDER}"\n"${ORDER}"\n`,
    'list.csv': 'code\nMIRA10\n',
    'empty.csv': '',
    'broken.gz': gzipSync(SHOPIFY).subarray(0, 30),
    'picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0xff, 0xfe]),
  });
  const { sources, refused } = await look(folder);
  expect(sources).toEqual([]);
  const why = Object.fromEntries(refused.map(({ name, code, why: reason }) => [name, `${code}: ${reason}`]));
  expect(why['quoted.csv']).toMatch(/^lines_in_quotes: Each whole line is in quotes/);
  expect(why['reduced.csv']).toMatch(
    /^header_mismatch: It has columns of Shopify orders export, but not "Created at", "Discount Code" or/,
  );
  expect(why['fees.csv']).toMatch(/no order could be credited/);
  expect(why['checkouts.csv']).toMatch(/^no_status: .* it may list abandoned checkouts/);
  expect(why['rows.csv']).toMatch(/^rows_unreadable: .* none of its first 2 rows can be read/);
  expect(why['list.csv']).toMatch(/^one_column/);
  expect(why['empty.csv']).toMatch(/^empty_file/);
  expect(why['broken.gz']).toMatch(/^truncated_gzip: It /);
  expect(Object.keys(why)).toContain('picture.png');
});

test('an export in which only continuation lines are intact is refused as damaged, not accepted as empty', async () => {
  const { sources, refused } = await look(
    folderWith({ 'orders.csv': `${SHOPIFY}\n"${ORDER}"\n${FURTHER}\n` }),
  );
  expect(sources).toEqual([]);
  expect(refused).toMatchObject([
    { code: 'rows_unreadable', why: expect.stringMatching(/no order can be read/) },
  ]);
});

test('unusual values adapt a known layout: decimal commas, other dates, other separators, a preamble', async () => {
  const comma = [
    'id,Created (UTC),Amount,Amount Refunded,Currency,Status,coupon (metadata),Mode,Captured',
    'ch_1,14.05.2026 10:00,"1.249,00","0,00",eur,Paid,MIA10,Live,true',
    'ch_2,15.05.2026 10:00,"9,90","0,00",eur,Paid,JONAS15,Live,true',
    'ch_3,16.05.2026 10:00,"9,90","9,90",eur,Paid,MIA10|JONAS15,Live,true',
    // The blank after a comma separates nothing.
    'ch_4,16.05.2026 10:00,"9,90","9,90",eur,Paid,"MIA10, JONAS15",Live,true',
    'ch_5,16.05.2026 10:00,"9,90","9,90",eur,Paid,MIA10、JONAS15,Live,true',
  ].join('\n');
  const folder = folderWith({ 'payments.csv': `Report of May\n\n${comma}\n` });
  const { changes, preview, needsZone } = ordersOf(await look(folder));
  expect(changes.map(({ path, value }) => [path.join('.'), value])).toEqual([
    ['preamble_lines', 'search'],
    ['money', { decimal: ',', thousands: '.', symbols: true }],
    ['times', ['D.M.YYYY H:mm']],
    ['codes.split', [',', ';', '|', '、']],
  ]);
  expect(needsZone).toBe(false);
  expect(preview.codes.map(({ code, orders, revenue }) => [code, orders, revenue[0]?.amount])).toEqual([
    ['MIA10', 1, '1249.0000'],
    ['JONAS15', 1, '9.9000'],
  ]);
});

const WOO = 'order_id,status,order_currency,order_total,coupon_codes,refunded_total,order_date';

test('codes are separated also where a layout has a pattern for other cells', async () => {
  const cells = ['MIA10|WELCOME5', 'code:LEA5|amount:5.00'].map(
    (cell, at) => `${at},completed,EUR,2,${cell},,`,
  );
  const { preview } = ordersOf(await look(folderWith({ 'o.csv': [WOO, ...cells, ''].join('\n') })));
  expect(preview.codes.map(({ code }) => code)).toEqual(['MIA10', 'WELCOME5', 'LEA5']);
});

test.each([
  ['4/5/2026 10:00', '5/6/2026 11:00', 'open'],
  ['4/25/2026 10:00', '5/6/2026 11:00', { kind: 'settled', order: null }],
  ['25/4/2026 10:00', '5/6/2026 11:00', { kind: 'settled', order: 'DMY' }],
  ['25/4/2026 10:00', '4/25/2026 11:00', 'mixed'],
])('dates %s and %s determine the order of day and month if possible', async (one, other, expected) => {
  const rows = [`1,completed,EUR,2.00,MIA10,,${one}`, `2,completed,EUR,3.00,,,${other}`];
  const { dateOrder, needsZone } = ordersOf(
    await look(folderWith({ 'o.csv': [WOO, ...rows, ''].join('\n') })),
  );
  expect(dateOrder).toEqual(expected);
  expect(needsZone).toBe(true);
});

test('zero totals, blank ids, faulty rows and statuses are counted before anything is posted', async () => {
  const rows = [
    '#1,a@example.com,paid,EUR,0.00,MIA10,2026-04-10 11:11:26 +0200,,,,,,',
    '#2,a@example.com,refunded,EUR,5.00,MIA10,2026-04-11 11:11:26 +0200,,,,,,',
    '#3,a@example.com,paid,EUR,five,MIA10,2026-04-12 11:11:26 +0200,,,,,,',
    '#4,a@example.com,paid,EUR,7.00,,2026-04-13 11:11:26 +0200,,,,,,',
  ];
  const { preview } = ordersOf(await look(folderWith({ 'o.csv': [SHOPIFY, ...rows, ''].join('\n') })));
  expect(preview).toMatchObject({
    orders: 3,
    credited: 0,
    organic: 1,
    excluded: [
      { reason: 'zero_revenue', orders: 1 },
      { reason: 'status_refunded', orders: 1 },
    ],
    fallbackId: 'name',
    statuses: [
      { status: 'paid', orders: 2, effect: 'credited' },
      { status: 'refunded', orders: 1, effect: 'not credited' },
    ],
    rejected: [{ code: 'bad_money', rows: 1, line: 4, column: 'Total' }],
  });
  expect(JSON.stringify(preview)).not.toContain('@');
});

test('no order of a file that a run would hold counts as credited, and the orders of other files do', async () => {
  const [cells, further] = [ORDER.split(','), ORDER.replace('#1', '#2').replace('5001', '5002')];
  const folder = folderWith({
    'orders-1.csv': [SHOPIFY, ORDER, further, ''].join('\n'),
    'orders-2.csv': [SHOPIFY, cells.with(0, '#3').with(2, '').with(7, '5003').join(','), ''].join('\n'),
  });
  const { preview } = ordersOf(await look(folder));
  expect(preview).toMatchObject({ orders: 3, credited: 2, ordersInHeldFiles: 1, heldOrders: [] });
  expect(preview.held).toHaveLength(1);
});

test('orders beside a row that cannot be used are held in the preview, because the row may belong to them', async () => {
  const example = exampleRow(loadLayout('etsy-order-items'));
  const [header = ''] = example.text().split('\n');
  const rowOf = (order: string, total: string) =>
    example
      .with('Order ID', order)
      .with('Transaction ID', `1${order}`)
      .with('Item Total', total)
      .text()
      .split('\n')[1];
  const rows = [
    rowOf('1', '7.00'),
    `${rowOf('1', '5.00')},one cell too many`,
    rowOf('2', '8.00'),
    rowOf('3', '9.00'),
  ];
  const text = [header, ...rows, ''].join('\n');
  const { preview } = ordersOf(await look(folderWith({ 'items.csv': text })));
  expect(preview).toMatchObject({ orders: 3, credited: 1, revenue: [{ amount: '9.0000' }] });
  expect(preview.heldOrders).toMatchObject([
    { reason: 'may_be_incomplete', orders: 2, revenue: [{ amount: '15.0000' }] },
  ]);
});

test('shops with the same columns share one proposed layout, which knows the states of all their files', async () => {
  const header = 'Bonnr;Datum;Bedrag;Kortingscode;Munt;Toestand';
  const order = (id: number, state: string) => `${id};0${id}-09-2026 10:11;12,50;BROOD10;EUR;${state}`;
  const far = Array.from({ length: 600 }, (_, at) => `${at + 10};03-09-2026 10:11;12,50;LOTTE15;EUR;Betaald`);
  const found = await look(
    folderWith({
      'centrum/verkoop-2026-09.csv': [header, order(1, 'Betaald'), ''].join('\n'),
      'centrum/verkoop-2026-10.csv': [header, order(1, 'Afgehaald'), ''].join('\n'),
      'noord/verkoop-2026-09.csv': [header, ...far, order(2, 'Bezorgd'), order(3, 'Open'), ''].join('\n'),
    }),
  );
  expect(summary(found)).toEqual(['centrum-verkoop proposed centrum/ 2', 'noord-verkoop proposed noord/ 1']);
  const [one, other] = found.sources;
  expect(one?.proposed).toBe(other?.proposed);
  // The last words stand below the rows by which a layout is proposed.
  expect(one?.proposed?.unknownStates).toEqual(new Map([['Toestand', ['Afgehaald', 'Bezorgd']]]));
  expect(ordersOf(found, 1).preview.excluded).toMatchObject([{ reason: 'status_open', orders: 1 }]);
});

test('a shop that writes the same columns in another way gets a layout of its own', async () => {
  const header = 'Order number;Date;Total;Coupon;Currency;Status';
  const found = await look(
    folderWith({
      'nl/orders.csv': `${header}\n1;2026-09-01 10:11;1.012,50;BROOD10;EUR;paid\n`,
      'uk/orders.csv': `${header}\n1;2026-09-01 10:11;1,012.50;BROOD10;GBP;paid\n`,
    }),
  );
  expect(
    found.sources.map(({ name, proposed }) => [name, proposed?.layout.name, proposed?.layout.money.decimal]),
  ).toEqual([
    ['nl-orders', 'nl-orders', ','],
    ['uk-orders', 'uk-orders', '.'],
  ]);
  expect(ordersOf(found, 1).preview.revenue).toEqual([{ amount: '1012.5000', currency: 'GBP' }]);
});

test('months without an accent have the encoding of those beside them, so that all are one source', async () => {
  const month = (at: number, name: string) =>
    encode(
      `Order number;Date;Total;Coupon;Currency;Status;Name\n${at};2026-0${at}-01 10:11;12.50;B10;EUR;paid;${name}\n`,
      'windows-1252',
    );
  const files = { 'orders-2026-07.csv': month(7, 'Jan'), 'orders-2026-08.csv': month(8, 'René Crème') };
  expect(summary(await look(folderWith(files)))).toEqual(['orders proposed  2 windows-1252']);
  const utf8 = {
    ...files,
    'orders-2026-08.csv': month(8, 'Jan'),
    'orders-2026-09.csv': Buffer.from(month(9, 'Jan').toString().replace('Jan', 'Renée')),
  };
  expect(summary(await look(folderWith(utf8)))).toEqual(['orders proposed  3']);
});

test('a title of a dozen lines with periods and notes, and totals with a number of orders, are no rows of a report', async () => {
  const title = [
    'Marketplace Seller Report',
    'Range:,10/01/2026,to,10/31/2026',
    '',
    ...Array.from({ length: 10 }, (_, at) => `Note ${at}:,Some text`),
    '',
  ];
  const header = 'Order Number,Order Date,Total,Promo Code,Order Status';
  const orders = ['MK-1,10/13/2026,$24.99,MIRA10,Completed', 'MK-2,10/14/2026,"$1,250.00",,Completed'];
  const totals = ['', 'Totals,,"$1,274.99",,', 'Number of orders,2,,,', ''];
  const text = [...title, header, ...orders, ...totals].join('\n');
  // A spreadsheet saves each line with as many cells as the widest one has.
  const isShort = (line: string): boolean => !line.startsWith('MK-') && !line.startsWith('Totals');
  const padded = text
    .split('\n')
    .map((line) =>
      isShort(line) ? `${line}${','.repeat(Math.max(0, 4 - line.split(',').length + 1))}` : line,
    )
    .join('\n');
  for (const content of [text, padded]) {
    const { preview } = ordersOf(await look(folderWith({ 'report.csv': content })));
    expect(preview).toMatchObject({ orders: 2, rows: 2, rejected: [] });
    expect(preview.footer).toHaveLength(2);
  }
});

test('of a list of customers that only says who refused, init states what is submitted, and the first row that is not', async () => {
  const people = Array.from({ length: 21 }, (_, at) => `a${at}@example.org;${at % 5 === 4 ? 'Sí' : 'No'}\n`);
  const text = `Correo electrónico;Rechaza publicidad\n${people.join('')}diego.castro;No\n`;
  const { sources } = await look(folderWith({ 'contactos.csv': text }));
  const [{ examined, proposed } = { examined: undefined, proposed: null }] = sources;
  if (examined?.kind !== 'customers') throw new Error('no customers were recognised');
  expect(examined).toMatchObject({ firstRejected: { file: 'contactos.csv', line: 23 } });
  expect(customersLines(examined)).toContain('The first that cannot be used: contactos.csv, line 23');
  expect(proposed?.text).toContain('submitted only if the source has consent: not_recorded');
});
