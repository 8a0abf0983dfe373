import { createHmac } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEMO_ACCOUNT } from '../../src/sandbox/account/read-accounts.ts';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { webhookTypes } from '../../src/service/contract/webhook-types.ts';
import { waitFor } from '../support/wait-for.ts';
import { type ReceivedEvent, startReceiver } from './start-receiver.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

function writeAccount(yaml: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sandbox-life-')), 'account.yaml');
  writeFileSync(file, yaml);
  return file;
}

/**
 * Starts a sandbox with one brand and nothing else, whose clock is stopped and whose events are sent to a
 * receiver.
 */
async function openSandbox(options: Partial<SandboxOptions> = {}) {
  const receiver = await startReceiver();
  const data = writeAccount('brands: [{ id: 7, name: Seven }]\n');
  const sandbox = await startTestSandbox({ data, allowPrivateWebhooks: true, ...options });
  const post = async (path: string, body: unknown) => {
    const answer = await sandbox.request('POST', `/v1/${path}`, { body });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body;
  };
  for (const webhook_type of webhookTypes)
    await post('account/create_webhook', { webhook_url: `${receiver.url}/${webhook_type}`, webhook_type });
  const control = (path: string, body?: unknown) =>
    sandbox.request(body === undefined ? 'GET' : 'POST', `/_sandbox/${path}`, {
      key: null,
      ...(body === undefined ? {} : { body }),
    });
  await control('clock', { at: '2030-01-01T00:00:00Z', stopped: true });
  const planned = async () =>
    JSON.parse((await control('planned')).text) as Record<'due_at' | 'webhook_type', string>[];
  /** Waits for every event that is due, because events are sent in the background. */
  const settle = async () => {
    await waitFor(async () => {
      const { now } = (await control('clock')).body as { now: string };
      return (await planned()).every(({ due_at }) => due_at > now);
    });
    await waitFor(async () => !(await control('deliveries')).text.includes('"state":"pending"'));
  };
  const advance = async (seconds: number) => {
    await control('clock', { advance_seconds: seconds });
    await settle();
  };
  const findInfluencers = async () =>
    (await post('search/get_search', { platform: 'tiktok', filter: {} })).shown_accounts as string[];
  /** The only campaign, which no operation lists. */
  const [account] = JSON.parse((await control('accounts')).text) as { outreach_ids: string[] }[];
  const submit = async (influencer_ids: readonly string[]) =>
    post('search/submit_influencers', {
      outreach_id: account?.outreach_ids[0],
      influencer_ids,
      platform: 'tiktok',
    });
  return { receiver, sandbox, post, control, planned, settle, advance, findInfluencers, submit };
}

function kindsOf(events: readonly ReceivedEvent[]): readonly string[] {
  return events.map(({ path }) => path.slice(1));
}

