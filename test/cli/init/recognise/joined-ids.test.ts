import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ColumnRole } from '../../../../src/core/layout.ts';
import { foldHeader } from '../../../../src/core/text/fold.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { folderWith, look, ordersOf } from './look.ts';

/** Sales and refunds of a till, as rows with one id. */
const REFUNDS = [
  'Date,Time,Receipt,Event Type,Total,Currency,Discount Name',
  '2026-11-02,09:12:01,tx001,Payment,108.90,EUR,IRIS10',
  '2026-11-03,09:12:01,tx002,Payment,62.50,EUR,',
  '2026-11-05,10:00:00,tx003,Refund,-217.80,EUR,IRIS10',
  '2026-11-04,09:12:01,tx003,Payment,217.80,EUR,IRIS10',
  '2026-11-06,10:00:00,tx004,Payment,65.34,EUR,OTTO10',
  '2026-11-07,10:00:00,tx004,Refund,-21.78,EUR,OTTO10',
  '',
].join('\n');

/** Items of orders, each with its own amount. */
const ITEMS = [
  'Order Number,Order Date,Status,What,Total,Promo Code,Refund Amount',
  '1,2026-11-03 14:15,paid,Candle,40.00,EMMA15,0.00',
  '1,2026-11-03 14:15,paid,Holder,12.50,EMMA15,2.50',
  '2,2026-11-04 09:30,paid,Candle,20.00,,0.00',
  '3,2026-11-05 23:30,paid,Holder,12.50,LEO20,12.50',
  '3,2026-11-05 23:30,paid,Candle,20.00,LEO20,0.00',
  '',
].join('\n');

/** Invoices, and cancellations of them with numbers of their own. */
const INVOICES = [
  'Belegart,Order No,Order Date,Total,Status,Promo Code,Bezug',
  'Rechnung,RE-101,2026-11-03,119.00,paid,EMMA15,',
  'Rechnung,RE-102,2026-11-04,59.50,paid,EMMA15,',
  'Storno,RE-103,2026-11-06,-119.00,returned,EMMA15,RE-101',
  'Gutschrift,RE-104,2026-11-07,-9.50,returned,EMMA15,RE-102',
  'Storno,RE-105,2026-11-07,-20.00,returned,LEO20,RE-088',
  '',
].join('\n');

/** Items of the receipts of a till, which cancels some of them with receipts of their own. */
const CANCELLATIONS = [
  'Bon-Nr;Bondatum;Uhrzeit;Pos;Artikel;Betrag;Vorgang;Storno zu Bon;Gutscheincode;Waehrung',
  '501;05.11.2026;09:12;1;Kanne;34,90;Verkauf;;EMMA15;EUR',
  '501;05.11.2026;09:12;2;Tasse;12,90;Verkauf;;;EUR',
  '502;06.11.2026;10:20;1;Tasse;12,90;Verkauf;;LEO20;EUR',
  '503;07.11.2026;11:02;1;Tasse;-12,90;Storno;501;;EUR',
  '504;08.11.2026;11:05;1;Tasse;-12,90;Storno;502;;EUR',
  '',
].join('\n');

/** Items of orders that have states of their own. */
const STATES = [
  'Ticket no,Order ref,Booked at,Status,Total,Voucher',
  '31,1,2026-11-03 14:15,paid,40.00,EMMA15',
  '32,1,2026-11-03 14:15,refunded,12.50,EMMA15',
  '33,2,2026-11-05 23:30,paid,20.00,LEO20',
  '34,3,2026-11-04 23:30,refunded,20.00,',
  '',
].join('\n');

/** Receipts that each shop numbers by itself, one of them a return. */
const SHOPS = [
  'Store,Receipt,Sold at,Status,Total,Promo Code',
  'North,1,2026-11-03 14:15,paid,40.00,EMMA15',
  'North,2,2026-11-03 15:20,paid,10.00,EMMA15',
  'South,1,2026-11-03 14:15,paid,12.50,EMMA15',
  'South,2,2026-11-04 09:30,paid,-20.00,LEO20',
  'South,3,2026-11-04 10:30,paid,20.00,LEO20',
  '',
].join('\n');

