import { expect, test } from 'vitest';
import { startTestSandbox } from './start-test-sandbox.ts';

const SEARCH = { platform: 'tiktok', filter: { folowers: { left_number: '1' }, lang: { cod: 'en' } } };

test('the sandbox names ignored members and likely spellings in a header, a warning and the request log', async () => {
  const warnings: string[] = [];
  const sandbox = await startTestSandbox({ onWarning: (line) => warnings.push(line) });
  const body = { platform: 'tiktok', filter: { folowers: { left_number: '1' } }, 'a@b.example': 1 };
  const answer = await sandbox.request('POST', '/v1/search/get_search?page=2', { body });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-sandbox-warning')).toBe(
    'not in the contract, ignored: page, filter.folowers (did you mean followers?), ...',
  );
  await sandbox.request('POST', '/v1/search/get_search?page=2', { body });
  expect(warnings).toEqual([`get_search: ${answer.headers.get('x-sandbox-warning')}`]);
  expect((await sandbox.log('requests'))[0]?.unknown_members).toEqual(['page', 'filter.folowers', '…']);
});

test('the sandbox reports no members that the contract names, and none where it allows any', async () => {
  const sandbox = await startTestSandbox();
  const answers = [
    await sandbox.refer({ timestamp: 1_700_000_000, order_name: '#1' }),
    await sandbox.request('GET', '/v1/account/search_brands?anything=1'),
    await sandbox.request('POST', '/v1/crm/update_deal_info', {
      body: { deal_id: 'ETUNQ6ZTW1', new_deal_info: { shoe_size: 40 } },
    }),
  ];
  expect(answers.map(({ status, headers }) => [status, headers.get('x-sandbox-warning')])).toEqual([
    [200, null],
    [200, null],
    [200, null],
  ]);
});

test('the sandbox rejects unknown members in strict mode and charges nothing', async () => {
  const sandbox = await startTestSandbox({ strict: true });
  const answer = await sandbox.request('POST', '/v1/search/get_search', { body: SEARCH });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    'Not in the contract: filter.folowers (did you mean followers?), filter.lang.cod (did you mean code?).',
  ]);
  expect((await sandbox.request('GET', '/_sandbox/credits')).body.search).toBe(1200);
  expect((await sandbox.refer()).status).toBe(200);
});

test('the sandbox rejects a body and a query that are not UTF-8', async () => {
  const sandbox = await startTestSandbox();
  const answer = await fetch(`${sandbox.url}/v1/crm/create_note`, {
    method: 'POST',
    headers: { 'x-api-key': sandbox.key, 'content-type': 'application/json' },
    body: Buffer.from('{"deal_id":"ETUNQ6ZTW1","note_description":"caf\xe9"}', 'latin1'),
  });
  expect([answer.status, await answer.json()]).toEqual([400, { message: 'The body must be UTF-8 text.' }]);
  const query = await sandbox.request('GET', '/v1/search/locations?q=%E9');
  expect([query.status, query.body.message]).toEqual([400, 'The query must be UTF-8 text, percent-encoded.']);
});

test.each(['N1', 'é1', 'NLD', 'N'])(
  'the sandbox rejects %s as the country code of a deal',
  async (country_code) => {
    const sandbox = await startTestSandbox();
    const answer = await sandbox.request('POST', '/v1/crm/create_deal', {
      body: {
        influencer_handle: 'x',
        platform: 'tiktok',
        brand_id: 4819,
        dealflow_id: 'D_FSSI4P',
        country_code,
      },
    });
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'country_code: must be two letters, such as NL',
    ]);
  },
);
