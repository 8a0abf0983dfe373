import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEMO_ACCOUNT } from '../../src/sandbox/account/read-accounts.ts';
import { runHere } from '../support/run-here.ts';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

const NORTH = 'id: NORTH\n    keys: [north-1, north-2]\n    webhook_secret: north-secret';
const SOUTH = 'id: SOUTH\n    keys: [south-1]\n    webhook_secret: south-secret';

/** Writes a data file that contains the built-in account once for each of the given heads. */
function writeAccounts(...heads: readonly string[]): string {
  const demo = readFileSync(DEMO_ACCOUNT, 'utf8').replace(/^(?=.)/gm, '    ');
  const file = join(mkdtempSync(join(tmpdir(), 'sandbox-accounts-')), 'accounts.yaml');
  writeFileSync(file, ['accounts:', ...heads.map((head) => `  - ${head}\n${demo}`)].join('\n'));
  return file;
}

/** Returns functions that send requests with one account's key. */
function as(sandbox: TestSandbox, key: string) {
  return {
    post: (path: string, body: unknown) => sandbox.request('POST', `/v1/${path}`, { body, key }),
    get: (path: string) => sandbox.request('GET', `/v1/${path}`, { key }),
  };
}

test('each key identifies a user of one account, and an unknown key is rejected', async () => {
  const sandbox = await startTestSandbox({ data: writeAccounts(NORTH, SOUTH), key: 'north-0' });
  expect(sandbox.accounts.map(({ id, keys }) => [id, keys])).toEqual([
    ['NORTH', ['north-0', 'north-1', 'north-2']],
    ['SOUTH', ['south-1']],
  ]);
  const hello = async (key: string) =>
    String((await as(sandbox, key).get('account/hello')).body.message)
      .split(' - ')
      .slice(1);
  const users = await Promise.all(['north-0', 'north-1', 'north-2', 'south-1'].map(hello));
  expect(users.map(([account]) => account)).toEqual(['NORTH', 'NORTH', 'NORTH', 'SOUTH']);
  expect(new Set(users.map(([, user]) => user)).size).toBe(4);
  expect((await as(sandbox, 'north').get('account/hello')).status).toBe(401);
});

test('the keys of an account share its deals and credits, and other accounts have their own', async () => {
  const sandbox = await startTestSandbox({ data: writeAccounts(NORTH, SOUTH) });
  const [north, colleague, south] = ['north-1', 'north-2', 'south-1'].map((key) => as(sandbox, key));
  const search = { platform: 'tiktok', filter: {} };
  const first = await north?.post('search/get_search', search);
  expect([first?.body.cost, (await colleague?.post('search/get_search', search))?.body.cost]).toEqual([
    '10',
    '0',
  ]);
  expect((await south?.post('search/get_search', search))?.body.cost).toBe('10');
  const created = await north?.post('crm/create_deal', {
    influencer_handle: 'only.north.test',
    platform: 'tiktok',
    brand_id: 4819,
    dealflow_id: 'D_FSSI4P',
  });
  const path = `crm/get_deal_details?deal_id=${String(created?.body.deal_id)}`;
  expect([(await colleague?.get(path))?.status, (await south?.get(path))?.status]).toEqual([200, 404]);
  expect((await south?.get('crm/autocomplete?q=only.north'))?.text).toBe('[]');
});

test('an event is sent only to the webhooks of its account, signed with the secret of the account', async () => {
  const sandbox = await startTestSandbox({ data: writeAccounts(NORTH, SOUTH), allowPrivateWebhooks: true });
  const receiver = await startReceiver();
  for (const who of ['north', 'south'])
    await as(sandbox, `${who}-1`).post('account/create_webhook', {
      webhook_url: `${receiver.url}/${who}`,
      webhook_type: 'new_influencer_order',
    });
  const order = { deal_id: 'ETUNQ6ZTW1', order_id: '7', order_revenue: 10 };
  expect((await as(sandbox, 'south-1').post('crm/new_influencer_referral', order)).status).toBe(200);
  expect((await as(sandbox, 'north-2').post('crm/new_influencer_referral', order)).status).toBe(200);
  await waitFor(() => receiver.events.length === 2);
  for (const { path, headers, raw } of receiver.events) {
    const secret = path === '/north' ? 'north-secret' : 'south-secret';
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(raw).digest('hex'));
  }
  expect(receiver.events.map(({ path }) => path).sort()).toEqual(['/north', '/south']);
});

