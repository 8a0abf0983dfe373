import { expect, it } from 'vitest';
import { openExample } from './open-example.ts';

it('examples/shopify-folder posts three of eight orders, and a second run posts none again', async () => {
  const example = await openExample('shopify-folder');
  const { exit_code, counts } = await example.run('attribute-orders');
  expect(exit_code).toBe(0);
  expect(counts).toMatchObject({
    orders: 8,
    excluded: { status_pending: 1, status_refunded: 1, test: 1 },
    unattributed: 1,
    organic: 1,
    entries: { accepted: 3 },
  });
  await example.run('attribute-orders');
  const posted = await example.sandbox.referrals();
  expect(posted.map(({ order_id, order_revenue }) => [order_id, String(order_revenue)]).sort()).toEqual([
    ['6101000000101', '40.15'],
    ['6101000000103', '44.95'],
    ['6101000000105', '1254.95'],
  ]);
});
