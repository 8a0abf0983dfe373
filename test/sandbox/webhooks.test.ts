import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { isPrivateHost } from '../../src/sandbox/events/private-address.ts';
import { type WebhookType, webhookTypes } from '../../src/service/contract/webhook-types.ts';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

type Change = (method: string, url: string, type?: string) => ReturnType<TestSandbox['request']>;

function changerOf(sandbox: TestSandbox): Change {
  return (method, webhook_url, webhook_type = 'new_max_bid') =>
    sandbox.request(method, `/v1/account/${method === 'POST' ? 'create' : 'delete'}_webhook`, {
      body: { webhook_url, webhook_type },
    });
}

/** Starts a sandbox whose webhooks of all kinds are sent to a receiver. */
async function setUp(options: Parameters<typeof startTestSandbox>[0] = {}) {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({ allowPrivateWebhooks: true, webhookRetryMs: 5, ...options });
  const change = changerOf(sandbox);
  for (const kind of webhookTypes) await change('POST', `${receiver.url}/${kind}`, kind);
  const deliveries = async () =>
    (await sandbox.request('GET', '/_sandbox/deliveries', { key: null })).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { attempts: unknown[] });
  const trigger = (kind: string, body: Record<string, unknown> = {}) =>
    sandbox.request('POST', `/_sandbox/trigger/${kind}`, { body, key: null });
  return { receiver, sandbox, change, deliveries, trigger };
}

test('the sandbox registers, lists and deletes webhooks, and answers 409 to a duplicate and 400 to an unknown one', async () => {
  const sandbox = await startTestSandbox();
  const change = changerOf(sandbox);
  const url = 'https://hooks.example.com/in';
  expect((await change('POST', url)).status).toBe(200);
  expect((await change('POST', url)).status).toBe(409);
  expect((await change('POST', url, 'product_sent')).status).toBe(200);
  expect((await sandbox.request('GET', '/v1/account/get_webhooks')).body).toEqual({
    webhooks: [
      { webhook_url: url, webhook_type: 'new_max_bid' },
      { webhook_url: url, webhook_type: 'product_sent' },
    ],
  });
  expect((await change('DELETE', url)).status).toBe(200);
  expect((await change('DELETE', url)).status).toBe(400);
  expect((await change('POST', url, 'nothing')).status).toBe(400);
});

test.each([
  'http://localhost/x',
  'http://LOCALHOST.:80/x',
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://10.1.2.3/',
  'http://172.31.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest',
  'http://0.0.0.0/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://intranet/',
  'http://db.internal/',
  'ftp://hooks.example.com/',
  'https://user:pass@hooks.example.com/',
  'nothing',
])('the sandbox rejects the webhook address %s', async (url) => {
  const sandbox = await startTestSandbox();
  const answer = await changerOf(sandbox)('POST', url);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(/webhook_url/)]);
});

test('public webhook addresses are accepted', () => {
  const hosts = ['hooks.example.com', '8.8.8.8', '172.32.0.1', '[2606:4700::1111]', '192.167.1.1'];
  expect(hosts.filter(isPrivateHost)).toEqual([]);
});

/** The member that only this kind has, and its content. */
const DETAILS: Readonly<Record<WebhookType, Record<string, unknown>>> = {
  new_payout_request: { payout_amount: 80, payout_currency: 'EUR', brand_id: '4819' },
  new_max_bid: { max_bid_information: { max_bid_comment: expect.any(String) } },
  update_discount_code: { code_information: { old_discount_code: 'MIRA10', new_discount_code: 'MIRA10X' } },
  update_commission: { commission_information: { old_commission_perc: null, new_commission_perc: 11 } },
  update_custom_link: {
    custom_link_information: { old_custom_link: null, new_custom_link: expect.any(String) },
  },
  product_sent: { send_product_info: { line_items: [expect.anything()], customer: expect.anything() } },
  new_email_sent: {
    email_information: { received_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) },
  },
  new_influencer_post: { post_information: { post_url: expect.any(String) } },
  new_influencer_reply: { email_information: { subject: expect.any(String) } },
  new_influencer_order: { order_information: { order_revenue: 49.5, commission_rate: 0.1 } },
};

test.each(webhookTypes)('the sandbox triggers %s, signed over the raw body', async (kind) => {
  const { receiver, sandbox, trigger, deliveries } = await setUp();
  const told = await trigger(kind, kind === 'new_payout_request' ? { payout_amount: '80' } : {});
  expect([told.status, told.body.deal_id]).toEqual([200, 'ETUNQ6ZTW1']);
  await waitFor(async () => (await deliveries())[0]?.state === 'delivered');
  const [event, more] = receiver.events;
  expect(more).toBeUndefined();
  expect(event?.path).toBe(`/${kind}`);
  expect(event?.body).toMatchObject({
    deal_id: 'ETUNQ6ZTW1',
    deal_url: `${sandbox.url}/deal/ETUNQ6ZTW1`,
    webhook_timestamp: expect.stringMatching(/^\d{10}$/),
    deal_info: { platform: 'instagram', is_active: true, dealflow_name: 'Ambassadors' },
    ...DETAILS[kind],
  });
  const signature = createHmac('sha256', sandbox.webhookSecret)
    .update(event?.raw ?? '')
    .digest('hex');
  expect(event?.headers).toMatchObject({
    'x-service-signature': signature,
    'x-service-timestamp': expect.stringMatching(/^\d{10}$/),
  });
});

