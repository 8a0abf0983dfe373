import { expect, test } from 'vitest';
import { layoutHash } from '../../src/map/layout/layout-hash.ts';
import { loadLayout } from '../../src/map/layout/load-layout.ts';
import type { SourceSettings } from '../../src/model/config.ts';
import { type MapTextOptions, mapText } from './map-text.ts';

/** Maps a text and returns its orders as `id total doubt`. */
async function ordersOf(text: string, options: MapTextOptions = {}): Promise<string[]> {
  const { orders } = await mapText(text, options);
  return orders.map(({ orderId, total, doubt }) => `${orderId} ${total} ${doubt ?? '-'}`);
}

test('a text that ends within an amount may be cut there', async () => {
  const text = 'order_id,discount_code,order_revenue\nA-1,MIA,10.30\nA-2,MIA,10.30\n';
  expect(await ordersOf(text)).toEqual(['A-1 10.30 -', 'A-2 10.30 -']);
  for (const left of ['10', '10.3', '10.30'])
    expect(await ordersOf(text.replace(/10.30\n$/, left)), left).toEqual([
      'A-1 10.30 -',
      expect.stringMatching(/^A-2 .* may_be_cut$/),
    ]);
  expect(await ordersOf(text, { pieceBytes: 1, batchBytes: 7 })).toEqual(['A-1 10.30 -', 'A-2 10.30 -']);
  expect(await ordersOf(text.trimEnd(), { pieceBytes: 1, batchBytes: 7 })).toEqual([
    'A-1 10.30 -',
    'A-2 10.30 may_be_cut',
  ]);
});

test.each([
  ['in a column that is not read', 'order_id,order_revenue,remark\nA-1,10.00,gi'],
  ['with a closing quote', 'order_id,order_revenue\nA-1,"10.00"'],
  ['with a currency code', 'order_id,order_revenue,currency\nA-1,10.00,EUR'],
  ['with a line break of an old Mac', 'order_id,order_revenue\rA-1,10.00\r'],
  ['with blank lines', 'order_id,order_revenue\nA-1,10.00\n\n'],
  ['with a row that is rejected', 'order_id,order_revenue\nA-1,10.00\nA-2'],
  ['with blanks', 'order_id,order_revenue\nA-1,10.00\n  '],
])('a text that ends %s is whole', async (_where, text) => {
  expect(await ordersOf(text)).toEqual(['A-1 10.00 -']);
});

test('a blank last cell may be cut, too, and so may an item whose amount is added up', async () => {
  expect(await ordersOf('order_id,order_revenue,discount_code\nA-1,10.00,')).toEqual([
    'A-1 10.00 may_be_cut',
  ]);
  const amazon =
    'amazon-order-id\torder-status\tpurchase-date\tcurrency\titem-status\titem-promotion-discount\tship-promotion-discount\titem-price\n';
  const row = (id: string, price: string) =>
    `${id}\tshipped\t2026-04-10T05:41:26+00:00\tEUR\tShipped\t\t\t${price}`;
  const text = `${amazon}${row('1', '10.00')}\n${row('2', '10.00')}\n${row('2', '9')}`;
  expect(await ordersOf(text, { layout: 'amazon-orders' })).toEqual(['1 10.00 -', '2 19.00 may_be_cut']);
});

test('a layout may say that its files end without a line break, without another digest for all others', async () => {
  const layout = { ...loadLayout('generic'), endsWithoutLineBreak: true };
  expect(await ordersOf('order_id,order_revenue\nA-1,10.00', { layout })).toEqual(['A-1 10.00 -']);
  const source = { timeZone: null, currency: 'EUR', dateOrder: null, encoding: null, limits: {} };
  const digestOf = (one: typeof layout) =>
    layoutHash(one, source as unknown as SourceSettings, { readFor: 'orders' });
  const { endsWithoutLineBreak: _, ...before } = loadLayout('generic');
  expect(digestOf(loadLayout('generic'))).toBe(digestOf(before as typeof layout));
  expect(digestOf(layout)).not.toBe(digestOf(before as typeof layout));
});
