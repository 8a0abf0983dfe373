import { expect, test } from 'vitest';
import { loadLayout } from '../../src/map/layout/load-layout.ts';
import { codeSplitter } from '../../src/map/orders/split-codes.ts';

test.each([
  ['shopify-orders', 'ADA10', ['ADA10']],
  ['shopify-orders', 'ADA10, Summer sale 10%', ['ADA10', 'Summer sale 10%']],
  ['shopify-orders', '  ', []],
  ['shopify-orders', '', []],
  ['shopify-orders', "'=ADA10", ['=ADA10']],
  ['generic', 'ADA10,BOB,, CLEO', ['ADA10', 'BOB', 'CLEO']],
  ['bigcommerce-orders', 'Coupon Code: ADA10, Coupon Value: 10 | Coupon Code: VIP', ['ADA10', 'VIP']],
  ['bigcommerce-orders', 'ADA10', ['ADA10']],
  ['woocommerce-orders', 'code:ADA10|amount:5.00;code:VIP|amount:2', ['ADA10', 'VIP']],
  ['woocommerce-orders', 'ADA10, BOB', ['ADA10', 'BOB']],
])('%s: %j contains the codes %j', (layout, cell, codes) => {
  expect(codeSplitter(loadLayout(layout).codes)(cell)).toEqual(codes);
});
