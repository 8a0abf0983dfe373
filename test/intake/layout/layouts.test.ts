import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { StagedOrder } from '../../../src/core/order.ts';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { provenBy } from '../../../src/intake/layout/resolve-header.ts';
import { FIXTURES, type Mapped, mapFixture, mapText, readFixture } from '../orders/map/map-text.ts';

const IN_AMSTERDAM = { timeZone: 'Europe/Amsterdam', currency: null };
const IN_EUROS = { timeZone: 'Europe/Amsterdam', currency: 'EUR' };
const COMPLETE = { timeZone: null, currency: null };

/** Returns the fields that money depends on, one order per line. */
function facts({ orders, rejected, continuations, rowsRead }: Mapped): unknown[] {
  expect(rejected).toEqual([]);
  expect(continuations).toEqual([]);
  expect(orders.reduce((rows, { rowCount }) => rows + rowCount, 0)).toBe(rowsRead);
  return orders.map((order: StagedOrder) =>
    [
      order.orderId,
      order.status,
      order.currency,
      order.total,
      order.codes.join(' + '),
      order.placedAt,
      order.exclusion,
    ].join(' | '),
  );
}

test('generic: a symbol beside an amount may agree with the currency, and not contradict it', async () => {
  const text = 'order_id,order_revenue,currency\n1,€10.00,EUR\n2,$10.00,EUR\n3,10.00 USD,USD\n';
  const { orders, rejected } = await mapText(text);
  expect(orders.map(({ total, currency }) => `${total} ${currency}`)).toEqual(['10.00 EUR', '10.00 USD']);
  expect(rejected.map(({ code, line }) => [code, line])).toEqual([['other_currency', 3]]);
});

test('shopify-orders: 79 columns, line items, tests, drafts, cancelled orders, several codes in a cell', async () => {
  const mapped = await mapFixture('shopify-orders.csv', { layout: 'shopify-orders', source: COMPLETE });
  expect(facts(mapped)).toEqual([
    '5000000001001 | paid | INR | 65.00 | ADA10 | 2026-04-10T05:41:26Z | ',
    '5000000001002 | partially_refunded | INR | 65.00 | ADA10 + Summer sale 10% | 2026-04-10T05:41:26Z | ',
    '5000000001003 | paid | INR | 65.00 |  | 2026-04-10T05:41:26Z | test',
    '5000000001004 | paid | INR | 65.00 |  | 2026-04-10T05:41:26Z | draft',
    '5000000001005 | voided | INR | 65.00 |  | 2026-04-10T05:41:26Z | cancelled',
    '5000000001006 | pending | INR | 1065.00 |  | 2026-04-10T05:41:26Z | ',
  ]);
  expect(mapped.orders[0]).toMatchObject({
    groupKey: '#1001',
    orderName: '#1001',
    line: 2,
    record: 1,
    rowCount: 3,
    subtotal: '60.00',
  });
  expect(mapped.orders[1]).toMatchObject({
    refunded: '15.50',
    links: ['bob-2026', 'cleo'],
    line: 5,
    record: 4,
    rowCount: 1,
  });
  expect(mapped.orders[4]).toMatchObject({ cancelledAt: '2026-04-11T03:30:00Z', line: 10 });
  expect(mapped.orders[5]).toMatchObject({ groupKey: 'MA-1097', paidAt: null });
});

test('shopify-orders: an older export, without Id and the later columns, identified by Name', async () => {
  const older = { layout: 'shopify-orders', source: COMPLETE };
  await expect(mapFixture('shopify-orders-older.csv', older)).rejects.toMatchObject({
    reason: {
      code: 'column_missing',
      message: expect.stringContaining('"Refunded Amount" (how much was refunded)'),
    },
  });
  const mapped = await mapFixture('shopify-orders-older.csv', { ...older, reduced: true });
  expect(facts(mapped)).toEqual(['#1001 | paid | INR | 65.00 |  | 2026-04-10T05:41:26Z | ']);
  expect(mapped.orders[0]).toMatchObject({ refunded: null, rowCount: 2 });
});