/** Of a known layout, which knows refunds in columns only: refunds with the id of the order, and with one of their own. */
const SHARED_IDS = [
  'order_id,order_date,status,order_currency,order_total,coupon_codes',
  '1001,2026-11-04 10:00:00,completed,EUR,60.00,MIRA10',
  '1002,2026-11-05 10:00:00,completed,EUR,80.00,MIRA10',
  '1002,2026-11-09 10:00:00,refunded,EUR,-20.00,',
  '1003,2026-11-03 10:00:00,pending,EUR,45.00,MIRA10',
  '',
].join('\n');
const PARENTS = [
  'order_id,parent_id,order_date,status,order_currency,order_total,coupon_codes',
  '1001,0,2026-11-04 10:00:00,completed,EUR,60.00,MIRA10',
  '1002,0,2026-11-05 10:00:00,completed,EUR,80.00,MIRA10',
  '1004,1002,2026-11-09 10:00:00,completed,EUR,-20.00,',
  '1003,0,2026-11-03 10:00:00,pending,EUR,45.00,MIRA10',
  '',
].join('\n');

async function lookAt(text: string, ids: readonly string[] = []) {
  const stated = ids.map((name) => [foldHeader(name), 'order_id' satisfies ColumnRole] as const);
  return look(folderWith({ 'sales.csv': text }), new Map(stated));
}

test.each([
  ['refunds', REFUNDS, 'SHOP+Receipt'],
  ['items', ITEMS, 'SHOP+Order Number'],
  ['receipts of shops', SHOPS, 'Store+Receipt'],
])(
  'of rows with one id and several amounts (%s), only a column of shops is offered beside it',
  async (_, text, offered) => {
    const [refused] = (await lookAt(text)).refused;
    expect(refused?.code).toBe('item_rows');
    expect(refused?.why).toContain(`--column "order_id=${offered}"`);
  },
);

test.each([
  ['kinds of rows', REFUNDS, ['Event Type', 'Receipt'], 'it says of which kind or in which state a row is'],
  [
    'refunds by another name',
    REFUNDS.replace('Event Type', 'Z').replaceAll('Refund,', 'R,').replaceAll('Payment,', 'P,'),
    ['Z', 'Receipt'],
    'it tells amounts below zero',
  ],
  ['items', ITEMS.replace('What', 'Item'), ['Item', 'Order Number'], 'its name means the items'],
  ['items by another name', ITEMS, ['What', 'Order Number'], 'have the same time of order'],
])('ids that are joined with %s are refused, although a person states them', async (_, text, ids, why) => {
  const found = await lookAt(text, ids);
  expect(found.sources).toEqual([]);
  expect(found.refused).toMatchObject([{ code: 'item_rows', why: expect.stringContaining(why) }]);
});

test('receipts are joined with the shop that numbers them, also if one of them is a return', async () => {
  const { preview } = ordersOf(await lookAt(SHOPS, ['Store', 'Receipt']));
  expect(preview).toMatchObject({ orders: 5, credited: 4 });
});

test('files in which the same numbers are other orders are refused, with the column of the shop to be joined, and later states are not', async () => {
  const header = 'Filiaal;Bonnr;Datum;Tijd;Bedrag;Munt;Toestand;Actiecode';
  const rows = (shop: string, day: number, state = 'betaald') => [
    `${shop};1001;${day}-10-2026;09:12;10,00;EUR;${state};EMMA15`,
    `${shop};1002;${day + 1}-10-2026;10:25;12,50;EUR;betaald;LEO20`,
  ];
  const lookAtBoth = async (
    one: readonly string[],
    other: readonly string[],
    ids: readonly string[] = [],
  ) => {
    const place = folderWith({
      'ede-2026-10.csv': [header, ...one, ''].join('\n'),
      'urk-2026-10.csv': [header, ...other, ''].join('\n'),
    });
    return look(place, new Map(ids.map((name) => [name, 'order_id' satisfies ColumnRole] as const)));
  };
  const [refused] = (await lookAtBoth(rows('Ede', 13), rows('Urk', 13))).refused;
  expect(refused?.why).toContain('"1001" is in 2 files, of "Ede" and "Urk".');
  expect(refused?.why).toContain('--column "order_id=Filiaal+Bonnr"');
  const earlier = rows('', 13).map((row) => row.replace(/09:12|10:25/, '08:20'));
  for (const [one, other] of [
    [rows('', 13), earlier],
    [rows('Ede', 13), rows('Ede', 16)],
  ] as const) {
    const [again] = (await lookAtBoth(one, other)).refused;
    expect(again?.why).toContain('"1001" is in 2 files, placed at different times.');
  }
  const joined = await lookAtBoth(rows('Ede', 13), rows('Urk', 13), ['filiaal', 'bonnr']);
  expect(ordersOf(joined).preview).toMatchObject({ orders: 4, credited: 4 });
  expect(joined.sources.map(({ name }) => name)).toEqual(['own']);
  const later = await lookAtBoth(rows('Ede', 13), rows('Ede', 13, 'geannuleerd'));
  expect(later.refused).toEqual([]);
});

