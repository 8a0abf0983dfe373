import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { holdReason } from '../../csv/parse-text.ts';
import { type MapTextOptions, mapText, onlyFault } from './map-text.ts';

const HEADER = 'order_id,item_id,amount';

function layoutWith(item: readonly string[]): Layout {
  return {
    ...loadLayout('generic'),
    grouping: { lineItems: true, sum: { total: { plus: ['amount'], minus: [] } }, item, addsNothing: [] },
  };
}

const [WITH_IDS, WITHOUT_IDS] = [layoutWith(['item_id']), layoutWith([])];

/** Maps rows and returns the orders as `id total doubt`. */
async function ordersOf(rows: readonly string[], layout: Layout, options: MapTextOptions = {}) {
  const { orders } = await mapText(`${[HEADER, ...rows].join('\n')}\n`, { layout, ...options });
  return orders.map(({ orderId, total, doubt }) => `${orderId} ${total} ${doubt ?? '-'}`);
}

test('an item that occurs again is added up once, if items have ids', async () => {
  const rows = ['A,i1,10.00', 'A,i2,20.00', 'B,i3,5.00'];
  expect(await ordersOf([...rows, HEADER, ...rows], WITH_IDS)).toEqual(['A 30.00 -', 'B 5.00 -']);
  const { orders } = await mapText([HEADER, ...rows, ...rows, ''].join('\n'), { layout: WITH_IDS });
  expect(orders[0]?.items).toEqual([
    ['i1', '10.00', null, null],
    ['i2', '20.00', null, null],
  ]);
});

test('an item with two amounts contradicts itself', async () => {
  const text = `${HEADER}\nA,i1,10.00\nA,i1,11.00\n`;
  expect(onlyFault(await mapText(text, { layout: WITH_IDS }))).toEqual(['conflicting_rows', 'item_id', 'i1']);
});

const PARTS: Layout = {
  ...WITH_IDS,
  grouping: {
    ...WITH_IDS.grouping,
    sum: { total: { plus: ['price', 'tax'], minus: ['discount'] }, refunded: { plus: [], minus: ['back'] } },
    addsNothing: [
      {
        columns: ['item_status', 'item_state'],
        equals: ['cancelled'],
        noneOf: null,
        notBlank: false,
        matches: null,
      },
    ],
  },
};

test('an order with an item of blank price may not be whole; a blank tax or discount, or a cancelled item, is none', async () => {
  const { orders } = await mapText(
    [
      'order_id,item_id,price,tax,discount,back,item_status,item_state',
      'A,i1,10.00,,,,,\nA,i2,,1.00,,,,',
      'B,i3,10.00,,,,,\nB,i4,,,,,cancelled,\nB,i5,,,,-4.00,,\nB,i8,7.00,,,,ok,cancelled',
      'C,i6,,,,,,',
      'D,i7,,1.00,,,,\n',
    ].join('\n'),
    { layout: PARTS },
  );
  expect(
    orders.map(({ orderId, total, refunded, doubt }) => [orderId, total, refunded, doubt].join(' ')),
  ).toEqual(['A 11.00  incomplete', 'B 10.00 4.00 ', 'C   ', 'D 1.00  incomplete']);
});

test('a discount below zero is a fault, and raises no total', async () => {
  const text = 'order_id,item_id,price,tax,discount,back,item_status\nA,i1,10.00,,-2.00,,\n';
  expect(onlyFault(await mapText(text, { layout: PARTS }))).toEqual([
    'negative_discount',
    'discount',
    '-2.00',
  ]);
});

test('a row below zero that also states a refunded amount is a fault, so that no refund is subtracted twice', async () => {
  const refunded = { ...WITHOUT_IDS.columns, refunded: ['back'] };
  const read: Layout = { ...WITHOUT_IDS, columns: refunded };
  const sum = { ...WITHOUT_IDS.grouping.sum, refunded: { plus: ['back'], minus: [] } };
  const summed: Layout = { ...WITHOUT_IDS, grouping: { ...WITHOUT_IDS.grouping, sum } };
  const rows = ['A,100.00,', 'A,-30.00,30.00', 'B,100.00,', 'B,-30.00,0.00', 'C,100.00,30.00', 'C,-10.00,'];
  for (const layout of [read, summed]) {
    const { orders, rejected } = await mapText(['order_id,amount,back', ...rows, ''].join('\n'), { layout });
    expect(rejected.map(({ code, orderId, column, value }) => [code, orderId, column, value])).toEqual([
      ['refunded_twice', 'A', 'back', '30.00'],
    ]);
    expect(orders.map(({ orderId, total, refunded }) => [orderId, total, Number(refunded)])).toEqual([
      ['B', '70.00', 0],
      ['C', '90.00', 30],
    ]);
  }
});