test('woocommerce-orders: US and ISO dates, coupon blobs and plain codes', async () => {
  const mapped = await mapFixture('woocommerce-orders.csv', {
    layout: 'woocommerce-orders',
    source: IN_AMSTERDAM,
  });
  expect(facts(mapped)).toEqual([
    '71 | completed | USD | 44.00 | SUMMER10 + VIP | 2016-09-06T04:29:00Z | ',
    '72 | processing | USD | 12.50 |  | 2016-09-07T16:00:05Z | ',
    '73 | cancelled | USD | 9.00 | ADA10 | 2016-09-07T22:05:00Z | cancelled',
  ]);
  expect(mapped.orders[0]).toMatchObject({ orderName: '1071', paidAt: '2016-09-06T04:30:10Z' });
});

test('woocommerce-analytics: formatted amounts, currency and time zone from the source', async () => {
  const mapped = await mapFixture('woocommerce-analytics.csv', {
    layout: 'woocommerce-analytics',
    source: { timeZone: 'Asia/Dhaka', currency: 'BDT' },
  });
  expect(facts(mapped)).toEqual([
    '81 | completed | BDT | 2999.00 | ADA10 + BOB | 2026-04-10T17:30:00Z | ',
    '82 | refunded | BDT | -150.50 |  | 2026-04-11T02:00:00Z | ',
  ]);
});

test('woocommerce-analytics: translated headers and statuses, semicolons', async () => {
  const mapped = await mapFixture('woocommerce-analytics-dutch.csv', {
    layout: 'woocommerce-analytics',
    source: IN_EUROS,
  });
  expect(facts(mapped)).toEqual([
    '81 | completed | EUR | 2999.00 | ADA10 | 2026-04-10T21:30:00Z | ',
    '82 | processing | EUR | 10.00 |  | 2026-04-11T06:00:00Z | ',
  ]);
});

test('bigcommerce-orders: date and time in two columns, codes in a blob or plain', async () => {
  const mapped = await mapFixture('bigcommerce-orders.csv', {
    layout: 'bigcommerce-orders',
    source: IN_AMSTERDAM,
  });
  expect(facts(mapped)).toEqual([
    '91 | awaiting_fulfillment | USD | 1045.00 | ADA10 + VIP | 2026-04-10T21:30:00Z | ',
    '92 | cancelled | USD | 25.00 |  | 2026-04-10T22:05:00Z | cancelled',
    '93 | shipped | USD | 25.00 | CLEO5 | 2026-04-12T06:00:00Z | ',
  ]);
  expect(mapped.orders[2]?.refunded).toBe('5.00');
});

test('magento-orders: base amounts with four decimals, IDs with leading zeros', async () => {
  const mapped = await mapFixture('magento-orders.csv', { layout: 'magento-orders', source: IN_EUROS });
  expect(facts(mapped)).toEqual([
    '000000101 | complete | EUR | 36.39 |  | 2026-04-10T19:30:00Z | ',
    '000000102 | canceled | EUR | 20.00 |  | 2026-04-11T18:05:00Z | cancelled',
    '000000103 | suspected_fraud | EUR | 20.00 |  | 2026-04-11T22:00:00Z | fraud',
  ]);
});

test('squarespace-orders: 47 columns and custom ones, line items, leading zeros, orders of other channels', async () => {
  const mapped = await mapFixture('squarespace-orders.csv', {
    layout: 'squarespace-orders',
    source: COMPLETE,
  });
  expect(facts(mapped)).toEqual([
    '00101 | paid | USD | 1234.40 | ADA10 | 2026-04-10T15:11:26Z | ',
    '00102 | refunded | USD | 25.00 |  | 2026-04-10T16:11:26Z | cancelled',
    '00103 | paid | USD | 40.00 | ADA10 + SPRING | 2026-12-01T23:00:00Z | ',
    '100104 | pending | USD | 0.00 | ADA10 | 2026-12-02T23:00:00Z | ',
  ]);
  expect(mapped.orders[0]).toMatchObject({ rowCount: 2, subtotal: '1250.00', links: ['bob-2026'] });
  expect(mapped.orders.map(({ refunded }) => refunded)).toEqual(['0.00', '25.00', '5.00', '0.00']);
});

