import { createHmac } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

function control(sandbox: TestSandbox, method: string, path: string, body?: unknown) {
  return sandbox.request(method, `/_sandbox/${path}`, { key: null, ...(body === undefined ? {} : { body }) });
}

async function readDeal(sandbox: TestSandbox): Promise<unknown> {
  return (await sandbox.request('GET', '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1&return_collabs=true'))
    .body.deal_info;
}

function note(sandbox: TestSandbox, text: string) {
  return sandbox.request('POST', '/v1/crm/create_note', {
    body: { deal_id: 'ETUNQ6ZTW1', note_description: text },
  });
}

const STORES = [
  ['in memory', () => ({})],
  ['in a file', () => ({ db: join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'sandbox.sqlite') })],
] as const;

test.each(STORES)('reset restores the initial state, logs and faults (%s)', async (_, where) => {
  const sandbox = await startTestSandbox({ ...where(), duplicates: '409' });
  const before = await readDeal(sandbox);
  await sandbox.refer();
  await sandbox.setFaults({ kind: '401', operation: 'create_task' });
  await control(sandbox, 'POST', 'clock', { advance_seconds: 1e6 });
  expect(await readDeal(sandbox)).not.toEqual(before);
  expect((await control(sandbox, 'POST', 'reset')).status).toBe(200);
  expect(await readDeal(sandbox)).toEqual(before);
  expect([await sandbox.log('referrals'), (await control(sandbox, 'GET', 'faults')).text]).toEqual([
    [],
    '[]',
  ]);
  expect((await control(sandbox, 'GET', 'clock')).body).toMatchObject({ ahead_seconds: 0, stopped: false });
  expect((await sandbox.refer()).status).toBe(200);
  expect((await sandbox.log('referrals')).map(({ sequence }) => sequence)).toEqual([1]);
});

test.each(STORES)(
  'a snapshot can be restored, also in another sandbox with the same seed (%s)',
  async (_, where) => {
    const sandbox = await startTestSandbox({ ...where(), duplicates: '409' });
    await sandbox.refer();
    await note(sandbox, 'one');
    const state = await readDeal(sandbox);
    const { text: snapshot } = await control(sandbox, 'GET', 'snapshot');
    await sandbox.refer({ order_id: '1002' });
    await note(sandbox, 'two');

    const other = await startTestSandbox({ ...where(), duplicates: '409' });
    for (const one of [sandbox, other]) {
      expect((await control(one, 'POST', 'restore', snapshot)).status).toBe(200);
      expect(await readDeal(one)).toEqual(state);
      expect((await one.log('referrals')).map(({ order_id }) => order_id)).toEqual(['1001']);
      expect((await control(one, 'GET', 'deals/ETUNQ6ZTW1')).body.notes).toHaveLength(1);
      expect((await one.refer()).status).toBe(409);
    }
  },
);

test('an incompatible snapshot is rejected and changes nothing', async () => {
  const sandbox = await startTestSandbox();
  const other = await startTestSandbox({ seed: '2' });
  const { text } = await control(other, 'GET', 'snapshot');
  expect((await control(sandbox, 'POST', 'restore', text)).body.message).toMatch(/another seed/);
  expect((await control(sandbox, 'POST', 'restore', {})).status).toBe(400);
  expect((await sandbox.refer()).status).toBe(200);
});

test('a stopped clock that is advanced controls when a retry is sent', async () => {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({ allowPrivateWebhooks: true, webhookRetryMs: 60_000 });
  await sandbox.request('POST', '/v1/account/create_webhook', {
    body: { webhook_url: receiver.url, webhook_type: 'new_max_bid' },
  });
  await control(sandbox, 'POST', 'clock', { at: '2030-01-01T00:00:00Z', stopped: true });
  receiver.statuses.push(500, 500);
  await control(sandbox, 'POST', 'trigger/new_max_bid', {});
  const attempts = async (count: number) =>
    waitFor(async () => {
      const { text } = await control(sandbox, 'GET', 'deliveries');
      return (JSON.parse(text) as { attempts: unknown[] }).attempts.length === count;
    });
  await attempts(1);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 60 });
  await attempts(2);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 119 });
  expect(receiver.events).toHaveLength(2);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 1 });
  await attempts(3);
  const { text } = await control(sandbox, 'GET', 'deliveries');
  expect((JSON.parse(text) as { attempts: { at: string }[] }).attempts.map(({ at }) => at)).toEqual([
    '2030-01-01T00:00:00.000Z',
    '2030-01-01T00:01:00.000Z',
    '2030-01-01T00:03:00.000Z',
  ]);
  expect(receiver.events.at(-1)?.headers['x-service-timestamp']).toBe(
    String(Date.UTC(2030, 0, 1, 0, 3) / 1000),
  );
});

