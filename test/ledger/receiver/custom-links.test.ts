import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { order } from '../../intake/story.ts';
import { decisions, entries, openContext } from '../../jobs/attribute-orders/decide/story.ts';
import { setup } from '../../support/setup.ts';
import { deliver, openReceiver } from './deliver.ts';

/** Before and after every event of a test, whose time comes from the database. */
const PAST = '2026-01-10T10:00:00Z';
/** Later than any change in these tests, but not too late for a file of today. */
const FUTURE = new Date(Date.now() + 3_600_000).toISOString();

async function openShopWithEvents() {
  const { db, folder } = await setup();
  const { url } = await openReceiver(db);
  const path = join(folder, 'codes.csv');
  const context = await openContext(db, { path, writeCodes: (text) => writeFileSync(path, text) });
  return {
    ...context,
    /** Sends the event for a changed link of a deal. Each link may name its target after an arrow. */
    async changeLink(dealId: string, old: string | null, now: string | null) {
      const [old_custom_link = null, old_custom_link_target = null] = old?.split(' → ') ?? [];
      const [new_custom_link = null, new_custom_link_target = null] = now?.split(' → ') ?? [];
      const custom_link_information = {
        old_custom_link,
        new_custom_link,
        old_custom_link_target,
        new_custom_link_target,
      };
      expect(
        await deliver(url, JSON.stringify({ deal_id: dealId, collab_id: null, custom_link_information })),
      ).toBe(200);
    },
  };
}

it('an order from the custom link of a deal is credited to it, even if it was read before the event', async () => {
  const shop = await openShopWithEvents();
  await shop.read({ orders: [order('1', { links: ['Mia'], placedAt: PAST })] });
  await shop.attribute();
  expect(await decisions(shop)).toEqual(['1: unattributed unknown_link Mia']);

  await shop.changeLink('D1', null, 'https://acme.test/?ref=mia');
  await shop.attribute();
  expect(await decisions(shop)).toEqual(['1: attributed link Mia → deal:D1']);
  await shop.prepare();
  const [entry] = await entries(shop);
  expect(JSON.parse(entry?.body ?? '')).toMatchObject({ deal_id: 'D1', order_id: '1' });
});

it('a changed link no longer counts for new orders, and earlier orders stay credited', async () => {
  const shop = await openShopWithEvents();
  await shop.changeLink('D1', null, 'https://acme.test/?ref=mia');
  await shop.changeLink('D1', 'https://acme.test/?ref=mia', 'https://acme.test/?ref=mia-2');
  await shop.changeLink('D2', 'https://acme.test/?ref=noor', null);
  await shop.read({
    orders: [
      order('1', { links: ['mia'], placedAt: PAST }),
      order('2', { links: ['mia'], placedAt: FUTURE }),
      order('3', { links: ['mia-2'], placedAt: FUTURE }),
      order('4', { links: ['noor'], placedAt: FUTURE }),
    ],
  });
  await shop.attribute();
  expect(await decisions(shop)).toEqual([
    '1: attributed link mia → deal:D1',
    '2: unattributed link_expired mia',
    '3: attributed link mia-2 → deal:D1',
    '4: unattributed link_expired noor',
  ]);
});

it('an order must match all parameters of a link, a link is not a discount code, and a code takes precedence', async () => {
  const shop = await openShopWithEvents();
  await shop.changeLink('D1', null, 'https://acme.test/?utm_campaign=spring&ref=mia → mia-page');
  await shop.read({
    orders: [
      order('1', { links: ['spring', 'mia'] }),
      order('2', { links: ['spring'] }),
      order('3', { links: ['mia-page'] }),
      order('4', { codes: ['mia-page'] }),
      order('5', { links: ['spring', 'mia'], codes: ['NOOR'] }),
      order('6', { links: ['mia'] }),
    ],
  });
  await shop.attribute({ codes: 'NOOR,,noor,D2,,,' });
  expect(await decisions(shop)).toEqual([
    '1: attributed link mia → deal:D1',
    '2: unattributed unknown_link spring',
    '3: attributed link mia-page → deal:D1',
    '4: unattributed unknown_code mia-page',
    '5: attributed code NOOR → deal:D2',
    '6: unattributed unknown_link mia',
  ]);
});

it('an order whose link belongs to two deals is held until codes.csv decides', async () => {
  const shop = await openShopWithEvents();
  await shop.changeLink('D1', null, 'https://acme.test/?ref=spring');
  await shop.changeLink('D2', null, 'https://acme.test/?ref=spring');
  await shop.read({ orders: [order('1', { links: ['spring'], placedAt: FUTURE })] });
  await shop.attribute();
  expect(await decisions(shop)).toEqual(['1: held ambiguous_links spring']);
  await shop.attribute({ codes: 'spring,,,D1,,,' });
  expect(await decisions(shop)).toEqual(['1: attributed link spring → deal:D1']);
});

it('an order is held if codes.csv assigns a part of its link to another deal', async () => {
  const shop = await openShopWithEvents();
  await shop.changeLink('D1', null, 'https://acme.test/?utm_campaign=spring&ref=mia');
  await shop.read({ orders: [order('1', { links: ['spring', 'mia'] }), order('2', { links: ['spring'] })] });
  await shop.attribute({ codes: 'SPRING,,,D2,,,' });
  expect(await decisions(shop)).toEqual([
    '1: held ambiguous_links spring, mia',
    '2: attributed link spring → deal:D2',
  ]);
});
