import { expect, it } from 'vitest';
import { openCreatorShop } from './story.ts';

/** A shop with a list that asks for a stage and a status of one deal. */
async function openUpdates() {
  const shop = await openCreatorShop();
  shop.drop('1.csv', 'handle,platform,deal_id,stage,status\nmia.test,instagram,DEALMIA,2,inactive\n');
  return shop;
}

const DONE = { stages_sent: 1, statuses_sent: 1, updates_waiting: 0, updates_refused: 0, updates_unseen: 0 };

it('an update that the service accepts and the deal does not show is not done: it is said, and sent again', async () => {
  const shop = await openUpdates();
  await shop.sandbox.setFaults([
    { kind: 'canned', operation: 'update_dealstage', body: { message: 'Updated.' } },
  ]);
  const counts = { stages_sent: 0, statuses_sent: 1, updates_waiting: 1, updates_refused: 1 };
  expect(await shop.runDeals()).toMatchObject({ code: 3, counts });
  expect((await shop.cli('run', 'deals')).stdout.replace(/\s+/g, ' ')).toContain(
    'the service accepted stage 2, but the deal does not show it',
  );
  await shop.sandbox.setFaults(null);
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { ...DONE, statuses_sent: 0 } });
  expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ funnel_step: 2, is_active: false });
});

it('an update whose deal cannot be read back waits for the next run, which says why', async () => {
  const shop = await openUpdates();
  await shop.sandbox.setFaults([{ kind: 'html', operation: 'get_deal_details' }]);
  expect(await shop.runDeals()).toMatchObject({
    code: 1,
    counts: { stages_sent: 0, statuses_sent: 0, updates_waiting: 2 },
  });
  const { stdout, stderr } = await shop.cli('run', 'deals');
  expect((stdout + stderr).replace(/\s+/g, ' ')).toContain('could not be read back');
  await shop.sandbox.setFaults(null);
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: DONE });
});

it('an update that no deal of the service can show counts by its word, and is counted apart', async () => {
  const shop = await openUpdates();
  const body = { deal_info: { id: 'DEALMIA', influencer_handle: 'mia.test', is_active: false } };
  await shop.sandbox.setFaults([{ kind: 'canned', operation: 'get_deal_details', body }]);
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { ...DONE, updates_unseen: 1 } });
});

it('each deal is read back once', async () => {
  const shop = await openUpdates();
  const before = await shop.processed('get_deal_details');
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: DONE });
  expect((await shop.processed('get_deal_details')) - before).toBe(1);
});
