import { describe, expect, it } from 'vitest';
import { hasNeighbour, isAllowedToWrite, tested, useService } from './service.ts';

/** Section Authentication of the specification: a key belongs to one account. */
const service = useService();

/**
 * Returns everything that the read operations show the other account. It does its own search first, so that
 * it has nothing more to pay for.
 */
async function lookAsNeighbour(): Promise<unknown> {
  const key = service.neighbourKey() ?? '';
  const deal = await service.call('get_deal_details', {
    query: { ...service.example('get_deal_details').query, return_collabs: true },
    key,
  });
  const search = isAllowedToWrite
    ? await service.call('get_search', { ...service.example('get_search'), key })
    : null;
  const names = [
    'search_brands',
    'search_dealflows',
    'get_webhooks',
    'autocomplete',
    'account_hello',
  ] as const;
  const lists = await Promise.all(names.map((name) => service.call(name, { key })));
  const credits = search?.body as { readonly search_credits_left?: number } | null;
  return [deal.text, credits?.search_credits_left, ...lists.map(({ text }) => text)];
}

describe.runIf(hasNeighbour)('two accounts', () => {
  it('are distinguished by their API keys', async () => {
    const [one, other] = await Promise.all([
      service.call('account_hello'),
      service.call('account_hello', { key: service.neighbourKey() }),
    ]);
    expect(one.status).toBe(200);
    expect(other.status).toBe(200);
    expect(other.text).not.toBe(one.text);
  });

  it("never see each other's changes, whichever operation makes them", async () => {
    await lookAsNeighbour();
    const before = await lookAsNeighbour();
    for (const name of tested) {
      const answer = await service.call(name, service.example(name));
      expect(answer.status, answer.text).toBe(200);
      expect(await lookAsNeighbour(), name).toEqual(before);
    }
  });

  it.runIf(isAllowedToWrite)("cannot find each other's deals by ID or by handle", async () => {
    const influencer_handle = 'of.one.account.test';
    const { body } = service.example('create_deal');
    const made = await service.call('create_deal', { body: { ...body, influencer_handle } });
    const { deal_id } = made.body as { readonly deal_id: string };
    for (const query of [{ deal_id }, { influencer_handle }]) {
      const key = service.neighbourKey();
      expect((await service.call('get_deal_details', { query })).status).toBe(200);
      expect((await service.call('get_deal_details', { query, key })).status).toBe(404);
    }
  });
});
