import { expect, test } from 'vitest';
import { createPopulation } from '../../src/sandbox/search/population.ts';
import { waitFor } from '../support/wait-for.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

const population = createPopulation('1');
const known = population.of('tiktok').find(({ email }) => email !== null);
const strangers = Array.from({ length: 1_000 }, (_, index) => `customer${index}@example.com`);

test('the sandbox queues customers, and lists the result under "Your customers" after the delay', async () => {
  const sandbox = await startTestSandbox({ identifyDelayMs: 2_000 });
  const list = async () =>
    JSON.parse((await sandbox.request('GET', '/_sandbox/customers', { key: null })).text) as Record<
      string,
      unknown
    >[];
  const influencer_list = [known?.email?.toUpperCase(), 'no address', ...strangers];
  const answer = await sandbox.request('POST', '/v1/search/identify_influencers', {
    body: { influencer_list, source_type: 'orders' },
  });
  expect(answer.body).toEqual({ message: expect.stringContaining('queued'), success: true });
  const [queued] = await list();
  expect(queued).toMatchObject({ status: 'queued', brand_id: 4819, source_type: 'orders' });
  expect(queued).not.toHaveProperty('is_influencer');
  await waitFor(async () => (await list()).every(({ status }) => status === 'done'));
  const rows = await list();
  expect(rows[0]).toMatchObject({ is_influencer: true, type: 'tiktok', username: known?.handle });
  expect(rows[1]).toMatchObject({ is_influencer: false });
  const found = rows.filter(({ is_influencer }) => is_influencer === true).length;
  expect(found).toBeGreaterThan(60);
  expect(found).toBeLessThan(150);
});

test('the sandbox lists a customer once per brand, regardless of how often it is sent', async () => {
  const sandbox = await startTestSandbox();
  for (const brand_id of [4819, 5207, 4819]) {
    await sandbox.request('POST', '/v1/search/identify_influencers', {
      body: { influencer_list: ['a@example.com', ' A@example.com'], brand_id },
    });
  }
  const { text } = await sandbox.request('GET', '/_sandbox/customers', { key: null });
  expect(JSON.parse(text)).toMatchObject([
    { email: 'a@example.com', brand_id: 4819 },
    { email: 'a@example.com', brand_id: 5207 },
  ]);
});

test('the sandbox returns the same result immediately in the real-time lookup', async () => {
  const sandbox = await startTestSandbox();
  const look = (query: string) =>
    sandbox.request('GET', `/v1/search/identify_influencers_real_time?${query}`);
  const found = await look(`brand_id=4819&influencer_email=${encodeURIComponent(known?.email ?? '')}`);
  expect(found.body).toEqual({
    is_influencer: true,
    type: 'tiktok',
    user_id: known?.userId,
    url: expect.stringContaining(known?.handle ?? ''),
    username: known?.handle,
    fullname: known?.fullName,
    picture: expect.stringMatching(/^https:/),
    followers: known?.followers,
    is_verified: known?.isVerified,
  });
  const nobody = strangers.find((email) => population.findByEmail(email) === null);
  expect((await look(`influencer_email=${nobody}`)).body).toEqual({ is_influencer: false });
  expect((await look('brand_id=4819')).status).toBe(400);
  expect((await look('influencer_email=a@example.com&brand_id=1')).status).toBe(404);
  expect((await look('influencer_email=a@example.com&brand_id=x')).status).toBe(400);
});

test('the sandbox adds influencers to a campaign once for 0.04 credits each, and counts the duplicates', async () => {
  const sandbox = await startTestSandbox();
  const submit = (influencer_ids: readonly unknown[], outreach_id = 'O_GIFTING') =>
    sandbox.request('POST', '/v1/search/submit_influencers', {
      body: { outreach_id, influencer_ids, platform: 'instagram' },
    });
  const ids = population
    .of('instagram')
    .slice(0, 7)
    .map(({ userId }) => userId);
  expect((await submit([...ids, ids[0]])).body).toMatchObject({
    total_added: 7,
    duplicates_ignored: 1,
    success: true,
    status: 200,
  });
  expect((await submit(ids, 'O_SPRING1')).body).toMatchObject({ total_added: 0, duplicates_ignored: 7 });
  const credits = await sandbox.request('GET', '/_sandbox/credits', { key: null });
  expect(credits.body.search).toBe(1199.72);
  const [elsewhere] = population.of('youtube');
  expect((await submit([elsewhere?.userId])).status).toBe(404);
  expect((await submit(ids, 'NONE')).status).toBe(404);
  expect((await submit([1])).status).toBe(400);
});

test('the sandbox adds no influencer without sufficient credits, and none who already has a deal', async () => {
  const sandbox = await startTestSandbox();
  const [first, second] = population.of('instagram');
  const submit = () =>
    sandbox.request('POST', '/v1/search/submit_influencers', {
      body: {
        outreach_id: 'O_GIFTING',
        influencer_ids: [first?.userId, second?.userId],
        platform: 'instagram',
      },
    });
  await sandbox.request('POST', '/v1/crm/create_deal', {
    body: {
      influencer_handle: `@${first?.handle}`,
      platform: 'instagram',
      brand_id: 4819,
      dealflow_id: 'D_FSSI4P',
    },
  });
  await sandbox.request('POST', '/_sandbox/credits', { body: { search: 0.03 }, key: null });
  expect((await submit()).status).toBe(402);
  await sandbox.request('POST', '/_sandbox/credits', { body: { search: 0.04 }, key: null });
  expect((await submit()).body).toMatchObject({ total_added: 1, duplicates_ignored: 1 });
  const { text } = await sandbox.request('GET', '/_sandbox/outreach', { key: null });
  expect(JSON.parse(text)).toMatchObject([{ user_id: second?.userId, outreach_id: 'O_GIFTING' }]);
});
