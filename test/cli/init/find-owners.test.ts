import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findOwners } from '../../../src/cli/init/find-owners.ts';
import { openClient } from '../../../src/cli/open/open-service.ts';

/** Deals of an account: id, handle and codes. */
const DEALS: readonly (readonly [string, string, readonly string[]])[] = [
  ['D1', 'lotte.bakes', ['LOTTE10']],
  ['D2', 'lottery.fan', []],
  ['D3', 'bram', ['BRAM5']],
  ['D4', 'bramble', ['bram5']],
  ['D5', 'Nora', ['NORA20']],
  ['D6', '@nora', ['nora20']],
];

async function openAccount({ isBroken = false } = {}) {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const [id, handle = '', codes = []] = DEALS.find(([one]) => one === searchParams.get('deal_id')) ?? [];
    const found = DEALS.filter(([, name]) => name.toLowerCase().includes(searchParams.get('q') ?? ''));
    const deal = { id, influencer_handle: handle, brand_id: 4819, is_active: true };
    const collabs = codes.map((code, at) => ({ collab_id: `${id}-${at}`, code }));
    response.statusCode = isBroken ? 403 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        pathname.endsWith('autocomplete')
          ? found.map(([dealId]) => ({ deal_id: dealId }))
          : { deal_info: { ...deal, collaborations: collabs } },
      ),
    );
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = openClient({ url: `http://127.0.0.1:${port}`, key: 'k'.repeat(24), timeoutSeconds: 5 });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  return client;
}

const found = (code: string) => ({ code, orders: 1, revenue: [], withoutAmount: 0, held: 0 });

test.each([
  ['LOTTE10', 'D1', []],
  // A handle that begins like the code proves nothing, and says which codes its deal has.
  [
    'LOTTE15',
    null,
    ['D1 the handle begins like the code; its deal has LOTTE10', 'D2 the handle begins like the code'],
  ],
  // Two influencers have the same code: neither is chosen.
  ['BRAM5', null, ['D3 one of several deals with this code', 'D4 one of several deals with this code']],
  // Two deals of one influencer have one owner.
  ['NORA20', 'D5', []],
  ['X1', null, []],
  // Several codes in one text have no single owner, whatever joins them.
  ['LOTTE15、BRAM7', null, []],
  ['LOTTE15 & BRAM7', null, []],
])('the code %s has the owner %s, and these are proposed: %j', async (code, owner, proposed) => {
  const { owners, proposals, left, fault } = await findOwners(await openAccount(), [found(code)]);
  expect(owners.map(({ dealId }) => dealId)).toEqual(owner === null ? [] : [owner]);
  expect(proposals.map(({ dealId, evidence }) => `${dealId} ${evidence}`)).toEqual(proposed);
  expect([left, fault]).toEqual([0, null]);
});

test('codes that were not looked up are counted, with the reason', async () => {
  const codes = Array.from({ length: 45 }, (_, at) => found(`X${at}`));
  expect(await findOwners(await openAccount(), codes)).toMatchObject({ left: 5, fault: null });
  const refused = await findOwners(await openAccount({ isBroken: true }), [found('LOTTE10')]);
  expect(refused).toMatchObject({ owners: [], left: 1, fault: expect.stringContaining('403') });
});
