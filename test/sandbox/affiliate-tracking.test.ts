import { expect, test } from 'vitest';
import { openClient } from '../service/test-client.ts';
import { REFERRAL, startTestSandbox } from './start-test-sandbox.ts';

const CLICK_PATHS = ['/v1/crm/new_influencer_click', '/v1/crm/increase_influencer_clicks'];

test('the sandbox credits an order by deal id, page address, handle or collaboration, and logs it', async () => {
  const sandbox = await startTestSandbox();
  const first = await sandbox.refer();
  expect([first.status, first.body]).toEqual([
    200,
    {
      deal_id: 'ETUNQ6ZTW1',
      collab_id: expect.stringMatching(/^[A-Z0-9]{10}$/),
      message: expect.any(String),
    },
  ]);
  const ways = [
    { deal_id: 'https://app.example.com/deal/ETUNQ6ZTW1' },
    { deal_id: undefined, influencer_handle: '@MIRA.glow.test' },
    { deal_id: undefined, collab_id: first.body.collab_id },
    { deal_id: '', influencer_handle: 'mira.glow.test', brand_id: 4819 },
  ];
  for (const [index, way] of ways.entries()) {
    expect((await sandbox.refer({ ...way, order_id: String(index) })).body).toEqual(first.body);
  }
  const referrals = await sandbox.log('referrals');
  expect(referrals.map(({ sequence, order_id }) => [sequence, order_id])).toEqual([
    [1, '1001'],
    [2, '0'],
    [3, '1'],
    [4, '2'],
    [5, '3'],
  ]);
  expect(referrals[0]).toEqual({
    sequence: 1,
    account_id: sandbox.accounts[0]?.id,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    ...first.body,
    message: undefined,
    order_id: '1001',
    order_platform: 'shopify',
    order_revenue: '12.5',
    currency: 'EUR',
    order_notes: 'note 1',
    body: REFERRAL,
  });
});

test.each(['1249.00', '0.10', '99999999999999.9999', '-5.00', '1e2', '0'])(
  'the sandbox keeps the amount %s exact from the client to the request log',
  async (amount) => {
    const sandbox = await startTestSandbox();
    const client = openClient(sandbox.url, { key: sandbox.key });
    const body = `{"deal_id":"ETUNQ6ZTW1","order_id":"1","order_revenue":${amount},"order_notes":"\\"order_revenue\\": 7"}`;
    expect(await client.exchange('new_influencer_referral', { body })).toMatchObject({
      kind: 'answer',
      status: 200,
    });
    expect(await sandbox.log('referrals')).toEqual([expect.objectContaining({ order_revenue: amount })]);
    expect((await sandbox.request('GET', '/_sandbox/log/referrals')).text).toContain(`"body":${body}`);
  },
);

test('the sandbox adds amounts exactly and per currency', async () => {
  const sandbox = await startTestSandbox();
  for (const amount of ['0.1', '0.2', '99999999999999.9999']) {
    await sandbox.refer(
      `{"deal_id":"ETUNQ6ZTW1","order_id":"${amount}","order_revenue":${amount},"currency":"eur"}`,
    );
  }
  await sandbox.refer({ currency: 'USD', order_revenue: 5 });
  await sandbox.refer({ currency: undefined, order_revenue: 1 });
  const { body } = await sandbox.request(
    'GET',
    '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1&return_collabs=true',
  );
  expect(body.deal_info).toMatchObject({
    total_referrals: 5,
    collabs: [{ sales: { EUR: '100000000000000.2999', USD: '5', 'account currency': '1' } }],
  });
});

test('the sandbox writes a multi-line body as one line of the log', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.refer('{\r\n  "deal_id": "ETUNQ6ZTW1",\n  "order_id": "a\\nb",\n  "order_revenue": 1.50\n}');
  expect(await sandbox.log('referrals')).toEqual([
    expect.objectContaining({ order_id: 'a\nb', order_revenue: '1.50' }),
  ]);
});

test.each<[string, Record<string, unknown>, number, RegExp]>([
  [
    'nothing that names a deal',
    { deal_id: undefined },
    400,
    /at least one of deal_id, influencer_handle and collab_id/,
  ],
  ['no order id', { order_id: undefined }, 400, /order_id/],
  ['an empty order id', { order_id: '' }, 400, /order_id/],
  ['an order id that is a number', { order_id: 1001 }, 400, /order_id/],
  ['no revenue', { order_revenue: undefined }, 400, /order_revenue/],
  ['revenue as text', { order_revenue: '12.50' }, 400, /order_revenue/],
  ['a brand that is no whole number', { brand_id: 1.5 }, 400, /brand_id/],
  ['a platform that is no text', { order_platform: 1 }, 400, /order_platform/],
  ['notes that are no text', { order_notes: {} }, 400, /order_notes/],
  ['a currency that is no text', { currency: 978 }, 400, /currency/],
  ['an unknown deal', { deal_id: 'NONE' }, 404, /Deal not found/],
  ['an unknown handle', { deal_id: undefined, influencer_handle: 'nobody' }, 404, /Deal not found/],
  ['an unknown collaboration', { collab_id: 'NONE' }, 404, /Collaboration not found/],
  ['an unknown brand', { brand_id: 1 }, 404, /Brand not found/],
  ['a brand with which there is no collaboration', { brand_id: 5207 }, 404, /Collaboration not found/],
  ['several collaborations and no brand', { deal_id: 'BO27RFL9XE' }, 400, /Several collaborations/],
])('the sandbox rejects a referral with %s and processes nothing', async (_case, change, status, message) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.refer(change);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  expect(await sandbox.log('referrals')).toEqual([]);
  expect(await sandbox.log('requests')).toEqual([expect.objectContaining({ status, processed: false })]);
});

