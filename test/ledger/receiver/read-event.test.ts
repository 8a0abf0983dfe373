import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { readEvent, redactEvent, toMismatch } from '../../../src/ledger/receiver/read-event.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

function read(event: unknown, given: { addressKind?: string; timestamp?: string } = {}) {
  const body = Buffer.from(typeof event === 'string' ? event : JSON.stringify(event));
  const { addressKind = null, timestamp } = given;
  return readEvent({ body, addressKind, timestamp });
}

it('an event is read whole: its kind, deal, time and order, under the digest of its bytes', () => {
  const body =
    '{"deal_id":"D1","collab_id":77,"order_information":{"order_id":12345678901234567890,"order_revenue":1249.00,"order_currency":"eur","platform":"shopify"},"name":"Jane"}';
  expect(read(body, { timestamp: '1790000000' })).toEqual({
    kind: 'new_influencer_order',
    dealId: 'D1',
    collabId: '77',
    sentAt: '2026-09-21T14:13:20.000Z',
    body: body.replace('"Jane"', '"[not stored]"'),
    bodySha256: digestOf(body),
    order: {
      isCredit: true,
      isLegible: true,
      orderId: '12345678901234567890',
      orderPlatform: 'shopify',
      amount: '1249.00',
      currency: 'EUR',
    },
    codeChange: null,
  });
  const nothing = { dealId: null, collabId: null, sentAt: null, order: null, codeChange: null };
  expect(read('no JSON')).toEqual({
    ...nothing,
    kind: 'unknown',
    body: '"[not stored]"',
    bodySha256: digestOf('no JSON'),
  });
  for (const event of [[], null, 7, '"text"'])
    expect(read(event)).toMatchObject({ ...nothing, kind: 'unknown' });
});

it('an event is of the kind that it states, or of which it has a member, or to whose address it came', () => {
  expect(
    [
      ...['order', 'code', 'commission', 'custom_link', 'max_bid'].map((name) =>
        read({ [`${name}_information`]: {} }),
      ),
      ...['send_product_info', 'payout_amount', 'other'].map((name) => read({ [name]: 1 })),
      read({ webhook_type: 'reply_received', payout_amount: 1 }, { addressKind: 'product_sent' }),
      read({ webhook_type: 'Reply received', payout_amount: 1 }, { addressKind: 'product_sent' }),
      read({ webhook_type: '' }, { addressKind: 'media_kpi_updated' }),
      read({}, { addressKind: 'No kind' }),
      read({}, { addressKind: 'x'.repeat(64) }),
      read({}, { addressKind: 'x'.repeat(65) }),
    ].map(({ kind }) => kind),
  ).toEqual([
    ...['new_influencer_order', 'update_discount_code', 'update_commission', 'update_custom_link'],
    ...['new_max_bid', 'product_sent', 'new_payout_request', 'unknown'],
    ...['reply_received', 'new_payout_request', 'media_kpi_updated', 'unknown', 'x'.repeat(64), 'unknown'],
  ]);
});

it('what is no id, amount, currency or time is unknown; the rest of the event counts', () => {
  const orderOf = (order: object) => read({ order_information: order }).order;
  const order = {
    isCredit: true,
    isLegible: true,
    orderId: '1',
    orderPlatform: null,
    amount: null,
    currency: null,
  };
  expect(orderOf({ order_id: ' 1 ' })).toEqual(order);
  expect(orderOf({ order_id: 'e\u0301' })).toEqual({ ...order, orderId: '\u00e9' });
  for (const order_id of ['', ' ', null, true, ['1'], 'x'.repeat(501)])
    expect(orderOf({ order_id, order_revenue: 1 }), String(order_id)).toBeNull();
  expect(orderOf({ order_id: 'x'.repeat(500) })?.orderId).toHaveLength(500);
  const amounts = ['-5', '0.10', '12345678901234', '123456789012345', '1e3', '1.', '+1', '1,5', ''];
  expect(amounts.map((order_revenue) => orderOf({ order_id: '1', order_revenue })?.amount)).toEqual([
    ...['-5', '0.10', '12345678901234', null, null, null, null, null, null],
  ]);
  const currencies = ['usd', ' EUR ', 'EURO', '€', 'E1R', null];
  expect(currencies.map((order_currency) => orderOf({ order_id: '1', order_currency })?.currency)).toEqual([
    ...['USD', 'EUR', null, null, null, null],
  ]);
  const times = ['99999999', '100000000', '9999999999', '10000000000', 'now', ''];
  expect(times.map((timestamp) => read({}, { timestamp }).sentAt)).toEqual([
    ...[null, '1973-03-03T09:46:40.000Z', '2286-11-20T17:46:39.000Z', null, null, null],
  ]);
});