test('the control routes show one account or all, and require an account where they need one', async () => {
  const sandbox = await startTestSandbox({ data: writeAccounts(NORTH, SOUTH), identifyDelayMs: 0 });
  const look = (path: string) => sandbox.request('GET', `/_sandbox/${path}`, { key: null });
  for (const key of ['north-1', 'south-1', 'south-1']) {
    const { post } = as(sandbox, key);
    // Naming another account in the body does not switch to that account.
    await post('crm/new_influencer_referral', {
      deal_id: 'ETUNQ6ZTW1',
      order_id: '7',
      order_revenue: 10,
      account_id: 'NORTH',
    });
    await post('search/identify_influencers', { influencer_list: [`${key}@example.com`] });
  }
  const lines = ({ text }: { readonly text: string }) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { account_id: string }).account_id);
  expect(lines(await look('log/referrals'))).toEqual(['NORTH', 'SOUTH', 'SOUTH']);
  expect(lines(await look('log/referrals?account=NORTH'))).toEqual(['NORTH']);
  expect(lines(await look('log/requests?account=SOUTH'))).toHaveLength(4);
  const owners = (rows: { readonly text: string }) =>
    (JSON.parse(rows.text) as { account_id: string }[]).map(({ account_id }) => account_id);
  expect(owners(await look('customers'))).toEqual(['NORTH', 'SOUTH']);
  expect(owners(await look('customers?account=SOUTH'))).toEqual(['SOUTH']);
  expect(owners(await look('accounts'))).toEqual(['NORTH', 'SOUTH']);
  expect(await look('credits')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('NORTH, SOUTH') },
  });
  expect(await look('customers?account=EAST')).toMatchObject({ status: 404 });
  await sandbox.request('POST', '/_sandbox/credits?account=SOUTH', { body: { search: 3 }, key: null });
  expect((await look('credits?account=SOUTH')).body.search).toBe(3);
  expect((await look('credits?account=NORTH')).body.search).toBe(1_200);
  expect((await look('deals/ETUNQ6ZTW1')).status).toBe(400);
  expect((await look('deals/ETUNQ6ZTW1?account=NORTH')).status).toBe(200);
  const event = [
    ...['sandbox', 'trigger', 'new_influencer_order', '--url', sandbox.url],
    ...['--account', 'NORTH', '--set', 'order_id=8'],
  ];
  expect(await runHere([...event, '--dry-run'])).toMatchObject({ exitCode: 0 });
  expect(lines(await look('log/referrals?account=NORTH'))).toHaveLength(1);
  const triggered = await runHere(event);
  expect(triggered, triggered.stderr).toMatchObject({ exitCode: 0 });
  expect(lines(await look('log/referrals?account=NORTH'))).toHaveLength(2);
});

test('a plan limits each account separately, across all of its keys', async () => {
  const sandbox = await startTestSandbox({ data: writeAccounts(NORTH, SOUTH), plan: 'standard' });
  for (let index = 0; index < 240; index += 1)
    await as(sandbox, `north-${1 + (index % 2)}`).get('account/hello');
  const statuses = await Promise.all(
    ['north-1', 'north-2', 'south-1'].map(
      async (key) => (await as(sandbox, key).get('account/hello')).status,
    ),
  );
  expect(statuses).toEqual([429, 429, 200]);
});

test.each([
  ['database', (folder: string) => ({ db: join(folder, 'sandbox.db') })],
  ['referral log', (folder: string) => ({ referralLog: join(folder, 'referrals.ndjson') })],
])(
  'each account keeps its state after a restart on its %s, even if the order of the accounts changes',
  async (_what, place) => {
    const where = place(mkdtempSync(join(tmpdir(), 'sandbox-accounts-')));
    const first = await startTestSandbox({ ...where, data: writeAccounts(NORTH, SOUTH) });
    const order = { deal_id: 'ETUNQ6ZTW1', order_revenue: 10 };
    for (const [index, key] of ['north-1', 'south-1', 'south-1'].entries())
      await as(first, key).post('crm/new_influencer_referral', { ...order, order_id: `${index}` });
    await as(first, 'south-1').post('crm/create_note', { deal_id: 'ETUNQ6ZTW1', note_description: 'south' });
    await first.close();
    const again = await startTestSandbox({ ...where, data: writeAccounts(SOUTH, NORTH) });
    onTestFinished(() => again.close());
    const referrals = async (key: string) => {
      const { body } = await as(again, key).get('crm/get_deal_details?deal_id=ETUNQ6ZTW1');
      return (body.deal_info as { total_referrals: number }).total_referrals;
    };
    expect([await referrals('north-1'), await referrals('south-1')]).toEqual([1, 2]);
    const { body } = await again.request('GET', '/_sandbox/deals/ETUNQ6ZTW1?account=NORTH', { key: null });
    expect(body.notes).toEqual([]);
  },
);

test('a single account keeps its state when other accounts are added', async () => {
  const db = join(mkdtempSync(join(tmpdir(), 'sandbox-accounts-')), 'sandbox.db');
  const alone = await startTestSandbox({ db });
  await alone.refer();
  await alone.close();
  const joined = await startTestSandbox({ db, data: writeAccounts('keys: []', SOUTH) });
  expect(joined.accounts[0]).toEqual(alone.accounts[0]);
  const { body } = await joined.request('GET', '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1');
  expect(body.deal_info).toMatchObject({ total_referrals: 1 });
});