test('a deal goes from outreach to payout by operations and clock alone, with an event for each step', async () => {
  const { receiver, sandbox, post, advance, findInfluencers, submit } = await openSandbox();
  expect(await submit(await findInfluencers())).toMatchObject({ total_added: 10 });
  await advance(HOUR - 1);
  expect(receiver.events).toEqual([]);
  await advance(1);
  expect(kindsOf(receiver.events)).toEqual(Array.from({ length: 10 }, () => 'new_email_sent'));
  await advance(3 * DAY);
  const replies = receiver.events.filter(({ path }) => path === '/new_influencer_reply');
  expect(replies.length).toBeGreaterThan(3);
  const deal_id = String(replies[0]?.body.deal_id);
  const [dealflow] = JSON.parse(
    (await sandbox.request('GET', '/v1/account/search_dealflows')).text,
  ) as Record<'id' | 'brand_id', unknown>[];
  const details = await sandbox.request('GET', `/v1/crm/get_deal_details?deal_id=${deal_id}`);
  expect(details.body.deal_info).toMatchObject({
    brand_id: 7,
    dealflow_id: dealflow?.id,
    platform: 'tiktok',
  });

  await post('crm/update_dealstage', { deal_id, new_stage: 2 });
  await post('crm/update_deal_info', { deal_id, new_deal_info: { code: 'LIFE10' } });
  await advance(0);
  await post('crm/update_deal_info', { deal_id, new_deal_info: { commission_perc: 15 } });
  await advance(0);
  await post('crm/update_post_capture', { deal_id, enabled: true });
  await advance(5 * DAY);
  await post('crm/update_post_capture', { deal_id, enabled: false });
  const order = { deal_id, order_platform: 'shopify', order_discount_codes_used: 'LIFE10', currency: 'EUR' };
  await post('crm/new_influencer_referral', { ...order, order_id: '1', order_revenue: 49.9 });
  await advance(DAY);
  await post('crm/new_influencer_referral', { ...order, order_id: '2', order_revenue: 100 });
  await advance(29 * DAY - 1);
  expect(kindsOf(receiver.events)).not.toContain('new_payout_request');
  await advance(1);

  const life = receiver.events.filter(({ body }) => body.deal_id === deal_id);
  const kinds = kindsOf(life);
  expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
    'new_email_sent',
    'new_influencer_reply',
    'update_discount_code',
    'update_commission',
    'new_influencer_post',
    'new_influencer_order',
    'new_payout_request',
  ]);
  const times = life.map(({ body }) => Number(body.webhook_timestamp));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBe(Date.UTC(2030, 0, 1, 1) / 1_000);
  const [mail, reply] = life.map(({ body }) => body.email_information as Record<string, string>);
  expect([reply?.from, reply?.to]).toEqual([mail?.to, mail?.from]);
  expect(mail).toMatchObject({ subject: 'Working with Seven', received_time: '2030-01-01 01:00:00' });
  expect(life.find(({ path }) => path === '/new_influencer_post')?.body.post_information).toMatchObject({
    caption: expect.stringContaining('LIFE10'),
  });
  // 15 % of 149.90, the commission in the orders.
  expect(life.at(-1)?.body).toMatchObject({ payout_amount: 22.49, payout_currency: 'EUR', brand_id: '7' });
  for (const { headers, raw } of life)
    expect(headers['x-service-signature']).toBe(
      createHmac('sha256', sandbox.webhookSecret).update(raw).digest('hex'),
    );
});

test('a payout request covers each order once and each currency separately', async () => {
  const { receiver, post, advance } = await openSandbox({ data: DEMO_ACCOUNT });
  const order = (order_id: string, order_revenue: number, currency: string) =>
    post('crm/new_influencer_referral', { deal_id: 'ETUNQ6ZTW1', order_id, order_revenue, currency });
  await order('1', 100, 'EUR');
  await order('2', 10, 'usd');
  await order('3', 5, 'usd');
  await advance(31 * DAY);
  await order('4', 0.1, 'EUR');
  await advance(30 * DAY);
  await advance(300 * DAY);
  const payouts = receiver.events.filter(({ path }) => path === '/new_payout_request');
  expect(payouts.map(({ body }) => [body.payout_currency, body.payout_amount]).toSorted()).toEqual([
    ['EUR', 0.01],
    ['EUR', 10],
    ['USD', 1.5],
  ]);
});

