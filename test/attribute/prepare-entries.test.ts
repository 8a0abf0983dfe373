import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { prepareEntries } from '../../src/attribute/prepare-entries.ts';
import { ENGINES, openShop, order, type Shop, useDatabase } from '../intake/story.ts';
import { makeTestFolder } from '../support/setup.ts';
import { ACCOUNT, adjustments, bring, type Desk, decisions, entries, openDesk } from './story.ts';

const MIRA = 'MIRA,,mira,D1,,,';
const BY_NOOR = 'MIRA,,noor,D2,,,';
const NOBODY = 'OTHER,,mira,D1,,,';
const mira = (id: string, given = {}) => order(id, { codes: ['MIRA'], ...given });

describe.each(ENGINES)('entries on %s', (engine) => {
  const database = useDatabase(engine);
  const newDesk = (shops?: readonly Shop[]) => {
    const path = join(makeTestFolder(), 'codes.csv');
    const writeCodes = (text: string) => writeFileSync(path, text);
    return openDesk(database(), { path, writeCodes, ...(shops === undefined ? {} : { shops }) });
  };
  /** A desk with one order of mira's that is an entry. */
  async function deskWithEntry(): Promise<Desk> {
    const desk = await newDesk();
    await desk.read({ orders: [mira('1')] });
    await desk.attribute({ codes: MIRA });
    expect(await desk.prepare()).toMatchObject({ created: 1 });
    return desk;
  }
  const change = async (desk: Desk, given: object, codes?: string) => {
    if (Object.keys(given).length > 0) await desk.read({ orders: [mira('1', given)] });
    await desk.attribute(codes === undefined ? {} : { codes });
    return desk.prepare();
  };

  test('the body is exact: amounts without a float, ids as text, only what there is', async () => {
    const desk = await newDesk();
    await desk.read({
      orders: [
        order('1', {
          total: '12345678901234.5600',
          dealId: 'D"1',
          collabId: 'C1',
          influencerHandle: 'x',
          codes: ['A', 'B é'],
        }),
        order('00022222222222222222', { influencerHandle: 'mira', total: '1200.00', currency: 'USD' }),
        order('3', { collabId: 'C1', influencerHandle: 'mira' }),
      ],
    });
    await desk.attribute();
    await desk.prepare();
    const platform = `platform of ${desk.job}`;
    expect((await entries(desk)).map(({ body }) => body)).toEqual([
      `{"deal_id":"D\\"1","collab_id":"C1","brand_id":4819,"order_id":"1","order_revenue":12345678901234.56,"order_platform":"${platform}","order_discount_codes_used":"A, B é","currency":"EUR"}`,
      `{"influencer_handle":"mira","brand_id":4819,"order_id":"00022222222222222222","order_revenue":1200,"order_platform":"${platform}","currency":"USD"}`,
      `{"influencer_handle":"mira","collab_id":"C1","brand_id":4819,"order_id":"3","order_revenue":10,"order_platform":"${platform}","currency":"EUR"}`,
    ]);
  });

  test('a brand that is no number is text', async () => {
    const desk = await newDesk();
    await desk.read({ orders: [mira('1')] });
    await desk.attribute({ codes: MIRA, brandId: 'B-1' });
    await desk.prepare();
    expect((await entries(desk))[0]?.body).toContain('"brand_id":"B-1"');
  });

  test('each order is one entry, ready, in the order of the export, linked to its decision; again, nothing happens', async () => {
    const desk = await newDesk();
    await desk.read({ orders: [mira('9'), order('5'), mira('1')] });
    await desk.attribute({ codes: MIRA });
    expect(await desk.prepare()).toMatchObject({ created: 2, replaced: 0, adjustments: 0 });
    const [first, second] = await entries(desk);
    expect([first, second]).toMatchObject([
      { order_id: '9', state: 'ready', attempt: 0 },
      { order_id: '1', state: 'ready', attempt: 0 },
    ]);
    const { rows } = await sql`
      select order_id, entry_id from intake.attributions where job = ${desk.job} order by order_id`.execute(
      desk.db,
    );
    expect(rows).toEqual([
      { order_id: '1', entry_id: second?.entry_id },
      { order_id: '5', entry_id: null },
      { order_id: '9', entry_id: first?.entry_id },
    ]);
    expect(await desk.prepare()).toMatchObject({ created: 0, replaced: 0, adjustments: 0 });
  });

  test('what was not sent yet is replaced', async () => {
    const desk = await deskWithEntry();
    expect(await change(desk, { total: '7.00' })).toMatchObject({ replaced: 1, adjustments: 0 });
    expect(await entries(desk)).toMatchObject([{ state: 'ready', amount: '7.0000', attempt: 0 }]);
    expect((await entries(desk))[0]?.body).toContain('"order_revenue":7,');
  });

  test('what was throttled was not processed, and is replaced too', async () => {
    const desk = await deskWithEntry();
    await bring(desk, 'throttled once');
    expect(await change(desk, { total: '7.00' })).toMatchObject({ replaced: 1, adjustments: 0 });
  });

  test('a refused order is tried again once it says something else, and not before', async () => {
    const desk = await deskWithEntry();
    await bring(desk, 'rejected');
    expect(await change(desk, { orderName: 'renamed' })).toMatchObject({ replaced: 0, adjustments: 0 });
    expect(await entries(desk)).toMatchObject([{ state: 'rejected' }]);
    expect(await change(desk, {}, BY_NOOR)).toMatchObject({ replaced: 1, adjustments: 0 });
    // Its next attempt is within what the ledger allows: 1 + not sent + approved.
    expect(await entries(desk)).toMatchObject([
      { state: 'ready', state_reason: null, attempt: 1, not_sent: 1 },
    ]);
  });

  test.each([
    'accepted',
    'sending',
    'in_doubt',
    'written_off',
    'approved for a re-send',
    'claimed before, with no word of what came of it',
  ])('what may have been sent (%s) is never sent again: an adjustment is noted, once', async (state) => {
    const desk = await deskWithEntry();
    await bring(desk, state);
    const before = await entries(desk);
    expect(await change(desk, { total: '7.00' })).toMatchObject({ replaced: 0, adjustments: 1 });
    expect(await change(desk, {})).toMatchObject({ adjustments: 0 });
    // Another version that comes to the same body is nothing new either.
    expect(await change(desk, { total: '7.00', orderName: 'renamed' })).toMatchObject({ adjustments: 0 });
    expect(await entries(desk)).toEqual(before);
    expect(await adjustments(desk)).toEqual(['1: changed 10 → 7']);
  });

  test('an adjustment says what kind of change it was, and the last one holds', async () => {
    const desk = await deskWithEntry();
    await bring(desk, 'accepted');
    await change(desk, { total: '6.00', refunded: '4.00' });
    await change(desk, {}, BY_NOOR);
    await change(desk, {}, NOBODY);
    await change(desk, {}, MIRA);
    await change(desk, { exclusion: 'cancelled', cancelledAt: '2026-04-12T00:00:00Z' });
    await change(desk, { exclusion: 'test' });
    await change(desk, {});
    await change(desk, { total: '0.00', refunded: '10.00' });
    await change(desk, { total: '10.00' });
    await change(desk, { total: '10.00', orderName: 'renamed' });
    expect(await adjustments(desk)).toEqual([
      '1: refunded 10 → 6',
      '1: reattributed 10 → 6',
      '1: excluded 10 → -',
      '1: refunded 10 → 6',
      '1: cancelled 10 → -',
      '1: changed 10 → 10',
    ]);
    expect(await entries(desk)).toMatchObject([{ state: 'accepted', amount: '10.0000' }]);
  });

  test('an order that is fully refunded by the rule of the job is noted as refunded', async () => {
    const desk = await newDesk();
    await desk.read({ orders: [mira('1')] });
    await desk.attribute({ codes: MIRA, revenue: 'total_less_refunds' });
    await desk.prepare();
    await bring(desk, 'accepted');
    await desk.read({ orders: [mira('1', { refunded: '10.00' })] });
    await desk.attribute({ revenue: 'total_less_refunds' });
    await desk.prepare();
    expect(await adjustments(desk)).toEqual(['1: refunded 10 → -']);
  });

  test('what was not sent and is no longer to be credited is withdrawn, and comes back when it is', async () => {
    const desk = await deskWithEntry();
    expect(await change(desk, { exclusion: 'cancelled' })).toMatchObject({ withdrawn: 1, adjustments: 0 });
    expect(await entries(desk)).toMatchObject([{ state: 'held', state_reason: 'no_longer_attributed' }]);
    expect(await change(desk, {})).toMatchObject({ withdrawn: 0 });
    expect(await change(desk, { total: '3.00' })).toMatchObject({ replaced: 1 });
    expect(await entries(desk)).toMatchObject([{ state: 'ready', state_reason: null, amount: '3.0000' }]);
    await change(desk, {}, NOBODY);
    expect(await entries(desk)).toMatchObject([{ state: 'held' }]);
    await change(desk, {}, MIRA);
    expect(await entries(desk)).toMatchObject([{ state: 'ready', amount: '3.0000' }]);
  });

  test('an order that somebody else has credited is held, whenever the evidence comes', async () => {
    const desk = await newDesk();
    await desk.read({ orders: [mira('1'), mira('2'), mira('3')] });
    const platform = `platform of ${desk.job}`;
    await evidence(desk, { orderId: '1', platform: platform.toUpperCase() });
    await evidence(desk, { orderId: '2', platform: 'another platform' });
    await desk.attribute({ codes: MIRA });
    expect(await desk.prepare()).toMatchObject({ created: 3, evident: 1 });
    await evidence(desk, { orderId: '3', platform: null });
    expect(await desk.prepare()).toMatchObject({ evident: 1 });
    expect(await entries(desk)).toMatchObject([
      { order_id: '1', state: 'held', state_reason: 'evidence_of_another_poster' },
      { order_id: '2', state: 'ready' },
      { order_id: '3', state: 'held', state_reason: 'evidence_of_another_poster' },
    ]);
    // Newer content does not free it.
    await desk.read({ orders: [mira('1', { total: '7.00' })] });
    await desk.attribute();
    expect(await desk.prepare()).toMatchObject({ replaced: 1 });
    expect(await entries(desk)).toMatchObject([{ state: 'held', amount: '7.0000' }, {}, {}]);
  });

  test('an order of two sources with one platform is one entry; other content is an adjustment', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    const desk = await newDesk([one, two]);
    await one.read({ orders: [mira('1'), mira('2')] });
    await two.read({ orders: [mira('1'), mira('2', { total: '11.00' }), mira('3')] });
    await desk.attribute({ codes: MIRA });
    expect(await desk.prepare()).toMatchObject({ created: 3, elsewhere: 2, adjustments: 1 });
    expect(await adjustments(desk)).toEqual(['2: changed 10 → 11']);
    expect(await decisions({ ...desk, source: two.source })).toEqual([
      '1: excluded known_from_another_source MIRA',
      '2: excluded known_from_another_source MIRA',
      '3: attributed code MIRA → deal:D1',
    ]);
    expect(await entries(desk)).toMatchObject([
      { amount: '10.0000' },
      { amount: '10.0000' },
      { order_id: '3' },
    ]);
    await desk.attribute({ codes: `${MIRA}\nX,,x,,,,` });
    expect(await desk.prepare()).toMatchObject({ created: 0, elsewhere: 2, adjustments: 0 });
  });

  test('what one source no longer wants, and was not sent, another may', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    const desk = await newDesk([one, two]);
    await one.read({ orders: [mira('1')] });
    await desk.attribute({ codes: MIRA });
    await desk.prepare();
    await one.read({ orders: [mira('1', { exclusion: 'test' })] });
    await desk.attribute();
    await desk.prepare();
    await two.read({ orders: [mira('1', { total: '11.00' })] });
    await desk.attribute();
    expect(await desk.prepare()).toMatchObject({ replaced: 1, elsewhere: 0 });
    expect(await entries(desk)).toMatchObject([{ state: 'ready', amount: '11.0000' }]);
  });

  test('another platform name for known orders stops the run, since they would be sent again', async () => {
    const desk = await deskWithEntry();
    await desk.read({ orders: [mira('1', { total: '7.00' }), mira('2')] });
    await desk.attribute();
    const renamed = prepareEntries(desk.db, {
      job: desk.job,
      runId: desk.runId,
      accountId: ACCOUNT,
      orderPlatformBySource: { [desk.source]: 'renamed' },
    });
    await expect(renamed).rejects.toMatchObject({ details: { code: 'order_platform_changed', exitCode: 2 } });
    expect(await entries(desk)).toHaveLength(1);
  });
});

async function evidence(
  desk: Desk,
  { orderId, platform }: { orderId: string; platform: string | null },
): Promise<void> {
  await sql`
    insert into ledger.evidence (kind, order_platform, order_id, body_sha256)
    values ('webhook_order', ${platform}, ${orderId}, ${`${desk.job} ${orderId}`})`.execute(desk.db);
}