test('squarespace-orders: a file saved by a spreadsheet has other order IDs and is rejected', async () => {
  const text =
    'Order ID,Email,Financial Status,Currency,Total,Created at,Lineitem name\n101,ada@example.com,PAID,USD,55.00,4/10/2026 11:11,Hat\n';
  const { orders, rejected } = await mapText(text, {
    layout: 'squarespace-orders',
    reduced: true,
    source: COMPLETE,
  });
  expect(orders).toEqual([]);
  expect(rejected).toMatchObject([{ code: 'bad_time', column: 'Created at' }]);
});

test('squarespace-orders: an older, reduced export', async () => {
  const mapped = await mapFixture('squarespace-orders-older.csv', {
    layout: 'squarespace-orders',
    source: COMPLETE,
  });
  expect(facts(mapped)).toEqual([
    '00041 | paid | USD | 55.00 | ADA10 | 2026-04-10T15:11:26Z | ',
    '00042 | paid | USD | 25.00 |  | 2026-04-10T16:11:26Z | cancelled',
  ]);
  expect(mapped.orders[0]?.rowCount).toBe(2);
});

const ETSY = [
  '3000000001 | paid | USD | 23.00 | ADA10 | 2026-09-20T22:00:00Z | ',
  '3000000002 | paid | USD | 1205.00 | ADA10 + BOB | 2026-09-21T22:00:00Z | ',
  '3000000003 | paid | USD | 40.00 |  | 2026-09-22T22:00:00Z | ',
  '3000000004 | paid | USD | 40.00 |  | 2026-09-23T22:00:00Z | ',
  '3000000005 | paid | USD | 0.00 | ADA10 | 2026-09-24T22:00:00Z | ',
  '3000000006 | paid | USD | 18.75 |  | 2026-04-09T22:00:00Z | ',
];

test('etsy-orders: zero for not adjusted, two-digit years, coupons once for each item, refunds from the remaining amount', async () => {
  const mapped = await mapFixture('etsy-orders.csv', { layout: 'etsy-orders', source: IN_AMSTERDAM });
  expect(facts(mapped)).toEqual(ETSY);
  // 10.00 is 38.55 - 28.85 plus 1.45 - 1.15. If the export has no adjusted fees, the fees were not adjusted.
  // An adjusted total already accounts for its refund.
  expect(mapped.orders.map(({ refunded }) => refunded)).toEqual([null, null, '10.00', '10.00', null, null]);
});

test('etsy-orders: the same with tabs', async () => {
  const commas = readFixture('etsy-orders.csv');
  const tabs = commas.replace(
    /"([^"]*)"|,/g,
    (all, quoted: string | undefined) => quoted ?? `\t${all.slice(1)}`,
  );
  expect(tabs).toContain('\t"1,200.00"'.replaceAll('"', ''));
  expect(facts(await mapText(tabs, { layout: 'etsy-orders', source: IN_AMSTERDAM }))).toEqual(ETSY);
});

test('amazon-orders: tabs, plain quotes, amounts summed over items, cancelled items add nothing', async () => {
  const mapped = await mapFixture('amazon-orders.txt', { layout: 'amazon-orders', source: COMPLETE });
  expect(facts(mapped)).toEqual([
    // 19.99 + 1.60 + 4.99 - 2.00 - 4.99 + 0.10 + 0.02
    '113-0000001-0000001 | shipped | USD | 19.71 | SAVE2 + FREESHIP | 2026-04-10T05:41:26Z | ',
    '113-0000002-0000002 | cancelled | USD | 0.00 |  | 2026-04-11T05:41:26Z | cancelled',
    '113-0000003-0000003 | pending | USD |  |  | 2026-04-12T05:41:26Z | ',
  ]);
  expect(mapped.orders[0]).toMatchObject({ subtotal: '18.09', rowCount: 3 });
});