test('the sandbox sends an event for an order and for a changed code, commission and link', async () => {
  const { receiver, sandbox } = await setUp({ webhookHeaderPrefix: 'X-Acme', webhookSecret: 's' });
  await sandbox.refer({ order_id: 'A1', order_discount_codes_used: 'mira10' });
  await sandbox.refer({ order_id: 5 });
  const update = (new_deal_info: Record<string, unknown>) =>
    sandbox.request('POST', '/v1/crm/update_deal_info', { body: { deal_id: 'ETUNQ6ZTW1', new_deal_info } });
  await update({ code: 'MIRA10', first_name: 'Mira' });
  await update({ code: 'MIRA20', commission_perc: 15, custom_url: 'https://shop.example/m' });
  await waitFor(() => receiver.events.length >= 4);
  expect(receiver.events.map(({ path }) => path).toSorted()).toEqual([
    '/new_influencer_order',
    '/update_commission',
    '/update_custom_link',
    '/update_discount_code',
  ]);
  const order = receiver.events.find(({ path }) => path === '/new_influencer_order');
  expect(order?.body.order_information).toMatchObject({
    order_id: 'A1',
    order_revenue: 12.5,
    match_types: 'discount_code',
    discount_codes: 'mira10',
  });
  expect(order?.headers).toHaveProperty('x-acme-signature');
});

test('the sandbox retries an event with the same bytes until it is acknowledged', async () => {
  const { receiver, trigger, deliveries } = await setUp();
  receiver.statuses.push(500, 302, 404);
  await trigger('new_max_bid');
  await waitFor(async () => (await deliveries())[0]?.state === 'delivered');
  const [delivery] = await deliveries();
  expect(delivery?.attempts).toMatchObject([
    { status: 500 },
    { status: 302 },
    { status: 404 },
    { status: 200 },
  ]);
  expect(new Set(receiver.events.map(({ raw }) => raw.toString())).size).toBe(1);
});

test('the sandbox gives up a delivery after six attempts and when the webhook is deleted', async () => {
  const { receiver, trigger, deliveries, change } = await setUp();
  receiver.statuses.push(...Array.from({ length: 6 }, () => 503));
  await trigger('new_max_bid');
  await waitFor(async () => (await deliveries())[0]?.state === 'failed');
  expect((await deliveries())[0]?.attempts).toHaveLength(6);
  expect(receiver.events).toHaveLength(6);

  receiver.statuses.push(503);
  await trigger('product_sent');
  await change('DELETE', `${receiver.url}/product_sent`, 'product_sent');
  await waitFor(async () => (await deliveries())[1]?.state === 'failed');
  expect((await deliveries())[1]?.attempts.at(-1)).toMatchObject({ error: 'the webhook was deleted' });
});

test('the sandbox records that a receiver is unreachable', async () => {
  const { trigger, deliveries, change } = await setUp();
  await change('POST', 'http://127.0.0.1:1/', 'new_max_bid');
  await trigger('new_max_bid');
  await waitFor(async () => ((await deliveries())[1]?.attempts.length ?? 0) > 0);
  expect((await deliveries())[1]?.attempts[0]).toMatchObject({ status: null, error: 'ECONNREFUSED' });
});

test('the sandbox delivers each of many orders once', async () => {
  const { receiver, sandbox } = await setUp();
  for (let round = 0; round < 10; round += 1)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => sandbox.refer({ order_id: `${round}-${index}` })),
    );
  await waitFor(() => receiver.events.length >= 500);
  const ids = receiver.events.map(({ body }) => (body.order_information as { order_id: string }).order_id);
  expect(new Set(ids).size).toBe(500);
});

test.each<[string, Record<string, unknown>, number, RegExp]>([
  ['nothing', {}, 404, /There are: new_payout_request/],
  ['new_max_bid', { deal_id: 'NONE' }, 404, /Deal not found/],
  ['new_payout_request', { payout_amount: 'much' }, 400, /payout_amount/],
  ['new_max_bid', { comment: 'x' }, 400, /comment/],
  ['new_influencer_order', { order_revenue: 'much' }, 400, /order_revenue/],
])('the sandbox refuses to trigger %s with %j', async (kind, body, status, message) => {
  const { trigger } = await setUp();
  const answer = await trigger(kind, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});