test('advancing the clock identifies customers, makes tasks overdue and lets influencers grow', async () => {
  const sandbox = await startTestSandbox({ identifyDelayMs: 3_600_000 });
  await control(sandbox, 'POST', 'clock', { at: '2030-01-01T12:00:00Z', stopped: true });
  await sandbox.request('POST', '/v1/search/identify_influencers', {
    body: { influencer_list: ['a@b.example'] },
  });
  await sandbox.request('POST', '/v1/crm/create_task', {
    body: {
      deal_id: 'ETUNQ6ZTW1',
      tasktype: 'todo_task',
      task_title: 'x',
      task_description: 'x',
      deadline: '02-01-2030',
      assigned_to: null,
    },
  });
  const status = async () =>
    (JSON.parse((await control(sandbox, 'GET', 'customers')).text) as { status: string }[])[0]?.status;
  const overdue = async () =>
    ((await control(sandbox, 'GET', 'deals/ETUNQ6ZTW1')).body.tasks as { is_overdue: boolean }[])[0]
      ?.is_overdue;
  const filter = { followers_growth: { value: '5', interval: '1month' } };
  const followers = async () => {
    const { body } = await sandbox.request('POST', '/v1/search/get_search', {
      body: { platform: 'tiktok', filter },
    });
    return (body.results as { accounts: { followers: number }[] }).accounts[0]?.followers ?? 0;
  };
  const before = await followers();
  expect([await status(), await overdue()]).toEqual(['queued', false]);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 3_600 });
  expect([await status(), await overdue()]).toEqual(['done', false]);
  await control(sandbox, 'POST', 'clock', { at: '2030-01-02T23:59:59Z' });
  expect(await overdue()).toBe(false);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 1 });
  expect(await overdue()).toBe(true);
  await control(sandbox, 'POST', 'clock', { advance_seconds: 30 * 86_400 });
  expect(await followers()).toBeGreaterThan(before * 1.04);
  expect((await control(sandbox, 'POST', 'clock', { at: 'tomorrow' })).status).toBe(400);
});

test('requests are shown with headers, query and body, but without email addresses and secrets', async () => {
  const sandbox = await startTestSandbox();
  await note(sandbox, 'Write to jane@planted.example or ask');
  await note(sandbox, `my key is ${sandbox.key} and ${sandbox.webhookSecret}`);
  await sandbox.request('POST', '/v1/crm/create_note', {
    body: '{"deal_id":"X","note_description":"jane\\u0040planted.example"}',
  });
  await sandbox.request('GET', '/v1/crm/autocomplete?q=jane%40planted.example');
  await sandbox.request('GET', '/v1/crm/jane%40planted.example');
  const { text } = await control(sandbox, 'GET', 'requests');
  const rows = JSON.parse(text) as Record<string, unknown>[];
  expect(rows).toHaveLength(5);
  expect(rows[0]).toMatchObject({
    sequence: 1,
    operation: 'create_note',
    status: 200,
    processed: true,
    query: {},
    headers: { 'x-api-key': '***', 'content-type': 'application/json' },
    body: '{"deal_id":"ETUNQ6ZTW1","note_description":"Write to j***@*** or ask"}',
  });
  expect(rows[3]?.query).toEqual({ q: 'j***@***' });
  for (const secret of [sandbox.key, sandbox.webhookSecret, 'planted']) expect(text).not.toContain(secret);
});

test.each([
  ['operation=create_note', [1, 2]],
  ['text=TWO', [2]],
  ['status=404', [3]],
  ['method=get&path=/v1/nothing', [3]],
  ['after=2', [3]],
  ['limit=1', [3]],
  ['account=NOBODY', []],
])('requests can be searched by %s', async (query, sequences) => {
  const sandbox = await startTestSandbox();
  await note(sandbox, 'one');
  await note(sandbox, 'two');
  await sandbox.request('GET', '/v1/nothing');
  const { text } = await control(sandbox, 'GET', `requests?${query}`);
  expect((JSON.parse(text) as { sequence: number }[]).map(({ sequence }) => sequence)).toEqual(sequences);
});

