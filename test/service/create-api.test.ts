import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { operationNames, operationOf } from '../../src/service/contract.ts';
import { ApiError, camelCase, createApi, readListing } from '../../src/service/create-api.ts';
import { exampleOf } from '../../src/service/reference/examples.ts';
import { apiTypeSource } from '../../tools/documents/api-type-source.ts';

/** Starts a sandbox as an external test would and creates the API functions for it. */
async function openSandbox() {
  const sandbox = await startSandbox({ port: 0 });
  const api = createApi({ url: sandbox.url, key: sandbox.key });
  onTestFinished(async () => {
    await api.close();
    await sandbox.close();
  });
  return api;
}

/** Starts a service that gives the same answer to every request. */
async function openTalker(status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api = createApi({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: 'planted-key-1',
  });
  onTestFinished(async () => {
    await api.close();
    server.close();
  });
  return api;
}

describe('the functions of the API', () => {
  it.each(operationNames)(
    '%s is a function of its group and returns an answer that matches the contract',
    async (name) => {
      const api = await openSandbox();
      const { group, response } = operationOf(name);
      const calls = api[camelCase(group) as 'search'] as unknown as Record<
        string,
        (input?: unknown) => Promise<unknown>
      >;
      const { query, body } = exampleOf(name);
      // A webhook must exist before it can be deleted.
      if (name === 'delete_webhook') await api.webhooks.createWebhook(exampleOf(name).body as never);
      const answer = await calls[camelCase(name)]?.(body ?? query ?? undefined);
      expect(response.safeParse(answer).error?.issues ?? []).toEqual([]);
    },
  );

  it('have types for their input and their result', async () => {
    const api = await openSandbox();
    const { deal_id: dealId } = await api.import.createDeal({
      influencer_handle: 'typed.maker.test',
      platform: 'tiktok',
      brand_id: 4819,
      dealflow_id: 'D_FSSI4P',
    });
    const { new_clicks_value: clicks } = await api.affiliateTracking.newInfluencerClick({
      deal_id: dealId,
      increase_clicks: 3,
    });
    expect(clicks.toFixed(0)).toBe('3');
    const { shown_accounts: shown } = await api.search.getSearch({ platform: 'tiktok', filter: {} });
    expect(shown.map((id) => id.length).length).toBe(10);
    expect(readListing(await api.accountSearch.searchBrands())).toHaveLength(2);
    const stopped = api.accountSearch.searchBrands({}, { signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ fate: 'not_sent', text: 'the caller aborted it' });
    // @ts-expect-error -- this platform does not exist
    const wrong = api.search.getSearch({ platform: 'myspace', filter: {} });
    await expect(wrong).rejects.toMatchObject({
      fate: 'not_sent',
      text: expect.stringContaining('platform'),
    });
    // @ts-expect-error -- the text of the note is missing
    await expect(api.influencerPage.createNote({ deal_id: dealId })).rejects.toThrow(ApiError);
    // @ts-expect-error -- a required query is missing
    await expect(api.search.locations()).rejects.toThrow(ApiError);
  });

  it.each(operationNames)('the type of the package says of %s what the contract says of it', (name) => {
    const [, group = ''] = apiTypeSource().split(`  readonly ${camelCase(operationOf(name).group)}: {\n`);
    const [members = ''] = group.split('\n  };\n');
    const [said = ''] = members.split(`    readonly ${camelCase(name)}: Call<'${name}'>;`);
    expect(said).not.toBe(members);
    expect(
      said
        .split('/**')
        .at(-1)
        ?.replace(/\s+\*\s+/g, ' '),
    ).toContain(operationOf(name).description);
  });
});

describe('an API error', () => {
  const order = { deal_id: 'D1', order_id: '1', order_revenue: 1 };

  it.each([
    ['message', '{"message":"Brand not found for jane@example.com"}'],
    ['error', '{"error":"Brand not found for jane@example.com"}'],
    ['error_message', '{"error_message":"Brand not found for jane@example.com"}'],
    ['errors', '{"errors":["Brand not found for jane@example.com"]}'],
    ['no JSON', 'Brand not found for jane@example.com'],
  ])('has one type with status, text, operation and advice: the form of %s', async (_form, text) => {
    const api = await openTalker(404, text);
    const error = await api.affiliateTracking.newInfluencerReferral(order).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      operation: 'new_influencer_referral',
      status: 404,
      text: 'Brand not found for [address]',
      fate: 'not_processed',
      safe: expect.stringContaining('Change the request'),
    });
  });

  it.each([
    [401, 'not_processed', 'Check the API key'],
    [409, 'in_doubt', 'Do not send it again'],
    [422, 'not_processed', 'Change the request'],
    [500, 'in_doubt', 'Do not send it again'],
    [302, 'in_doubt', 'redirects to another address'],
    [200, 'in_doubt', 'Do not send it again'],
  ])('reports after HTTP %i for an order that its fate is %s', async (status, fate, safe) => {
    const api = await openTalker(status, '{"key":"planted-key-1"}');
    await expect(api.affiliateTracking.newInfluencerReferral(order)).rejects.toMatchObject({
      status,
      fate,
      safe: expect.stringContaining(safe),
      message: expect.not.stringContaining('planted'),
    });
  });

  it('reports how long to wait, and that a repeatable request may be repeated', async () => {
    const busy = await openTalker(429, '{"message":"slow down"}', { 'retry-after': '7' });
    await expect(busy.accountSearch.searchBrands()).rejects.toMatchObject({
      retryAfterMs: 7_000,
      fate: 'not_processed',
    });
    const failing = await openTalker(503, 'away');
    await expect(failing.accountSearch.searchBrands()).rejects.toMatchObject({
      safe: 'You can repeat it without harm.',
      retryAfterMs: null,
    });
  });

  it('reports that nothing was sent if no server listens', async () => {
    const api = createApi({ url: 'http://127.0.0.1:1', key: 'k' });
    await expect(api.accountSearch.searchBrands()).rejects.toMatchObject({ status: null, fate: 'not_sent' });
    await api.close();
  });
});
