import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { handlers } from '../../src/sandbox/operations/index.ts';
import { operationNames, operationOf } from '../../src/service/contract.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

const DEAL = {
  influencer_handle: 'new.one.test',
  platform: 'instagram',
  brand_id: 4819,
  dealflow_id: 'D_FSSI4P',
};

test('the sandbox greets without a key, and names account and user with one', async () => {
  const sandbox = await startTestSandbox();
  const open = await sandbox.request('GET', '/v1/public/hello', { key: null });
  expect([open.status, open.body.message]).toEqual([200, expect.stringContaining('/v1/account/hello')]);
  const known = await sandbox.request('GET', '/v1/account/hello');
  expect(known.body.message).toMatch(/^You are logged in - [A-Z0-9]{10} - [A-Z0-9]{10}$/);
});

test.each(operationNames.filter((name) => handlers[name] !== undefined && operationOf(name).sendsKey))(
  '%s answers 401 without a key and with a wrong one',
  async (name) => {
    const sandbox = await startTestSandbox();
    const { method, path, otherPaths } = operationOf(name);
    for (const url of [path, ...otherPaths]) {
      for (const key of [null, 'wrong', '']) {
        const answer = await sandbox.request(method, url, {
          key,
          ...(method === 'POST' ? { body: {} } : {}),
        });
        expect([answer.status, answer.body.message]).toEqual([401, expect.stringMatching(/API key/)]);
      }
    }
    expect(await sandbox.log('requests')).toSatisfy((lines: { processed: boolean }[]) =>
      lines.every((line) => !line.processed),
    );
  },
);

test('the sandbox lists brands and dealflows as bare arrays', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.request('GET', '/v1/account/search_brands')).body).toEqual([
    { id: 4819, name: 'Acme Skincare' },
    { id: 5207, name: 'Acme Home' },
  ]);
  expect((await sandbox.request('GET', '/v1/account/search_dealflows')).body).toContainEqual({
    id: 'D_FSSI4P',
    name: 'Ambassadors',
    brand_id: 4819,
  });
});

test('the sandbox completes a handle or a name', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/v1/crm/create_deal', {
    body: { ...DEAL, first_name: 'Zelda', last_name: 'Quist' },
  });
  const find = async (q: string) => (await sandbox.request('GET', `/v1/crm/autocomplete?q=${q}`)).body;
  expect(await find('@MIRA')).toEqual([
    expect.objectContaining({ deal_id: 'ETUNQ6ZTW1', influencer_handle: 'mira.glow.test' }),
  ]);
  expect(await find('zelda%20q')).toEqual([expect.objectContaining({ influencer_handle: 'new.one.test' })]);
  expect(await find('nobody')).toEqual([]);
});

test('the sandbox creates a deal that can be read, found and credited', async () => {
  const sandbox = await startTestSandbox();
  const { status, body } = await sandbox.request('POST', '/v1/crm/create_deal', {
    body: { ...DEAL, code: 'NEW10', code_perc: 10, funnel_step: 2, total_referrals: 3, region: 'Somewhere' },
  });
  expect([status, body]).toEqual([
    200,
    {
      deal_id: expect.stringMatching(/^[A-Z][A-Z0-9]{9}$/),
      deal_page_url: `${sandbox.url}/deal/${body.deal_id}`,
      message: expect.any(String),
    },
  ]);
  await sandbox.refer({ deal_id: body.deal_page_url });
  const details = await sandbox.request(
    'GET',
    `/v1/crm/get_deal_details?deal_id=${body.deal_id}&return_collabs=true`,
  );
  expect(details.body.deal_info).toMatchObject({
    id: body.deal_id,
    influencer_handle: 'new.one.test',
    brand_id: 4819,
    is_active: true,
    funnel_step: 2,
    region: 'Somewhere',
    total_referrals: 4,
    collabs: [{ code: 'NEW10', code_perc: 10, referrals: 1, sales: { EUR: '12.5' } }],
  });
});