test('a clock that jumps ahead runs all events in between, each at its own time', async () => {
  const once = await openSandbox();
  await once.submit(await once.findInfluencers());
  await once.advance(30 * DAY);
  const steps = await openSandbox();
  await steps.submit(await steps.findInfluencers());
  for (let day = 0; day < 30; day += 1) await steps.advance(DAY);

  // Deliveries run in parallel, so only the timestamp in each event gives their order.
  const storyOf = ({ receiver: { events } }: typeof once) =>
    events
      .map(({ path, body }) => `${String(body.webhook_timestamp)} ${String(body.deal_id)} ${path}`)
      .toSorted();
  expect(storyOf(once)).toEqual(storyOf(steps));
  expect(storyOf(once).length).toBeGreaterThan(13);
  const deliveries = (await once.control('deliveries')).text.split('\n').filter((line) => line !== '');
  const bodies = deliveries.map((line) => JSON.parse((JSON.parse(line) as { body: string }).body));
  const times = bodies.map(({ webhook_timestamp }) => Number(webhook_timestamp));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('no posts are captured after capture is switched off', async () => {
  const { receiver, post, planned, advance } = await openSandbox({ data: DEMO_ACCOUNT });
  const switchCapture = (enabled: boolean) =>
    post('crm/update_post_capture', { deal_id: 'ETUNQ6ZTW1', enabled });
  await switchCapture(true);
  await switchCapture(true);
  const posts = await planned();
  expect(posts.map(({ webhook_type }) => webhook_type)).toContain('new_influencer_post');
  expect(posts.length).toBeLessThanOrEqual(3);
  await switchCapture(false);
  expect(await planned()).toEqual([]);
  await switchCapture(true);
  await advance(30 * DAY);
  expect(kindsOf(receiver.events)).toEqual(posts.map(() => 'new_influencer_post'));
  const urls = receiver.events.map(({ body }) => (body.post_information as { post_url: string }).post_url);
  expect(new Set(urls).size).toBe(posts.length);
});

test('planned events happen after a restart and after a snapshot is restored', async () => {
  const db = join(mkdtempSync(join(tmpdir(), 'sandbox-life-')), 'sandbox.sqlite');
  const before = await openSandbox({ db });
  await before.submit(await before.findInfluencers());
  const plans = await before.planned();
  expect(plans).toHaveLength(10);
  const snapshot = (await before.control('snapshot')).text;
  await before.advance(HOUR);
  await before.control('restore', snapshot);
  expect(await before.planned()).toEqual(plans);
  await before.sandbox.close();

  const { control, planned, settle, receiver } = await openSandbox({ db });
  expect(await planned()).toEqual(plans);
  await control('clock', { advance_seconds: HOUR });
  await settle();
  expect(kindsOf(receiver.events)).toEqual(Array.from({ length: 10 }, () => 'new_email_sent'));
});

test('each account of a file gets its own dealflows and campaign if the file defines none', async () => {
  const data = writeAccount(`accounts:
  - { id: NORTH, keys: [north], brands: [{ id: 1, name: One }, { id: 2, name: Two }] }
  - { id: SOUTH, keys: [south], brands: [{ id: 1, name: One }] }
`);
  const sandbox = await startTestSandbox({ data });
  const ids: string[] = [];
  for (const [key, brands] of [
    ['north', [1, 2]],
    ['south', [1]],
  ] as const) {
    const { text } = await sandbox.request('GET', '/v1/account/search_dealflows', { key });
    const dealflows = JSON.parse(text) as { id: string; name: string; brand_id: number }[];
    expect(dealflows.map(({ brand_id }) => brand_id)).toEqual(brands);
    for (const { id, brand_id } of dealflows) {
      ids.push(id);
      const body = { influencer_handle: 'a.test', platform: 'tiktok', brand_id, dealflow_id: id };
      expect((await sandbox.request('POST', '/v1/crm/create_deal', { body, key })).status).toBe(200);
    }
  }
  expect(new Set(ids).size).toBe(3);
  const body = { influencer_handle: 'a.test', platform: 'tiktok', brand_id: 1, dealflow_id: ids[0] };
  const foreign = await sandbox.request('POST', '/v1/crm/create_deal', { body, key: 'south' });
  expect(foreign.status).toBe(404);
  const again = await startTestSandbox({ data });
  expect((await again.request('GET', '/v1/account/search_dealflows', { key: 'north' })).text).toContain(
    ids[0],
  );
});