test('an unknown search parameter is rejected', async () => {
  const sandbox = await startTestSandbox();
  expect((await control(sandbox, 'GET', 'requests?operations=x')).status).toBe(400);
});

test('a canned answer is returned if query and body match, and the request is not processed', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults(
    {
      kind: 'canned',
      match: { body: { order_id: 'A', nested: { list: [1] } } },
      status: 418,
      headers: { 'x-canned': 'yes' },
      body: { message: 'as told' },
      count: 1,
    },
    { kind: 'canned', match: { query: { deal_id: 'NONE' } }, body: 'plain' },
  );
  expect((await sandbox.refer({ order_id: 'A' })).status).toBe(200);
  expect((await sandbox.refer({ order_id: 'A', nested: { list: [1, 2] } })).status).toBe(200);
  const canned = await sandbox.refer({ order_id: 'A', nested: { list: [1], more: 1 } });
  expect([canned.status, canned.headers.get('x-canned'), canned.body]).toEqual([
    418,
    'yes',
    { message: 'as told' },
  ]);
  expect((await sandbox.refer({ order_id: 'A', nested: { list: [1] } })).status).toBe(200);
  expect((await sandbox.request('GET', '/v1/crm/get_deal_details?deal_id=NONE')).text).toBe('plain');
  expect(await sandbox.log('referrals')).toHaveLength(3);
});

test('an event can be redelivered on request with the same bytes', async () => {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({ allowPrivateWebhooks: true });
  await sandbox.request('POST', '/v1/account/create_webhook', {
    body: { webhook_url: receiver.url, webhook_type: 'new_max_bid' },
  });
  await control(sandbox, 'POST', 'trigger/new_max_bid', {});
  await waitFor(() => receiver.events.length === 1);
  expect((await control(sandbox, 'POST', 'deliveries/1/redeliver')).body).toMatchObject({
    id: 2,
    redelivery_of: 1,
  });
  await waitFor(() => receiver.events.length === 2);
  expect(receiver.events[1]?.raw).toEqual(receiver.events[0]?.raw);
  expect((await control(sandbox, 'POST', 'deliveries/9/redeliver')).status).toBe(404);
});

test('the event stream sends every signed event without a webhook, also after a reset', async () => {
  const sandbox = await startTestSandbox();
  const answer = await fetch(`${sandbox.url}/_sandbox/events`);
  const reader = answer.body?.getReader();
  const read = async () =>
    JSON.parse(Buffer.from((await reader?.read())?.value ?? []).toString()) as {
      webhook_type: string;
      body: string;
      headers: Record<string, string>;
    };
  await sandbox.refer();
  const event = await read();
  expect(event.webhook_type).toBe('new_influencer_order');
  expect(event.headers['X-Service-Signature']).toBe(
    createHmac('sha256', sandbox.webhookSecret).update(event.body).digest('hex'),
  );
  await control(sandbox, 'POST', 'reset');
  await control(sandbox, 'POST', 'trigger/product_sent', {});
  expect((await read()).webhook_type).toBe('product_sent');
  await reader?.cancel();
});

test('the control routes answer neither pages of other sites nor other names of this machine', async () => {
  const status = (url: string, headers: Record<string, string>) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request(`${url}/_sandbox/reset`, { method: 'POST', headers }, (answer) =>
      resolve(answer.resume().statusCode),
    )
      .on('error', reject)
      .end();
    return promise;
  };
  const { url } = await startTestSandbox();
  const { host, port } = new URL(url);
  for (const headers of [
    {},
    { origin: url },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
  ])
    expect(await status(url, headers), JSON.stringify(headers)).toBe(200);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
    { host: 'evil.example' },
    { host: `127.0.0.1.evil.example:${port}` },
    { host, origin: `http://localhost:${port}` },
  ])
    expect(await status(url, headers), JSON.stringify(headers)).toBe(403);
  // In a network of containers, the sandbox has another name; other sites still get no answer.
  const open = await startTestSandbox({ openControl: true });
  expect(await status(open.url, { host: 'sandbox:4010' })).toBe(200);
  expect(await status(open.url, { host: 'sandbox:4010', origin: 'https://evil.example' })).toBe(403);
});
