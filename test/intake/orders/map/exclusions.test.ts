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
  ['Example Payments', 'subscription_contract', '', 'renewal'],
  ['Example Payments', 'subscription_contract_checkout_one', '', 'renewal'],
  ['Example Payments', 'subscription_contract', '2026-04-11 09:00:00 +0000', 'cancelled'],
])('payment %j, source %j, cancelled at %j: %s', async (payment, source, cancelledAt, exclusion) => {
  const { orders } = await mapText(
    `${HEADER}\n#1,7,paid,EUR,5.00,,2026-04-10 11:00:00 +0000,${cancelledAt},${payment},${source}\n`,
    { layout: 'shopify-orders', reduced: true },
  );
  expect(orders[0]?.exclusion).toBe(exclusion);
});

test('a tag marks a test order of Shopify, among other tags', async () => {
  const tagged = async (tags: string) => {
    const { orders } = await mapText(
      `${HEADER},Tags\n#1,7,paid,EUR,5.00,,2026-04-10 11:00:00 +0000,,Example Payments,web,"${tags}"\n`,
      { layout: 'shopify-orders', reduced: true },
    );
    return orders[0]?.exclusion;
  };
  const tags = ['TEST', 'vip, Test', 'test order,x', 'tested, testimonial'];
  expect(await Promise.all(tags.map(tagged))).toEqual(['test', 'test', 'test', null]);
});

test('an order with an outstanding balance is not known to be paid, and a blank or a zero says that nothing is outstanding', async () => {
  const balances = ['', '0.00', '12.50', '-3.00', '?', '0'];
  const { orders } = await mapText(
    `${HEADER},Outstanding Balance\n${balances.map((balance, at) => `#${at},1${at},paid,EUR,50.00,,2026-04-10 11:00:00 +0000,,Example Payments,web,${balance}\n`).join('')}#9,19,paid,EUR,50.00,,2026-04-10 11:00:00 +0000,,Bogus Gateway,web,12.50\n`,
    { layout: 'shopify-orders', reduced: true },
  );
  const held = 'unknown_payment';
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([null, null, held, held, held, null, 'test']);
});

const WOOCOMMERCE = 'order_id,order_status,order_total,order_currency,order_date';

test('an order of WooCommerce that names a parent may be a part of it, and 0 or a blank names none', async () => {
  const parents = ['', '0', '41', '#41'];
  const { orders } = await mapText(
    `${WOOCOMMERCE},parent_id\n${parents.map((parent, at) => `5${at},completed,5.00,EUR,2026-04-10 11:00:00,${parent}\n`).join('')}`,
    { layout: 'woocommerce-orders', source: { timeZone: 'UTC', currency: null }, reduced: true },
  );
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([null, null, 'unknown_parent', 'unknown_parent']);
});

const STRIPE = 'id,Status,Amount,Currency,Created date (UTC),Amount Refunded';

test.each([
  [
    'woocommerce-orders',
    WOOCOMMERCE,
    'created_via',
    '7,completed,5.00,EUR,2026-04-10 11:00:00',
    'subscription',
    'checkout',
  ],
  [
    'woocommerce-orders',
    WOOCOMMERCE,
    '_subscription_renewal',
    '7,completed,5.00,EUR,2026-04-10 11:00:00',
    '4711',
    '',
  ],
  [
    'stripe-payments',
    STRIPE,
    'Description',
    'ch_1,Paid,5.00,eur,2026-04-10 11:00:00,0.00',
    'Subscription update',
    'Subscription creation',
  ],
] as const)(
  '%s marks renewals of subscriptions by %3$s',
  async (layout, header, column, cells, renewal, first) => {
    const exclusions = await Promise.all(
      [renewal, first].map(async (mark) => {
        const { orders } = await mapText(`${header},${column}\n${cells},${mark}\n`, {
          layout,
          reduced: true,
          source: { timeZone: 'UTC', currency: null },
        });
        return orders.map(({ exclusion }) => exclusion);
      }),
    );
    expect(exclusions).toEqual([['renewal'], [null]]);
  },
);
