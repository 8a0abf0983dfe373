import { expect, test } from 'vitest';
import { createRateLimit } from '../../src/sandbox/rate-limit.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

test('a rate limit allows a number of requests per minute and returns the time until the next one', () => {
  let now = 1_000;
  const limit = createRateLimit(3, () => now);
  expect([limit.take(), limit.take(), limit.take()]).toEqual([0, 0, 0]);
  now += 10_500;
  expect(limit.take()).toBe(50);
  now += 49_499;
  expect(limit.take()).toBe(1);
  now += 1;
  expect(limit.take()).toBe(0);
});

test('the sandbox answers 429 with Retry-After above the plan and processes nothing', async () => {
  const sandbox = await startTestSandbox({ plan: 'standard' });
  for (let index = 0; index < 240; index += 1) {
    if ((await sandbox.refer({ order_id: String(index) })).status !== 200) throw new Error(`at ${index}`);
  }
  const refused = await sandbox.refer({ order_id: 'over' });
  expect([refused.status, refused.body.message]).toEqual([429, expect.any(String)]);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(await sandbox.log('referrals')).toHaveLength(240);
  // A request without an account has no limit.
  expect((await sandbox.request('GET', '/v1/public/hello', { key: null })).status).toBe(200);
});