test('generic: all columns', async () => {
  const mapped = await mapFixture('generic.csv', { layout: 'generic', source: COMPLETE });
  expect(facts(mapped)).toEqual([
    'A-1 |  | EUR | 100.50 | ADA10 + BOB | 2026-04-10T10:00:00Z | ',
    'A-2 |  | EUR | 20.00 |  | 2026-04-10T08:00:00Z | ',
  ]);
  expect(mapped.orders[1]).toMatchObject({
    influencerHandle: '@ada',
    dealId: 'ETUNQ6ZTW1',
    collabId: 'C1',
    brandId: '4819',
  });
});

test('generic: ID and revenue suffice if the source has a currency', async () => {
  const mapped = await mapFixture('generic-least.csv', { layout: 'generic', source: IN_EUROS });
  expect(facts(mapped)).toEqual(['A-1 |  | EUR | 100.50 |  |  | ']);
});

test('stripe-payments: UTC in the header, refunds, uncaptured and test charges, codes in metadata', async () => {
  const mapped = await mapFixture('stripe-payments.csv', { layout: 'stripe-payments', source: IN_AMSTERDAM });
  expect(facts(mapped)).toEqual([
    'ch_3Aa1 | paid | USD | 1061.86 | ADA10 | 2026-06-05T20:38:34Z | ',
    'py_3Aa2 | paid | EUR | 59.90 | ADA10 + BOB | 2026-06-06T08:01:00Z | ',
    'ch_3Aa3 | refunded | EUR | 20.00 |  | 2026-06-06T09:00:00Z | ',
    'ch_3Aa4 | paid | EUR | 45.00 | ADA10 | 2026-06-06T10:00:00Z | not_captured',
    'ch_3Aa5 | paid | EUR | 45.00 | ADA10 | 2026-06-06T11:00:00Z | test',
    'ch_3Aa6 | failed | EUR | 45.00 |  | 2026-06-06T12:00:00Z | not_captured',
  ]);
  expect(mapped.orders[1]).toMatchObject({ refunded: '10.00', links: ['bob-2026'] });
});

test('stripe-payments: a payment without an id is rejected, and its description is no id', async () => {
  const rows = ['', ' ', 'ch_3Aa1', 'ch_3Aa2'].map(
    (id, at) =>
      `${id},2026-06-05 20:38:34,20.00,0.00,eur,true,Live,Paid,Order 700${at},ada@example.com,ADA10`,
  );
  const header =
    'id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Mode,Status,Description,Customer Email,coupon_code (metadata)';
  const mapped = await mapText(`${[header, ...rows].join('\n')}\n`, {
    layout: 'stripe-payments',
    source: COMPLETE,
  });
  expect(mapped.orders.map(({ orderId }) => orderId)).toEqual(['ch_3Aa1', 'ch_3Aa2']);
  expect(mapped.rejected.map(({ line, code, column }) => [line, code, column])).toEqual([
    [2, 'missing_value', 'id'],
    [3, 'missing_value', 'id'],
  ]);
});

test('stripe-payments: the header of older exports', async () => {
  const mapped = await mapFixture('stripe-payments-older.csv', {
    layout: 'stripe-payments',
    source: COMPLETE,
  });
  expect(facts(mapped)).toEqual(['ch_1Aa1 | paid | GBP | 12.50 |  | 2019-03-01T00:05:00Z | ']);
});

