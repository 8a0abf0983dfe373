import { expect, test } from 'vitest';
import { mapText } from './map-text.ts';

const HEADER =
  'Name,Id,Financial Status,Currency,Total,Discount Code,Created at,Cancelled at,Payment Method,Source';

test.each([
  ['(for testing) Bogus Gateway', 'web', '', 'test'],
  ['Bogus Gateway + Gift Card', 'web', '', 'test'],
  ['Example Payments', 'shopify_draft_order', '', 'draft'],
  ['Example Payments', 'Shopify_Draft_Order', '', 'draft'],
  ['Example Payments', 'web', '2026-04-11 09:00:00 +0000', 'cancelled'],
  ['Example Payments', 'web', '', null],
])('payment %j, source %j, cancelled at %j: %s', async (payment, source, cancelledAt, exclusion) => {
  const { orders } = await mapText(
    `${HEADER}\n#1,7,paid,EUR,5.00,,2026-04-10 11:00:00 +0000,${cancelledAt},${payment},${source}\n`,
    { layout: 'shopify-orders' },
  );
  expect(orders[0]?.exclusion).toBe(exclusion);
});