test('a row below zero that states what is left after a refund is a fault, too', async () => {
  const layout: Layout = { ...WITHOUT_IDS, leftAfterRefund: [{ before: ['was'], after: ['is left'] }] };
  const rows = ['A,100.00,100.00,70.00', 'A,-30.00,100.00,70.00', 'B,100.00,,', 'B,-30.00,,'];
  const { orders, rejected } = await mapText(['order_id,amount,was,is left', ...rows, ''].join('\n'), {
    layout,
  });
  expect(rejected.map(({ code, orderId, column }) => [code, orderId, column])).toEqual([
    ['refunded_twice', 'A', 'is left'],
  ]);
  expect(orders.map(({ orderId, total, refunded }) => [orderId, total, refunded])).toEqual([
    ['B', '70.00', null],
  ]);
});

test('the price of a piece counts as often as pieces were sold, and what is not known of them is no amount', async () => {
  const layout: Layout = {
    ...WITHOUT_IDS,
    grouping: {
      ...WITHOUT_IDS.grouping,
      sum: { total: { plus: ['price'], minus: ['off'], times: ['qty'] } },
    },
  };
  const read = (text: string) => mapText(text, { layout });
  const rows = [
    'A,24.50,2,',
    'A,3.00,1,0.50',
    'B,180.00,4,',
    'C,10.00,1,',
    'C,20.00,,',
    'D,9.00,0,',
    'E,0.125,8,',
  ];
  const { orders } = await read(`order_id,price,qty,off\n${rows.join('\n')}\n`);
  expect(orders.map(({ orderId, total, doubt }) => `${orderId} ${total} ${doubt ?? '-'}`)).toEqual([
    ...['A 51.50 -', 'B 720.00 -', 'C 10.00 incomplete', 'D 0.00 -', 'E 1.00 -'],
  ]);
  for (const cell of ['-2', 'two', '"1,000"', '£2'])
    expect(onlyFault(await read(`order_id,price,qty,off\nA,5.00,${cell},\n`))).toEqual([
      ...['bad_quantity', 'qty', cell.replaceAll('"', '')],
    ]);
  const held = await holdReason(read('order_id,price,off\nA,5.00,\n'));
  expect(held).toMatchObject({ code: 'column_missing', message: expect.stringContaining('"qty"') });
});

test('items without an id are different items', async () => {
  const { orders } = await mapText(`${HEADER}\nA,,10.00\nA,,10.00\nA,i1,1.00\n`, { layout: WITH_IDS });
  expect(orders).toMatchObject([{ total: '21.00', items: null, doubt: null }]);
});

test('without ids, equal rows that stand together are two items, and those that stand apart may be one', async () => {
  expect(await ordersOf(['A,,10.00', 'A,,10.00', 'B,,5.00'], WITHOUT_IDS)).toEqual(['A 20.00 -', 'B 5.00 -']);
  expect(await ordersOf(['A,,10.00', 'B,,5.00', 'A,,10.00'], WITHOUT_IDS)).toEqual([
    'A 20.00 may_be_repeated',
    'B 5.00 -',
  ]);
  expect(await ordersOf(['A,,10.00', 'B,,5.00', 'A,,11.00'], WITHOUT_IDS)).toEqual(['A 21.00 -', 'B 5.00 -']);
});

test('an order in both of two joined files may be repeated, even if the second states it otherwise', async () => {
  const rows = ['A,,10.00', 'B,,5.00', HEADER, 'B,,4.00', 'C,,1.00'];
  expect(await ordersOf(rows, WITHOUT_IDS)).toEqual(['A 10.00 -', 'B 9.00 may_be_repeated', 'C 1.00 -']);
});

test('a file is held if each row of each order occurs twice', async () => {
  const rows = ['A,,10.00', 'A,,10.00', 'A,,2.00', 'A,,2.00', 'B,,5.00', 'B,,5.00'];
  expect((await holdReason(ordersOf(rows, WITHOUT_IDS))).code).toBe('repeated_rows');
  expect((await holdReason(ordersOf(rows, WITHOUT_IDS, { generationOrders: 1 }))).code).toBe('repeated_rows');
  expect(await ordersOf([...rows, 'B,,6.00'], WITHOUT_IDS)).toEqual(['A 24.00 -', 'B 16.00 -']);
});

test('rows in any order, and repeated any number of times, give the same orders if items have ids', async () => {
  const items = ['A,i1,10.00', 'A,i2,20.00', 'A,i3,0.50', 'B,i4,5.00', 'B,i5,7.00', 'C,i6,1.00'];
  const shuffled = fc.shuffledSubarray([...items, ...items, ...items], { minLength: items.length });
  await fc.assert(
    fc.asyncProperty(shuffled, fc.integer({ min: 1, max: 40 }), async (rows, batchBytes) => {
      const all = [...rows, ...items];
      expect((await ordersOf(all, WITH_IDS, { batchBytes })).toSorted()).toEqual([
        'A 30.50 -',
        'B 12.00 -',
        'C 1.00 -',
      ]);
    }),
    { numRuns: propertyRuns(50) },
  );
});
