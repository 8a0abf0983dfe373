import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type FakeServiceOptions, startFakeService } from './fake-service.ts';
import { countCustomers, manyEmails, openCustomers, toCustomers } from './story.ts';

const QUEUED = { status: 200, body: '{"message":"queued"}' };

/** Refuses every batch that contains one of these addresses, and quotes it. */
function refusing(...bad: readonly string[]): FakeServiceOptions {
  return {
    onBatch: (addresses) => {
      const found = addresses.find((address) => bad.includes(address));
      if (found === undefined) return QUEUED;
      const local = found.split('@')[0];
      return { status: 422, body: JSON.stringify({ error: `${found}: mailbox "${local}" is not allowed` }) };
    },
  };
}

/**
 * Returns the maximum number of calls for isolating `bad` addresses in a batch, including the accepted calls.
 */
function callsAtMost(size: number, bad: number): number {
  return 1 + 2 * bad * Math.ceil(Math.log2(size));
}

describe('a batch that the service refuses', () => {
  it.each([
    ['first', [1]],
    ['last', [500]],
    ['one in the middle', [317]],
    ['three of them', [2, 250, 499]],
  ])('is split in halves down to the bad address (%s), in O(log n) calls', async (_where, places) => {
    const emails = manyEmails(500);
    const bad = places.map((place) => emails[place - 1] ?? '');
    const service = await startFakeService(refusing(...bad));
    const shop = await openCustomers({ serviceUrl: service.url, api: 'concurrency: 1' });
    shop.drop('1.csv', toCustomers(emails));
    const { exitCode, finished } = await shop.identify();
    expect(exitCode).toBe(3);
    expect(finished?.counts).toMatchObject({
      customers: 500,
      submitted: 500 - bad.length,
      refused: bad.length,
      waiting: 0,
      refusals: { customers: bad.length },
    });
    expect(service.batches.length).toBeLessThanOrEqual(callsAtMost(500, bad.length));
    const taken = service.batches.filter((batch) => !batch.some((address) => bad.includes(address))).flat();
    expect(taken.sort()).toEqual(emails.filter((email) => !bad.includes(email)).sort());
    const { rows } = await sql<{ state_reason: string }>`
      select state_reason from intake.customer_states where state = 'refused'`.execute(shop.db);
    for (const { state_reason } of rows) {
      expect(state_reason).toContain('is not allowed');
      expect(state_reason).not.toMatch(/c\d+/);
    }
    // The address is not sent again.
    const calls = service.batches.length;
    expect((await shop.identify()).exitCode).toBe(0);
    expect(service.batches).toHaveLength(calls);
  });

  it('is detected in every batch if each has a bad address', async () => {
    const emails = manyEmails(400);
    const bad = emails.filter((_, index) => index % 20 === 7);
    const service = await startFakeService(refusing(...bad));
    const shop = await openCustomers({ serviceUrl: service.url, job: 'batch_size: 20' });
    shop.drop('1.csv', toCustomers(emails));
    const { finished } = await shop.identify();
    expect(finished?.counts).toMatchObject({ submitted: 380, refused: 20, waiting: 0 });
    expect(service.batches.length).toBeLessThanOrEqual(20 * callsAtMost(20, 1));
  });
});

describe('a service that refuses everything', () => {
  it.each([
    ['the brand', 404, '{"message":"Brand not found"}', 1],
    ['the label', 422, '{"message":"source_type is not allowed"}', 400],
  ])('loses no customers: %s', async (_what, status, body, callsAtMost) => {
    let isWell = false;
    const service = await startFakeService({ onBatch: () => (isWell ? QUEUED : { status, body }) });
    const shop = await openCustomers({ serviceUrl: service.url, api: 'concurrency: 2' });
    shop.drop('1.csv', toCustomers(manyEmails(300)));
    const { exitCode, stderr } = await shop.cli('run', 'customers');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('accepted no batch');
    expect(service.batches.length).toBeLessThanOrEqual(callsAtMost + 1);
    expect(await countCustomers(shop.db)).toEqual({ staged: 300 });
    isWell = true;
    expect((await shop.identify()).finished?.counts).toMatchObject({
      submitted: 300,
      waiting: 0,
      refused: 0,
    });
  });

  it('loses no customers even if it accepted batches before', async () => {
    let isWell = true;
    const refused = { status: 400, body: '{"message":"no"}' };
    const service = await startFakeService({ onBatch: () => (isWell ? QUEUED : refused) });
    const shop = await openCustomers({ serviceUrl: service.url, api: 'concurrency: 1' });
    shop.drop('1.csv', toCustomers(manyEmails(3)));
    await shop.identify();
    isWell = false;
    shop.drop('2.csv', toCustomers(manyEmails(200, 'd')));
    expect((await shop.cli('run', 'customers')).exitCode).toBe(2);
    expect(await countCustomers(shop.db)).toEqual({ staged: 200, submitted: 3 });
  });

  it.each([
    ['500 for every batch', { status: 500, body: '{"message":"oops"}' }, 1, 'got no clear answer'],
    ['an error for every batch', { status: 200, body: '{"error":"closed"}' }, 2, 'accepted no batch'],
  ])('is never taken for a yes: %s', async (_what, reply, exitCode, text) => {
    const service = await startFakeService({ onBatch: () => reply });
    const shop = await openCustomers({ serviceUrl: service.url });
    shop.drop('1.csv', toCustomers(manyEmails(4)));
    const refused = await shop.cli('run', 'customers');
    expect(refused.exitCode).toBe(exitCode);
    expect(refused.stdout + refused.stderr).toContain(text);
    service.behave(() => ({ status: 200, body: '{"message":"queued"}' }));
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 4, waiting: 0 });
  });

  it('ends the run with exit 4 if it rejects the API key', async () => {
    const service = await startFakeService({
      onBatch: () => ({ status: 401, body: '{"message":"bad key"}' }),
    });
    const shop = await openCustomers({ serviceUrl: service.url });
    shop.drop('1.csv', toCustomers(manyEmails(3)));
    expect((await shop.identify()).exitCode).toBe(4);
    expect(await countCustomers(shop.db)).toEqual({ staged: 3 });
  });
});

describe('a service with a temporary fault', () => {
  it.each([
    ['an error after it took the batch', { kind: 'error_after', count: 2 }],
    ['a lost answer', { kind: 'reset_after', count: 2 }],
    ['a page of a proxy', { kind: 'html', count: 2 }],
    ['an empty answer', { kind: 'empty', count: 2 }],
    ['a request to slow down', { kind: '429', count: 2, retry_after: 0 }],
  ])('gets the request again: %s', async (_what, fault) => {
    const shop = await openCustomers({ job: 'batch_size: 5' });
    await shop.sandbox.setFaults([{ operation: 'identify_influencers', ...fault }]);
    shop.drop('1.csv', toCustomers(manyEmails(20)));
    const { exitCode, finished } = await shop.identify();
    expect(exitCode).toBe(0);
    expect(finished?.counts).toMatchObject({ submitted: 20, waiting: 0 });
  });
});