test('ebay-orders: lines above and below the header, a summary row before items, a blank before the symbol, a footer', async () => {
  const mapped = await mapFixture('ebay-orders.csv', {
    layout: 'ebay-orders',
    source: { timeZone: 'Australia/Sydney', currency: 'AUD' },
  });
  expect(facts(mapped)).toEqual([
    '04-10001-00001 |  | AUD | 3013.00 |  | 2026-09-20T14:00:00Z | ',
    '04-10002-00002 |  | AUD | 35.00 |  | 2026-09-20T14:00:00Z | ',
    '04-10003-00003 |  | AUD | 25.00 |  | 2026-09-22T14:00:00Z | unpaid',
  ]);
  expect(mapped.orders[1]).toMatchObject({ orderName: '1202', rowCount: 3, links: ['bob-2026'] });
});

test('tiktok-shop-orders: a description row, trailing tabs, IDs of 18 digits, the total once', async () => {
  const mapped = await mapFixture('tiktok-shop-orders.csv', {
    layout: 'tiktok-shop-orders',
    source: { timeZone: 'Asia/Kuala_Lumpur', currency: 'MYR' },
  });
  expect(facts(mapped)).toEqual([
    '584600000000000001 | completed | MYR | 1123.30 |  | 2026-06-25T05:03:57Z | ',
    '584600000000000002 | canceled | MYR | 29.00 |  | 2026-06-25T06:00:00Z | cancelled',
    '584600000000000003 | to_ship | MYR | 29.00 |  | 2026-06-25T15:59:59Z | ',
  ]);
  expect(mapped.orders[0]).toMatchObject({ rowCount: 2, cancelledAt: null, refunded: null });
});

test('paypal-activity: time zones by row; refunds, deposits and item details are not payments', async () => {
  const mapped = await mapFixture('paypal-activity.csv', { layout: 'paypal-activity', source: IN_AMSTERDAM });
  expect(facts(mapped)).toEqual([
    '9AA00001BB | completed | EUR | 1249.00 |  | 2026-04-10T09:11:26Z | ',
    '9AA00001BC | completed | EUR | 1249.00 |  | 2026-04-10T09:11:26Z | moves_no_money',
    '9AA00002BB | pending | USD | 20.00 |  | 2026-04-11T16:00:00Z | ',
    '9AA00003BB | completed | EUR | -20.00 |  | 2026-04-12T16:00:00Z | outgoing',
    '9AA00004BB | completed | USD | 500.00 |  | 2026-04-13T16:00:00Z | not_a_payment',
  ]);
  expect(mapped.orders[0]).toMatchObject({ orderName: 'INV-1', links: ['bob-2026'] });
});

test('wix-orders: date and time in two columns, a repeated header, the total once', async () => {
  const mapped = await mapFixture('wix-orders.csv', { layout: 'wix-orders', source: IN_AMSTERDAM });
  expect(facts(mapped)).toEqual([
    '10041 | paid | EUR | 1044.97 | ADA10 | 2026-02-08T08:15:51Z | ',
    '10042 | partially_refunded | EUR | 24.98 |  | 2026-02-08T22:05:00Z | ',
    '10043 | unpaid | EUR | 24.98 | ADA10 | 2026-02-08T23:00:00Z | cancelled',
  ]);
  expect(mapped.orders[1]).toMatchObject({ refunded: '5.00', links: ['bob-2026'] });
});

test('matrixify-orders: codes on discount lines, order columns on the first row, test transactions', async () => {
  const mapped = await mapFixture('matrixify-orders.csv', { layout: 'matrixify-orders', source: COMPLETE });
  expect(facts(mapped)).toEqual([
    '5000000002001 | paid | EUR | 95.00 | ADA10 | 2026-07-20T12:30:00Z | ',
    '5000000002002 | refunded | EUR | 20.00 |  | 2026-07-21T12:30:00Z | cancelled',
    '5000000002003 | paid | EUR | 20.00 |  | 2026-07-21T13:30:00Z | test',
  ]);
  expect(mapped.orders[0]).toMatchObject({ orderName: '#2001', links: ['bob-2026'], rowCount: 4 });
});