it('what an event states but cannot be read is not the same as what it does not state', () => {
  const isLegible = (order: object, event: object = {}) =>
    read({ ...event, order_information: { order_id: '1', ...order } }).order?.isLegible;
  for (const order_revenue of ['1e3', '1,5', '10.00 EUR', true, ['5'], '123456789012345'])
    expect(isLegible({ order_revenue }), String(order_revenue)).toBe(false);
  for (const order_revenue of ['10.00', 0, '', ' ', null, undefined])
    expect(isLegible({ order_revenue }), String(order_revenue)).toBe(true);
  expect([isLegible({ order_currency: '€' }), isLegible({ platform: ['shopify'] })]).toEqual([false, false]);
  expect([isLegible({}, { deal_id: {} }), isLegible({}, { deal_id: ['D1'] })]).toEqual([true, false]);
});

it('an event of another kind that names an order does not say that the order is credited', () => {
  const said = (webhook_type: unknown) =>
    read({
      webhook_type,
      order_information: { order_id: '1' },
      code_information: { new_discount_code: 'A' },
    });
  expect(
    ['new_influencer_order', undefined, '', 'order_removed', 'Order removed'].map(
      (kind) => said(kind).order?.isCredit,
    ),
  ).toEqual([true, true, true, false, false]);
  expect(said('code_removed').codeChange).toBeNull();
  expect(said('update_discount_code').codeChange).toMatchObject({ newValue: 'A' });
});

it('a change of a code or a link has its old and its new value, as far as the event states them', () => {
  const change = (event: object) => read(event).codeChange;
  const code = (old_discount_code: unknown, new_discount_code: unknown) =>
    change({
      code_information: { old_discount_code, new_discount_code },
      custom_link_information: { new_custom_link: 'x' },
    });
  const link = (old_custom_link: unknown, new_custom_link: unknown) =>
    change({ custom_link_information: { old_custom_link, new_custom_link } });
  expect([code('A', 'B'), code('', 'B'), code('A', null), code(' ', null)]).toEqual([
    { kind: 'discount_code', oldValue: 'A', newValue: 'B' },
    { kind: 'discount_code', oldValue: null, newValue: 'B' },
    { kind: 'discount_code', oldValue: 'A', newValue: null },
    null,
  ]);
  expect([link('a', 'b'), link(null, 'b'), link('a', ''), link(null, null)]).toEqual([
    { kind: 'custom_link', oldValue: 'a', newValue: 'b' },
    { kind: 'custom_link', oldValue: null, newValue: 'b' },
    { kind: 'custom_link', oldValue: 'a', newValue: null },
    null,
  ]);
});

it('exactly these values of an event are stored; of all others only whether they were null, true or false', () => {
  const stored = [
    ...['deal_id', 'collab_id', 'brand_id', 'deal_url', 'webhook_timestamp', 'webhook_type', 'deal_name'],
    ...['dealflow_funnel_step', 'dealflow_type', 'dealflow_name', 'nr_followers', 'platform', 'order_id'],
    ...[
      'order_name',
      'order_revenue',
      'order_currency',
      'order_timestamp',
      'match_types',
      'account_currency',
    ],
    ...[
      'account_currency_revenue',
      'paid_commission',
      'commission_rate',
      'discount_codes',
      'old_discount_code',
    ],
    ...['new_discount_code', 'old_discount_perc', 'new_discount_perc', 'old_custom_link', 'new_custom_link'],
    ...['old_custom_link_target', 'new_custom_link_target', 'old_commission_perc', 'new_commission_perc'],
    ...[
      'payout_currency',
      'payout_amount',
      'post_url',
      'post_type',
      'published_time',
      'received_time',
      'quantity',
    ],
  ];
  const event = Object.fromEntries(stored.map((name) => [name, ['x', 1]]));
  expect(redactEvent(event)).toEqual(event);
  expect(redactEvent({ name: 'x', of: [1, null, true, { order_id: '7', title: 'x' }] })).toEqual({
    name: '[not stored]',
    of: ['[not stored]', null, true, { order_id: '7', title: '[not stored]' }],
  });
});

it('of an event that is signed otherwise only the settings that fit are kept, under another digest than its own', () => {
  const body = Buffer.from('{"deal_id":"D1"}');
  expect(toMismatch(body, { signature_header: 'x-other' })).toEqual({
    kind: 'signature_mismatch',
    body: '{"signature_header":"x-other"}',
    bodySha256: digestOf(`signature_mismatch ${body}`),
    dealId: null,
    collabId: null,
    sentAt: null,
    order: null,
    codeChange: null,
  });
});
