import { expect, test } from 'vitest';
import type { Exchange } from '../../src/core/http/exchange.ts';
import {
  autocomplete,
  getDealDetails,
  hello,
  readListing,
  searchBrands,
  searchDealflows,
} from '../../src/service/account.ts';
import { call } from '../../src/service/call.ts';
import type { Client } from '../../src/service/client.ts';
import { startTestSandbox } from '../sandbox/start-test-sandbox.ts';
import { httpAnswer, startRawServer } from './raw-server.ts';
import { openClient } from './test-client.ts';

/** A client that returns the same exchange for every call. */
function clientThatGets(exchange: Exchange): Client {
  return { exchange: async () => exchange, close: async () => {}, destroy: async () => {} };
}

function answered(status: number, body: unknown): Exchange {
  return {
    kind: 'answer',
    status,
    headers: {},
    text: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

function serveAlways(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return startRawServer({ onData: (socket) => socket.write(httpAnswer(200, text)) });
}

test('the typed calls read the account, brands, dealflows and deals from the service', async () => {
  const sandbox = await startTestSandbox();
  const client = openClient(sandbox.url, { key: sandbox.key });
  const account = await hello(client);
  expect(account.accountId).toMatch(/^[A-Z0-9]{10}$/);
  expect(account.userId).not.toBe(account.accountId);
  expect(await searchBrands(client)).toContainEqual(
    expect.objectContaining({ id: '4819', name: 'Acme Skincare' }),
  );
  expect(await searchDealflows(client)).toContainEqual(expect.objectContaining({ id: 'D_FSSI4P' }));
  expect(await autocomplete(client, 'MIRA')).toEqual([expect.objectContaining({ deal_id: 'ETUNQ6ZTW1' })]);
  const deal = await getDealDetails(client, { dealId: 'ETUNQ6ZTW1' });
  expect(deal).toMatchObject({
    id: 'ETUNQ6ZTW1',
    influencerHandle: 'mira.glow.test',
    brandId: '4819',
    isActive: true,
  });
  expect(deal.raw).toHaveProperty('collabs');
});

test.each([
  ['says no', { success: false, message: 'no such brand', deal_id: 'D1' }, 'no such brand'],
  ['has an error', { error: 'quota', deal_id: 'D1' }, 'quota'],
  [
    'has a member twice',
    '{"deal_id":"D1","deal_id":"D2","message":"ok"}',
    'an answer that has a member twice',
  ],
])('a 2xx that %s is no answer, and what was asked is in doubt', async (_what, body, text) => {
  const { url } = await serveAlways(body);
  const client = openClient(url, { key: 'k' });
  const order = { deal_id: 'D1', order_id: '1', order_revenue: 1 };
  await expect(call(client, 'new_influencer_referral', { body: order })).rejects.toMatchObject({
    name: 'ApiError',
    status: 200,
    fate: 'in_doubt',
    text: expect.stringContaining(text),
  });
});

test.each([
  ['says no', { success: false, items: [] }, 'says that it did not succeed'],
  ['has more items than its list', { items: [{ id: 1 }], total: 2 }, 'contains 1 of 2 items'],
  ['says that it is a part', { items: [{ id: 1 }], partial: true }, 'the list is not complete'],
])('a list whose answer %s is not all that the account has', async (_what, body, text) => {
  const { url } = await serveAlways(body);
  const client = openClient(url, { key: 'k' });
  for (const search of [searchBrands, searchDealflows]) await expect(search(client)).rejects.toThrow(text);
});

test('the account call reads IDs with hyphens from the hello message and rejects a message without IDs', async () => {
  const greeting = clientThatGets(answered(200, { message: 'You are logged in - acc-1 - user-2' }));
  expect(await hello(greeting)).toEqual({ accountId: 'acc-1', userId: 'user-2' });
  const other = clientThatGets(answered(200, { message: 'Welcome' }));
  await expect(hello(other)).rejects.toMatchObject({
    name: 'ApiError',
    operation: 'account_hello',
    status: 200,
  });
});

test('the deal call reads the body itself as the deal if deal_info is missing', async () => {
  const deal = await getDealDetails(clientThatGets(answered(200, { id: 77, brand_id: '4819', stage: 3 })), {
    dealId: '77',
  });
  expect(deal).toEqual({
    id: '77',
    influencerHandle: null,
    brandId: '4819',
    isActive: null,
    raw: { id: 77, brand_id: '4819', stage: 3 },
  });
});

test.each([
  ['a bare array', [{ id: 1 }]],
  ['an array under a key', { success: true, dealflows: [{ id: 1 }] }],
])('the listing reader reads %s', (_form, answer) => {
  expect(readListing(answer)).toEqual([{ id: 1 }]);
});

test('an answer without the list that the service is said to give is an error, and no empty account', async () => {
  const client = clientThatGets(answered(200, { success: true, notes: [{ id: 7 }] }));
  for (const list of [searchBrands, searchDealflows, (asked: Client) => autocomplete(asked, 'mia')])
    await expect(list(client)).rejects.toMatchObject({ text: expect.stringContaining('contains no list') });
});

test('a call does not send a request that does not match the contract', async () => {
  const client = clientThatGets(answered(200, {}));
  const broken = call(client, 'create_note', { body: { deal_id: 'D1' } as never });
  await expect(broken).rejects.toMatchObject({
    status: null,
    text: expect.stringContaining('note_description'),
    safe: expect.stringContaining('Nothing was sent'),
  });
});

test.each([
  ['order_id', { deal_id: 'D1', order_id: ' ' }],
  ['order_id', { deal_id: 'D1', order_id: '' }],
  ['deal_id', { deal_id: '\t', order_id: '1' }],
  ['deal_id', { deal_id: ' ', influencer_handle: '', collab_id: '\u00a0', order_id: '1' }],
])('a call does not send an order with a blank %s: %j', async (member, order) => {
  const client = clientThatGets(answered(200, { deal_id: 'D1', message: 'ok' }));
  const sent = call(client, 'new_influencer_referral', { body: { ...order, order_revenue: 1 } });
  await expect(sent).rejects.toMatchObject({ fate: 'not_sent', text: expect.stringContaining(member) });
});

test.each<[string, Exchange, 'create_note' | 'search_brands', RegExp, RegExp]>([
  [
    'a refusal',
    answered(404, { message: 'Deal not found' }),
    'create_note',
    /Deal not found/,
    /not processed/,
  ],
  ['a wrong key', answered(401, { error: 'Invalid key' }), 'create_note', /Invalid key/, /Check the API key/],
  ['a storm', answered(429, 'slow down'), 'create_note', /slow down/, /after the delay/],
  [
    'a crash of what may not be repeated',
    answered(500, ''),
    'create_note',
    /is empty/,
    /may have been processed/,
  ],
  [
    'a crash of what may be repeated',
    answered(500, ''),
    'search_brands',
    /is empty/,
    /repeat it without harm/,
  ],
  ['a redirect', answered(302, ''), 'create_note', /is empty/, /redirects to another address.*may have been/],
  [
    'a refused connection',
    { kind: 'failure', written: false, reason: 'refused' },
    'create_note',
    /refused/,
    /Nothing was sent/,
  ],
  [
    'a reset',
    { kind: 'failure', written: true, reason: 'reset' },
    'create_note',
    /reset/,
    /may have been processed/,
  ],
  [
    'an answer that is no JSON',
    answered(200, '<h1>Hi</h1>'),
    'create_note',
    /does not fit the contract/,
    /may have been/,
  ],
])(
  'the error says what the caller may safely do after %s',
  async (_case, exchange, operation, text, safe) => {
    const body = { deal_id: 'D1', note_description: 'planted-note' };
    const calling =
      operation === 'create_note'
        ? call(clientThatGets(exchange), operation, { body })
        : call(clientThatGets(exchange), operation);
    const error = await calling.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      name: 'ApiError',
      operation,
      text: expect.stringMatching(text),
      safe: expect.stringMatching(safe),
    });
    expect(JSON.stringify(error) + String(error)).not.toContain('planted');
  },
);
