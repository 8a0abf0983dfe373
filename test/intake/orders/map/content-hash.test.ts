import { expect, test } from 'vitest';
import type { StagedOrder } from '../../../../src/core/order.ts';
import { hashMeaning } from '../../../../src/intake/orders/map/build-order.ts';
import { mapText } from './map-text.ts';

const HEADER =
  'Name,Id,Financial Status,Currency,Total,Subtotal,Refunded Amount,Discount Code,Note Attributes,Created at,Paid at,Cancelled at,Source';
const CELLS = [
  '#1',
  '7',
  'paid',
  'EUR',
  '50.00',
  '45.00',
  '0.00',
  'ADA10',
  'ref: ada',
  '2026-04-10 11:00:00 +0200',
  '2026-04-10 11:05:00 +0200',
  '',
  'web',
];
const CHANGED = [
  '#2',
  '8',
  'refunded',
  'USD',
  '51.00',
  '46.00',
  '1.00',
  '"ADA10, BOB"',
  'ref: bob',
  '2026-04-10 12:00:00 +0200',
  '2026-04-10 12:05:00 +0200',
  '2026-04-12 11:00:00 +0200',
  'shopify_draft_order',
];

async function mapOne(cells: readonly string[], before = ''): Promise<StagedOrder> {
  const { orders } = await mapText(`${HEADER}\n${before}${cells.join(',')}\n`, {
    layout: 'shopify-orders',
    reduced: true,
  });
  const order = orders.at(-1);
  if (order === undefined) throw new Error('no order');
  return order;
}

test('each meaningful field of an order changes the hash', async () => {
  const hashes = new Set([(await mapOne(CELLS)).contentHash]);
  for (const [index, cell] of CHANGED.entries())
    hashes.add((await mapOne(CELLS.with(index, cell))).contentHash);
  expect(hashes.size).toBe(CELLS.length + 1);
});

test('position, number of rows and notation of a value do not change the hash', async () => {
  const { contentHash } = await mapOne(CELLS);
  const elsewhere = await mapOne(CELLS, '#0,6,paid,EUR,1.00,,,,,2026-04-10 11:00:00 +0200,,,\n');
  expect(elsewhere).toMatchObject({ line: 3, record: 2, contentHash });
  const rewritten = CELLS.with(2, ' Paid').with(4, '50').with(6, '0').with(9, '2026-04-10 09:00:00 +0000');
  expect((await mapOne(rewritten)).contentHash).toBe(contentHash);
});

test('an order without a doubt has the digest that it had before orders could be in doubt', async () => {
  // Computed by version 0.2.0. Another digest would make every known order a changed one after an upgrade.
  const order = await mapOne(CELLS.with(6, '').with(7, '"ADA10, BOB"').with(8, '').with(10, '').with(12, ''));
  expect(order).toMatchObject({ doubt: null, placedAt: '2026-04-10T09:00:00Z' });
  expect(order.contentHash).toBe('ZEm8Lczt6ypB_XCOW4RCy-GnGU0CZooULy9RB7INFrU');
  expect(hashMeaning({ ...order, doubt: 'incomplete' })).not.toBe(order.contentHash);
});

test('an id in the tags is read, changes the hash, and leaves that of orders without one as it was', async () => {
  const read = (tags: string) =>
    mapText(`${HEADER},Tags\n${CELLS.join(',')},"${tags}"\n`, { layout: 'shopify-orders', reduced: true });
  const [none, named] = await Promise.all(['vip, spring', 'Amazon, 112-1234567-1234567'].map(read));
  const { contentHash } = await mapOne(CELLS);
  expect(none?.orders).toMatchObject([{ otherIds: [], contentHash }]);
  expect(named?.orders).toMatchObject([{ otherIds: ['112-1234567-1234567'] }]);
  expect(named?.orders[0]?.contentHash).not.toBe(contentHash);
});