test('etsy-order-items: summed items of an order less their discounts, coupons once', async () => {
  const mapped = await mapFixture('etsy-order-items.csv', {
    layout: 'etsy-order-items',
    source: IN_AMSTERDAM,
  });
  expect(facts(mapped)).toEqual([
    '#3001 |  | USD | 11.70 | ADA10 | 2026-09-20T22:00:00Z | ',
    '3002 |  | USD | 1200.00 |  | 2026-09-21T22:00:00Z | ',
  ]);
  expect(mapped.orders[0]?.rowCount).toBe(2);
});

test('prestashop-orders: semicolons, the currency beside the total', async () => {
  const mapped = await mapFixture('prestashop-orders.csv', { layout: 'prestashop-orders', source: IN_EUROS });
  expect(facts(mapped)).toEqual([
    '101 | payment_accepted | EUR | 1029.00 |  | 2026-04-10T09:11:26Z | ',
    '102 | awaiting_bank_wire_payment | EUR | 29.00 |  | 2026-04-10T10:11:26Z | ',
    '103 | canceled | EUR | 29.00 |  | 2026-04-10T22:05:00Z | cancelled',
  ]);
});

test('shopware-orders: semicolons, times with an offset, and states that are only ids hold the file', async () => {
  const options = { layout: 'shopware-orders', source: IN_EUROS };
  await expect(mapFixture('shopware-orders.csv', options)).rejects.toMatchObject({
    reason: { code: 'column_missing', message: expect.stringContaining('"order_state"') },
  });
  const states = [';order_state;payment_state', ';open;paid', ';cancelled;paid'];
  const written = readFixture('shopware-orders.csv').split('\n');
  const mapped = await mapText(written.map((row, at) => `${row}${states[at] ?? ''}`).join('\n'), options);
  expect(facts(mapped)).toEqual([
    '018f00000000000000000000000000a1 | open | EUR | 1059.90 |  | 2026-04-10T05:41:26Z | ',
    '018f00000000000000000000000000a2 | cancelled | EUR | 20.00 |  | 2026-04-11T05:41:26Z | cancelled',
  ]);
  expect(mapped.orders[0]?.orderName).toBe('10041');
});

test('the header of each fixture matches its own layout best; translated and generic headers match none', () => {
  const layouts = loadLayouts();
  for (const file of readdirSync(FIXTURES).filter((name) => !/^generic|dutch/.test(name))) {
    const header = readFixture(file)
      .split('\n')
      .find((line) => /[^,\s]/.test(line));
    const names = (header ?? '').split(/[,;\t]/).map((name) => name.trim());
    const proofs = layouts.map((layout) => ({ name: layout.name, proof: provenBy(layout, names) }));
    const most = Math.max(...proofs.map(({ proof }) => proof));
    const [best, ...more] = proofs.filter(({ proof }) => proof === most).map(({ name }) => name);
    expect([file, file.startsWith(best ?? '?'), more]).toEqual([file, true, []]);
  }
});

test('every bundled layout of orders can be loaded and is tested here: add a test for a new one', () => {
  const ofOrders = loadLayouts().filter((layout) => layoutFor(layout, 'orders') !== null);
  expect(ofOrders.map(({ name }) => name)).toEqual([
    'amazon-orders',
    'bigcommerce-orders',
    'ebay-orders',
    'etsy-order-items',
    'etsy-orders',
    'generic',
    'gumroad-sales',
    'magento-orders',
    'matrixify-orders',
    'paypal-activity',
    'prestashop-orders',
    'shopify-bulk-orders',
    'shopify-orders',
    'shopware-orders',
    'square-sales',
    'squarespace-orders',
    'stripe-payments',
    'tienda-nube-orders',
    'tiktok-shop-orders',
    'wix-orders',
    'woocommerce-analytics',
    'woocommerce-orders',
  ]);
});
