import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestSandbox } from './start-test-sandbox.ts';

function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'sandbox-log-')), 'referrals.ndjson');
}

test('the request log records every request and its result, but no key, query or body', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.refer({ order_notes: 'planted-note' });
  await sandbox.request('GET', '/v1/account/hello', { key: 'planted-key' });
  await sandbox.request('GET', '/v1/crm/autocomplete?q=planted@example.com');
  await sandbox.request('PUT', '/v1/no"thing?planted=1');
  await sandbox.refer({ order_id: 5 });
  await sandbox.request('POST', '/v1/crm/create_deal', { body: 'x', type: 'text/plain' });
  const lines = await sandbox.log('requests');
  expect(
    lines.map(({ sequence, operation, method, status, processed }) => [
      sequence,
      operation,
      method,
      status,
      processed,
    ]),
  ).toEqual([
    [1, 'new_influencer_referral', 'POST', 200, true],
    [2, 'account_hello', 'GET', 401, false],
    [3, 'autocomplete', 'GET', 200, true],
    [4, null, 'PUT', 404, false],
    [5, 'new_influencer_referral', 'POST', 400, false],
    [6, null, 'POST', 415, false],
  ]);
  expect(JSON.stringify(lines)).not.toContain('planted');
});

test('the request log keeps thousands of referrals in the order of their processing', async () => {
  const sandbox = await startTestSandbox();
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => sandbox.refer({ order_id: `${round}-${index}` })),
    );
  }
  const lines = await sandbox.log('referrals');
  expect(lines.map((line) => line.sequence)).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  expect(new Set(lines.map((line) => line.order_id)).size).toBe(2_500);
});

test('the request log writes each referral to its file before it answers', async () => {
  const referralLog = newFile();
  const sandbox = await startTestSandbox({ referralLog });
  await sandbox.refer();
  expect(readFileSync(referralLog, 'utf8')).toContain('"order_id":"1001"');
  await sandbox.refer({ order_id: '1002' });
  expect(readFileSync(referralLog, 'utf8')).toBe(
    (await sandbox.request('GET', '/_sandbox/log/referrals')).text,
  );
});

test('the request log continues the file of a killed sandbox and drops a truncated line', async () => {
  const referralLog = newFile();
  const first = await startTestSandbox({ referralLog, duplicates: '409' });
  await first.refer();
  await first.close();
  appendFileSync(referralLog, '{"sequence":2,"order_');
  const second = await startTestSandbox({ referralLog, duplicates: '409' });
  expect((await second.refer()).status).toBe(409);
  expect((await second.refer({ order_id: '1002' })).status).toBe(200);
  expect((await second.log('referrals')).map((line) => [line.sequence, line.order_id])).toEqual([
    [1, '1001'],
    [2, '1002'],
  ]);
  const details = await second.request('GET', '/v1/crm/get_deal_details?deal_id=ETUNQ6ZTW1');
  expect(details.body.deal_info).toMatchObject({ total_referrals: 2 });
});

test('the sandbox rejects a referral log that contains something else', async () => {
  const referralLog = newFile();
  appendFileSync(referralLog, 'hello\n');
  await expect(startTestSandbox({ referralLog })).rejects.toMatchObject({
    details: { code: 'sandbox_log_unusable' },
  });
  expect(readFileSync(referralLog, 'utf8')).toBe('hello\n');
});