test('the sandbox rejects a collaboration that does not belong to the deal', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await sandbox.refer();
  expect((await sandbox.refer({ deal_id: 'HB4XV09KQM', collab_id: body.collab_id })).status).toBe(404);
});

test('the sandbox selects one of several collaborations by brand', async () => {
  const sandbox = await startTestSandbox();
  const [one, other] = [
    await sandbox.refer({ deal_id: 'BO27RFL9XE', brand_id: 4819 }),
    await sandbox.refer({ deal_id: undefined, influencer_handle: 'duo.daily.test', brand_id: 5207 }),
  ];
  expect([one.body.deal_id, other.body.deal_id]).toEqual(['BO27RFL9XE', 'BO27RFL9XE']);
  expect(one.body.collab_id).not.toBe(other.body.collab_id);
});

test('the sandbox accepts a repeated order by default', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.refer();
  expect((await sandbox.refer()).status).toBe(200);
  expect(await sandbox.log('referrals')).toHaveLength(2);
});

test('the sandbox ignores a repeated order of the same platform with the same answer when duplicates is ignore', async () => {
  const sandbox = await startTestSandbox({ duplicates: 'ignore' });
  const first = await sandbox.refer();
  const second = await sandbox.refer({ order_revenue: 99 });
  expect([second.status, second.body]).toEqual([200, first.body]);
  await sandbox.refer({ order_platform: 'woocommerce' });
  expect((await sandbox.log('referrals')).map((line) => line.order_platform)).toEqual([
    'shopify',
    'woocommerce',
  ]);
  expect((await sandbox.log('requests')).map((line) => line.processed)).toEqual([true, false, true]);
});

test('the sandbox answers 409 to a repeated order when duplicates is 409', async () => {
  const sandbox = await startTestSandbox({ duplicates: '409' });
  await sandbox.refer();
  const second = await sandbox.refer();
  expect([second.status, second.body.message]).toEqual([409, expect.stringContaining('already registered')]);
  expect(await sandbox.log('referrals')).toHaveLength(1);
});

test('the sandbox adds clicks on both paths, by default one', async () => {
  const sandbox = await startTestSandbox();
  const values: unknown[] = [];
  for (const path of CLICK_PATHS) {
    const { body } = await sandbox.request('POST', path, {
      body: { deal_id: 'ETUNQ6ZTW1', increase_clicks: 5, country_code: 'NL' },
    });
    values.push(body.new_clicks_value);
  }
  const last = await sandbox.request('POST', CLICK_PATHS[0] ?? '', {
    body: { influencer_handle: 'mira.glow.test' },
  });
  expect(last.body).toEqual({
    deal_id: 'ETUNQ6ZTW1',
    collab_id: expect.any(String),
    new_clicks_value: 11,
    message: expect.any(String),
  });
  expect(values).toEqual([5, 10]);
  expect((await sandbox.log('clicks')).map((line) => line.increase_clicks)).toEqual([5, 5, 1]);
  const details = await sandbox.request('GET', '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1');
  expect(details.body.deal_info).toMatchObject({ total_clicks: 11, total_referrals: 0 });
});

test.each<[string, Record<string, unknown>, number, RegExp]>([
  ['nothing that names a deal', { deal_id: undefined }, 400, /at least one of/],
  ['a fraction of a click', { increase_clicks: 1.5 }, 400, /increase_clicks/],
  ['less than no click', { increase_clicks: -1 }, 400, /increase_clicks/],
  ['clicks as text', { increase_clicks: '1' }, 400, /increase_clicks/],
  ['a country that is no text', { country_code: 1 }, 400, /country_code/],
  ['an unknown deal', { deal_id: 'NONE' }, 404, /Deal not found/],
])('the sandbox rejects clicks with %s', async (_case, change, status, message) => {
  const sandbox = await startTestSandbox();
  for (const path of CLICK_PATHS) {
    const answer = await sandbox.request('POST', path, {
      body: { deal_id: 'ETUNQ6ZTW1', increase_clicks: 1, ...change },
    });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  }
  expect(await sandbox.log('clicks')).toEqual([]);
});
