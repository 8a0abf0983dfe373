import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startSandboxProcess } from '../support/sandbox-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { REFERRAL, startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'sandbox-database-')), 'sandbox.db');
}

/** Returns everything that can be seen of a sandbox, except what contains its address. */
async function lookAround(sandbox: TestSandbox): Promise<unknown> {
  const paths = [
    '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1&return_collabs=true',
    '/v1/crm/autocomplete?q=',
    '/v1/account/get_webhooks',
    '/_sandbox/deals/ETUNQ6ZTW1',
    '/_sandbox/customers',
    '/_sandbox/store',
    '/_sandbox/outreach',
    '/_sandbox/credits',
    '/_sandbox/log/referrals',
    '/_sandbox/log/clicks',
  ];
  return Promise.all(paths.map(async (path) => (await sandbox.request('GET', path)).text));
}

async function changeEverything(sandbox: TestSandbox): Promise<void> {
  const post = (path: string, body: unknown) => sandbox.request('POST', `/v1/${path}`, { body });
  const deal = { deal_id: 'ETUNQ6ZTW1' };
  await sandbox.refer();
  await sandbox.refer({ order_id: '1002', order_revenue: 0.1 });
  await post('crm/new_influencer_click', { ...deal, increase_clicks: 7 });
  await post('crm/create_note', { ...deal, note_description: 'n' });
  await post('crm/update_dealstage', { ...deal, new_stage: 3 });
  await post('crm/update_deal_info', { ...deal, new_deal_info: { code: 'NEW', is_active: false } });
  await post('crm/update_post_capture', { ...deal, enabled: true });
  await post('crm/create_deal', {
    influencer_handle: 'new.one.test',
    platform: 'tiktok',
    brand_id: 4819,
    dealflow_id: 'D_FSSI4P',
    code: 'ONE',
  });
  await post('search/get_search', { platform: 'tiktok', filter: {} });
  await post('search/identify_influencers', { influencer_list: ['a@example.com'] });
  await post('account/create_webhook', {
    webhook_url: 'https://hooks.example.com/',
    webhook_type: 'new_max_bid',
  });
}

test('the sandbox keeps its complete state across a restart', async () => {
  const db = newFile();
  const first = await startTestSandbox({ db, identifyDelayMs: 0 });
  await changeEverything(first);
  const before = await lookAround(first);
  await first.close();
  const second = await startTestSandbox({ db, identifyDelayMs: 0 });
  expect(await lookAround(second)).toEqual(before);
  // Influencers that were seen are not paid for again, and an order is still known.
  const again = await second.request('POST', '/v1/search/get_search', {
    body: { platform: 'tiktok', filter: {} },
  });
  expect(again.body.cost).toBe('0');
  await second.refer({ order_id: '1003' });
  expect((await second.log('referrals')).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  await second.close();
  const third = await startTestSandbox({ db, duplicates: '409' });
  expect((await third.refer({ order_id: '1003' })).status).toBe(409);
});

test('the sandbox continues with a file of version 0.2.0', async () => {
  const db = newFile();
  const first = await startTestSandbox({ db });
  await first.refer();
  await first.close();
  const file = new DatabaseSync(db);
  file.exec('ALTER TABLE log_lines RENAME TO truth; PRAGMA user_version = 2;');
  file.close();
  const second = await startTestSandbox({ db });
  expect(await second.log('referrals')).toHaveLength(1);
});

test('the sandbox keeps every acknowledged referral when it is killed', async () => {
  const db = newFile();
  const process1 = await startSandboxProcess(['--db', db]);
  const answered: string[] = [];
  const posting = Promise.all(
    Array.from({ length: 8 }, async (_, gate) => {
      for (let index = 0; ; index += 1) {
        const order_id = `${gate}-${index}`;
        const answer = await fetch(`${process1.url}/v1/crm/new_influencer_referral`, {
          method: 'POST',
          headers: { 'x-api-key': process1.key, 'content-type': 'application/json' },
          body: JSON.stringify({ ...REFERRAL, order_id }),
        }).catch(() => null);
        if (answer?.status !== 200) return;
        answered.push(order_id);
      }
    }),
  );
  await waitFor(() => answered.length > 300);
  process.kill(process1.pid, 'SIGKILL');
  await posting;
  const again = await startTestSandbox({ db });
  const kept = new Set((await again.log('referrals')).map((line) => line.order_id));
  expect(answered.filter((id) => !kept.has(id))).toEqual([]);
  const { body } = await again.request('GET', '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1');
  expect(body.deal_info).toMatchObject({ total_referrals: kept.size });
});

test('the sandbox sends unacknowledged events after a restart', async () => {
  const db = newFile();
  const receiver = await startReceiver();
  receiver.statuses.push(503);
  const first = await startTestSandbox({ db, allowPrivateWebhooks: true, webhookRetryMs: 3_600_000 });
  await first.request('POST', '/v1/account/create_webhook', {
    body: { webhook_url: receiver.url, webhook_type: 'new_influencer_order' },
  });
  await first.refer();
  await waitFor(async () =>
    (await first.request('GET', '/_sandbox/deliveries', { key: null })).text.includes('503'),
  );
  await first.close();
  await startTestSandbox({ db, allowPrivateWebhooks: true });
  await waitFor(() => receiver.events.length === 2);
  expect(receiver.events[1]?.raw).toEqual(receiver.events[0]?.raw);
});

test.each<[string, (db: string) => Promise<Parameters<typeof startTestSandbox>[0]>]>([
  [
    'that holds something else',
    async (db) => {
      writeFileSync(db, 'something else, and long enough to be no header of a database');
      return { db };
    },
  ],
  ['in a folder that is missing', async () => ({ db: '/no/such/folder/x.db' })],
  [
    'of another seed',
    async (db) => {
      await (await startTestSandbox({ db })).close();
      return { db, seed: 'other' };
    },
  ],
  [
    'that another sandbox uses',
    async (db) => {
      await startTestSandbox({ db });
      return { db };
    },
  ],
  ['together with a referral log', async (db) => ({ db, referralLog: `${db}.ndjson` })],
])('the sandbox rejects a database %s', async (_case, prepare) => {
  const options = await prepare(newFile());
  await expect(startTestSandbox(options)).rejects.toMatchObject({
    details: { code: 'sandbox_db_unusable', exitCode: 2 },
  });
});