test.each([
  ['refunds lower the orders that they refund', REFUNDS, '152.4600', '2026-11-06'],
  ['items and their refunds add up to orders', ITEMS, '85.0000', '2026-11-05'],
  ['a cancellation lowers the order that it names', INVOICES, '50.0000', '2026-11-04'],
  ['a cancellation of items lowers the receipt that it names', CANCELLATIONS, '34.9000', '2026-11-06'],
  ['items in other states add nothing', STATES, '60.0000', '2026-11-05'],
  ['rows below zero lower the order of a known layout', SHARED_IDS, '120.0000', '2026-11-05'],
  ['rows below zero lower the order of a known layout that they name', PARENTS, '120.0000', '2026-11-05'],
])('the layout that is offered for such rows reads them: %s', async (_, text, revenue, last) => {
  const place = folderWith({ 'sales.csv': text });
  const [refused] = (await look(place)).refused;
  const [, name = ''] = / --save-layout (\S+),/.exec(refused?.why ?? '') ?? [];
  // The words of one file may be states: they are asked about, as without sums.
  const again = await look(place, new Map([['artikel', 'unused']]), { accepted: [name] });
  expect(again.refused).toEqual([]);
  expect(again.sources[0]?.proposed).toMatchObject({ layout: { name } });
  const { preview } = ordersOf(again);
  expect(preview).toMatchObject({ rejected: [], held: [], heldOrders: [] });
  expect(preview.revenue.map(({ amount }) => amount)).toEqual([revenue]);
  expect(preview.placed?.last).toContain(last);
});

test('the layout that is offered for cancelled receipts has an id of each item, and holds what is neither sold nor cancelled', async () => {
  const [refused] = (await lookAt(CANCELLATIONS)).refused;
  expect(refused?.example).toContain('item: ["Bon-Nr and Pos"]');
  expect(refused?.example).toContain('columns: ["Vorgang"], equals: ["test"], unless: ["Verkauf", "Storno"]');
  expect(refused?.example).not.toContain('columns: ["Storno zu Bon"], not_blank');
});

test.each([
  ['the items of both are the order, if items have ids', 'item: [item], ', ['115.0000'], []],
  ['the order may be split, and is held, if they have none', '', ['60.0000'], ['may_be_split']],
])('of an order whose rows are in two files, %s', async (_, item, revenue, held) => {
  const header = 'id,item,placed,state,currency,amount,code\n';
  const row = (id: number, name: string, amount: string): string =>
    `${id},${name},2026-11-0${id} 10:00,paid,EUR,${amount},MIRA10\n`;
  const place = folderWith({
    'sales-part1.csv': header + row(1, 'a', '20.00') + row(2, 'b', '30.00'),
    'sales-part2.csv': header + row(2, 'c', '25.00') + row(3, 'd', '40.00'),
  });
  const folder = folderWith({
    'own.yaml': `title: Items
lacks: [time_zone, consent]
columns: { order_id: [id], status: [state], currency: [currency], codes: [code], placed_at: [placed] }
required: [order_id, status, total, codes, placed_at]
signature: [[id, item, amount]]
grouping: { line_items: true, ${item}sum: { total: { plus: [amount] } } }
status: { credited: [paid] }
`,
  });
  for (const [at, name] of ['sales-part1.csv', 'sales-part2.csv'].entries())
    utimesSync(join(place, name), at + 1, at + 1);
  const { preview } = ordersOf(await look(place, new Map(), { layouts: loadLayouts([folder]) }));
  expect(preview.revenue.map(({ amount }) => amount)).toEqual(revenue);
  expect(preview.heldOrders.map(({ reason }) => reason)).toEqual(held);
});

test('a column that names other orders is asked about if its rows are not below zero, and a person may say what it is', async () => {
  const positive = INVOICES.replaceAll(',-', ',');
  expect((await lookAt(positive)).refused).toMatchObject([
    { unclear: expect.arrayContaining([expect.objectContaining({ header: 'Bezug' })]) },
  ]);
  const roles = new Map([
    ['bezug', 'unused'],
    ['belegart', 'unused'],
  ] as const);
  expect((await look(folderWith({ 'sales.csv': INVOICES }), roles)).refused).toEqual([]);
});

test('ids that are joined are found below the lines above a header, too', async () => {
  const titled = `Sales of November\nAll stores\n\n${SHOPS}`;
  const { preview, problems } = ordersOf(await lookAt(titled, ['Store', 'Receipt']));
  expect([problems, preview.held, preview.orders]).toEqual([[], [], 5]);
});