test.each<[string, Record<string, unknown>, number, RegExp]>([
  ['no handle', { influencer_handle: undefined }, 400, /influencer_handle/],
  ['no platform', { platform: undefined }, 400, /platform/],
  ['no brand', { brand_id: undefined }, 400, /brand_id/],
  ['no dealflow', { dealflow_id: undefined }, 400, /dealflow_id/],
  ['a brand as text', { brand_id: '4819' }, 400, /brand_id/],
  ['a percentage above 100', { code_perc: 101 }, 400, /code_perc/],
  ['a percentage below 0', { code_perc: -1 }, 400, /code_perc/],
  ['a country of three letters', { country_code: 'NLD' }, 400, /country_code/],
  ['an unknown brand', { brand_id: 1 }, 404, /Brand not found/],
  ['an unknown dealflow', { dealflow_id: 'D_NONE' }, 404, /Dealflow not found/],
  ['a dealflow of another brand', { dealflow_id: 'D_K2WQ7N' }, 400, /dealflow_id/],
])('the sandbox rejects a new deal with %s', async (_case, change, status, message) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', '/v1/crm/create_deal', { body: { ...DEAL, ...change } });
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});

test('the sandbox reads a deal by id, by page address and by handle', async () => {
  const sandbox = await startTestSandbox();
  const address = encodeURIComponent('https://app.example.com/deal/ETUNQ6ZTW1?tab=notes');
  for (const query of ['deal_id=ETUNQ6ZTW1', `deal_id=${address}`, 'influencer_handle=@Mira.Glow.test']) {
    const { body } = await sandbox.request('GET', `/v1/crm/get_deal_details?${query}`);
    expect(body.deal_info).toMatchObject({ id: 'ETUNQ6ZTW1', brand_id: 4819, is_active: true });
    expect(body.deal_info).not.toHaveProperty('collabs');
  }
});

test.each([
  ['', 400, /deal_id/],
  ['deal_id=&influencer_handle=', 400, /deal_id/],
  ['deal_id=NONE', 404, /Deal not found/],
  ['influencer_handle=nobody', 404, /Deal not found/],
])('the sandbox rejects the deal query "%s"', async (query, status, message) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('GET', `/v1/crm/get_deal_details?${query}`);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});

test('the sandbox answers 404 to unknown paths and 405 to wrong methods, each with a message', async () => {
  const sandbox = await startTestSandbox();
  for (const path of ['/v1', '/v1/crm/nothing', '/v2/account/hello', '/v1/account/hello/']) {
    const answer = await sandbox.request('GET', path, { key: null });
    expect([answer.status, answer.body.message]).toEqual([404, expect.any(String)]);
  }
  const answer = await sandbox.request('GET', '/v1/crm/create_deal');
  expect([answer.status, answer.headers.get('allow'), answer.body.message]).toEqual([
    405,
    'POST',
    expect.any(String),
  ]);
});

test.each<[string, unknown, string, number]>([
  ['is no JSON', '{"deal_id":', 'application/json', 400],
  ['is empty', '', 'application/json', 400],
  ['is an array', [], 'application/json', 400],
  ['is null', 'null', 'application/json', 400],
  ['has another type', 'a=b', 'text/plain', 415],
  ['is larger than 1 MiB', { order_notes: 'x'.repeat(1024 * 1024) }, 'application/json', 413],
])('the sandbox rejects a body that %s', async (_case, body, type, status) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', '/v1/crm/new_influencer_referral', { body, type });
  expect([answer.status, answer.body.message]).toEqual([status, expect.any(String)]);
});

test('the sandbox generates the same ids, key and account for the same seed, and others for another seed', async () => {
  const read = async (seed: string) => {
    const sandbox = await startTestSandbox({ seed });
    const hello = await sandbox.request('GET', '/v1/account/hello');
    const deal = await sandbox.request('POST', '/v1/crm/create_deal', { body: DEAL });
    return [sandbox.key, hello.body.message, deal.body.deal_id, (await sandbox.refer()).body.collab_id];
  };
  const [one, again, other] = [await read('a'), await read('a'), await read('b')];
  expect(again).toEqual(one);
  for (const [index, value] of one.entries()) expect(value).not.toBe(other[index]);
});

/** An address of this machine that is not loopback, if it has one. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

test.skipIf(outside === undefined)(
  'the sandbox restricts its control routes to this machine unless they are opened',
  async () => {
    for (const openControl of [false, true]) {
      const sandbox = await startTestSandbox({ host: '0.0.0.0', openControl });
      const url = sandbox.url.replace('127.0.0.1', outside ?? '');
      expect((await fetch(`${url}/v1/public/hello`)).status).toBe(200);
      for (const path of ['health', 'log/referrals', 'faults']) {
        expect((await fetch(`${url}/_sandbox/${path}`)).status).toBe(openControl ? 200 : 403);
        expect((await fetch(`${sandbox.url}/_sandbox/${path}`)).status).toBe(200);
      }
    }
  },
);
