import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { decideAgain } from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import {
  orderPlatformChanged,
  prepareEntries,
} from '../../../../jobs/attribute-orders/decide/prepare-entries.ts';
import { storeRulings } from '../../../../jobs/attribute-orders/decide/rulings.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { resendUnauthorised } from '../../../../src/ledger/resolve.ts';
import { seedLedger, undoSeed } from '../../../../src/ledger/seed.ts';
import { ENGINES, openShop, order, type Shop, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { ACCOUNT, adjustments, bring, type Context, decisions, entries, openContext } from './story.ts';

const MIRA = 'MIRA,,mira,D1,,,';
const BY_NOOR = 'MIRA,,noor,D2,,,';
const NOBODY = 'OTHER,,mira,D1,,,';
const mira = (id: string, given = {}) => order(id, { codes: ['MIRA'], ...given });

describe.each(ENGINES)('ledger entries on %s', (engine) => {
  const database = useDatabase(engine);
  let brands = 4818;
  const newContext = (
    shops?: readonly Shop[],
    of: { readonly job?: string; readonly platforms?: readonly string[]; readonly brandId?: string } = {},
  ) => {
    brands += 1;
    const path = join(makeTestFolder(), 'codes.csv');
    const writeCodes = (text: string) => writeFileSync(path, text);
    return openContext(database(), {
      path,
      writeCodes,
      brandId: String(brands),
      ...(shops === undefined ? {} : { shops }),
      ...of,
    });
  };
  /** Creates a context with one order of mira's that has an entry. */
  async function contextWithEntry(): Promise<Context> {
    const context = await newContext();
    await context.read({ orders: [mira('1')] });
    await context.attribute({ codes: MIRA });
    expect(await context.prepare()).toMatchObject({ created: 1 });
    return context;
  }
  const change = async (context: Context, given: object, codes?: string) => {
    if (Object.keys(given).length > 0) await context.read({ orders: [mira('1', given)] });
    await context.attribute(codes === undefined ? {} : { codes });
    return context.prepare();
  };

  test('have an exact body: amounts without a float, IDs as text, only fields with a value', async () => {
    const context = await newContext();
    await context.read({
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
    await context.attribute();
    await context.prepare();
    const platform = `platform of ${context.job}`;
    expect((await entries(context)).map(({ body }) => body)).toEqual([
      `{"deal_id":"D\\"1","collab_id":"C1","brand_id":4819,"order_id":"1","order_revenue":12345678901234.56,"order_platform":"${platform}","order_discount_codes_used":"A, B é","currency":"EUR"}`,
      `{"influencer_handle":"mira","brand_id":4819,"order_id":"00022222222222222222","order_revenue":1200,"order_platform":"${platform}","currency":"USD"}`,
      `{"influencer_handle":"mira","collab_id":"C1","brand_id":4819,"order_id":"3","order_revenue":10,"order_platform":"${platform}","currency":"EUR"}`,
    ]);
  });

  test('send a brand ID that is not a number as text', async () => {
    const context = await newContext();
    await context.read({ orders: [mira('1')] });
    await context.attribute({ codes: MIRA, brandId: 'B-1' });
    await context.prepare();
    expect((await entries(context))[0]?.body).toContain('"brand_id":"B-1"');
  });

  test('of a first load do not slow the next run down: no scan of pending decisions visits those that were settled', async () => {
    const context = await newContext();
    const orders = Array.from({ length: 800 }, (_, index) => mira(String(index)));
    await context.read({ orders });
    await context.attribute({ codes: MIRA });
    expect(await context.prepare()).toMatchObject({ created: orders.length });
    const pages = await context.db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      const { rows } = await sql<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>`
        explain (analyze, buffers, format json)
        select a.order_id from intake.attributions a where a.job = ${context.job} and a.is_pending`.execute(
        trx,
      );
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    });
    // Each page of the table has some forty decisions; only those of the index are visited.
    expect(pages).toBeLessThan(orders.length / 40 / 2);
  });

  test('are created once for each credited order, in the order of the export, and linked to their decision', async () => {
    const context = await newContext();
    await context.read({ orders: [mira('9'), order('5'), mira('1')] });
    await context.attribute({ codes: MIRA });
    expect(await context.prepare()).toMatchObject({ created: 2, replaced: 0, adjustments: 0 });
    const [first, second] = await entries(context);
    expect([first, second]).toMatchObject([
      { order_id: '9', state: 'ready', attempt: 0 },
      { order_id: '1', state: 'ready', attempt: 0 },
    ]);
    const { rows } = await sql`
      select order_id, entry_id from intake.attributions where job = ${context.job} order by order_id`.execute(
      context.db,
    );
    expect(rows).toEqual([
      { order_id: '1', entry_id: second?.entry_id },
      { order_id: '5', entry_id: null },
      { order_id: '9', entry_id: first?.entry_id },
    ]);
    expect(await context.prepare()).toEqual({
      created: 0,
      replaced: 0,
      withdrawn: 0,
      elsewhere: 0,
      adjustments: 0,
      evident: 0,
    });
  });

  test('are replaced if they were not sent yet', async () => {
    const context = await contextWithEntry();
    expect(await change(context, { total: '7.00' })).toMatchObject({ replaced: 1, adjustments: 0 });
    expect(await entries(context)).toMatchObject([{ state: 'ready', amount: '7.0000', attempt: 0 }]);
    expect((await entries(context))[0]?.body).toContain('"order_revenue":7,');
  });

  test('are replaced after they were throttled, because the service did not process them', async () => {
    const context = await contextWithEntry();
    await bring(context, 'throttled once');
    expect(await change(context, { total: '7.00' })).toMatchObject({ replaced: 1, adjustments: 0 });
  });

  test('are retried after a rejection only when their content changes', async () => {
    const context = await contextWithEntry();
    await bring(context, 'rejected');
    expect(await change(context, { orderName: 'renamed' })).toMatchObject({ replaced: 0, adjustments: 0 });
    expect(await entries(context)).toMatchObject([{ state: 'rejected' }]);
    expect(await change(context, {}, BY_NOOR)).toMatchObject({ replaced: 1, adjustments: 0 });
    // The ledger allows its next attempt: 1 + not sent + approved.
    expect(await entries(context)).toMatchObject([
      { state: 'ready', state_reason: null, attempt: 1, not_sent: 1 },
    ]);
  });

  test('are never sent again if they may have been sent, whatever came of it: an adjustment is noted', async () => {
    const states = [
      ...['accepted', 'sending', 'in_doubt', 'written_off', 'approved for a re-send'],
      'claimed before, with no word of what came of it',
    ];
    const context = await newContext();
    const changeAll = async (given?: object) => {
      if (given !== undefined) await context.read({ orders: states.map((state) => mira(state, given)) });
      await context.attribute({ codes: MIRA });
      return context.prepare();
    };
    expect(await changeAll({})).toMatchObject({ created: states.length });
    for (const state of states) await bring(context, state, state);
    const before = await entries(context);
    expect(await changeAll({ total: '7.00' })).toMatchObject({ replaced: 0, adjustments: states.length });
    expect(await changeAll()).toMatchObject({ adjustments: 0 });
    // Another version that yields the same body is not a change either.
    expect(await changeAll({ total: '7.00', orderName: 'renamed' })).toMatchObject({ adjustments: 0 });
    expect(await entries(context)).toEqual(before);
    expect((await adjustments(context)).toSorted()).toEqual(
      states.map((state) => `${state}: changed 10 → 7`).toSorted(),
    );
  });

  test('record the kind of each change as an adjustment, and the latest adjustment applies', async () => {
    const context = await contextWithEntry();
    await bring(context, 'accepted');
    await change(context, { total: '6.00', refunded: '3.00' });
    await change(context, {}, BY_NOOR);
    await change(context, {}, NOBODY);
    await change(context, {}, MIRA);
    await change(context, { exclusion: 'cancelled', cancelledAt: '2026-04-12T00:00:00Z' });
    await change(context, { exclusion: 'test' });
    await change(context, {});
    await change(context, { total: '0.00', refunded: '10.00' });
    await change(context, { total: '10.00' });
    await change(context, { total: '10.00', orderName: 'renamed' });
    await change(context, { total: '9.00', refunded: '0.00' });
    await change(context, { total: '9.50', refunded: '0.50' });
    await change(context, { exclusion: 'test', cancelledAt: '2026-04-12T00:00:00Z' });
    // The amount of a part of the order says nothing of the whole.
    await change(context, { doubt: 'may_be_split', total: '4.00' });
    // Which of two states is in force is not known, and so is not whether the order was cancelled.
    await change(context, { doubt: 'conflicting_states', cancelledAt: '2026-04-12T00:00:00Z' });
    expect(await adjustments(context)).toEqual([
      '1: refunded 10 → 6',
      // A row of codes.csv may be wrong or missing by mistake: what was posted stays until a person decides.
      '1: held 10 → 6',
      '1: refunded 10 → 6',
      '1: cancelled 10 → -',
      '1: changed 10 → 10',
      '1: changed 10 → 9',
      '1: refunded 10 → 9.5',
      '1: cancelled 10 → -',
      '1: held 10 → -',
      '1: held 10 → 10',
    ]);
    expect(await entries(context)).toMatchObject([{ state: 'accepted', amount: '10.0000' }]);
  });

  test('are changed by no other name of the owner whom the service credited, and not by another rule of revenue', async () => {
    const context = await newContext();
    const stated = (given: object = {}) =>
      context.read({ orders: [mira('1', { total: '10.00', subtotal: '8.00', ...given })] });
    const decide = async (
      codes: string,
      revenue: 'total' | 'subtotal' | 'total_less_refunds' = 'subtotal',
    ) => {
      await context.attribute({ codes, revenue });
      await context.prepare();
    };
    await stated();
    await decide('MIRA,,mira,,,,');
    await bring(context, 'accepted');
    for (const owner of [',D1', 'mira,D1', '@Mira,', 'mira,']) await decide(`MIRA,,${owner},,,`);
    for (const revenue of ['total', 'total_less_refunds', 'subtotal', 'total'] as const)
      await decide(MIRA, revenue);
    expect(await adjustments(context)).toEqual([]);
    // It is compared by the rule by which it was sent.
    await stated({ subtotal: '0.00' });
    await decide(MIRA, 'total');
    await stated({ subtotal: '6.00', refunded: '2.00' });
    await decide('MIRA,,,D1,,,', 'total');
    expect(await adjustments(context)).toEqual(['1: excluded 8 → -', '1: refunded 8 → 6']);
    // An order that was not sent has the rule of today.
    await context.read({ orders: [mira('2', { subtotal: '8.00' })] });
    await decide(MIRA, 'subtotal');
    await decide(MIRA, 'total');
    expect((await entries(context)).map(({ amount }) => amount)).toEqual(['8.0000', '10.0000']);
  });

  test('record an order as refunded if it is fully refunded by the rule of the job', async () => {
    const context = await newContext();
    await context.read({ orders: [mira('1')] });
    await context.attribute({ codes: MIRA, revenue: 'total_less_refunds' });
    await context.prepare();
    await bring(context, 'accepted');
    await context.read({ orders: [mira('1', { refunded: '10.00' })] });
    await context.attribute({ revenue: 'total_less_refunds' });
    await context.prepare();
    expect(await adjustments(context)).toEqual(['1: refunded 10 → -']);
  });

  test('record an order by the reason why it is no longer credited', async () => {
    const kinds = {
      refunded: 'refunded',
      canceled: 'cancelled',
      voided: 'cancelled',
      pending: 'excluded',
      storniert: 'cancelled',
      terugbetaald: 'refunded',
      'a status that nobody knows': 'held',
    };
    const statuses = Object.keys(kinds);
    const rules = { credited: ['paid'], notCredited: statuses.slice(0, -1) };
    const context = await newContext();
    await context.read({ orders: statuses.map((status) => mira(status, { status: 'paid' })) });
    await context.attribute({ codes: MIRA, ...rules });
    await context.prepare();
    await bring(context, 'accepted');
    await context.read({ orders: statuses.map((status) => mira(status, { status })) });
    await context.attribute(rules);
    await context.prepare();
    expect((await adjustments(context)).toSorted()).toEqual(
      Object.entries(kinds)
        .map(([status, kind]) => `${status}: ${kind} 10 → ${kind === 'held' ? '10' : '-'}`)
        .toSorted(),
    );
    const held = context.db.selectFrom('ledger.adjustments').where('kind', '=', 'held');
    expect(await held.select('detail').execute()).toContainEqual({
      detail: 'Held: The layout does not know the status, or there is none.',
    });
  });

  test('are held if a later export leaves out the code by which an order was posted', async () => {
    const context = await contextWithEntry();
    await bring(context, 'accepted');
    await change(context, { codes: [] });
    expect(await decisions(context)).toEqual(['1: held owner_lost']);
    expect(await adjustments(context)).toEqual(['1: held 10 → 10']);
    await change(context, {});
    await change(context, { codes: ['MIRA'] });
    expect(await adjustments(context)).toEqual(['1: held 10 → 10', '1: changed 10 → 10']);
  });

  test('are held if codes.csv names another owner than they were posted for, until it is put right or a person decides', async () => {
    const context = await contextWithEntry();
    await bring(context, 'accepted');
    await change(context, {}, BY_NOOR);
    expect(await decisions(context)).toEqual(['1: held owner_changed MIRA of noor, posted for D1']);
    // What the export itself says is no rule of attribution, whatever its code says.
    await change(context, { dealId: 'D2' }, MIRA);
    expect(await decisions(context)).toEqual(['1: held owner_changed D2 of D2, posted for D1']);
    await change(context, { dealId: null });
    await change(context, {}, MIRA);
    await change(context, {}, BY_NOOR);
    await inTransaction(context.db, (trx) =>
      storeRulings(trx, {
        subjects: [{ source: context.source, orderId: '1', reason: 'owner_changed', contentHash: null }],
        decision: 'credit',
        decidedBy: 'tester',
      }),
    );
    await change(context, {});
    expect(await adjustments(context)).toEqual([
      '1: held 10 → 10',
      '1: changed 10 → 10',
      '1: held 10 → 10',
      '1: reattributed 10 → 10',
    ]);
  });

  test('an order that was held and states less, or is then cancelled, is recorded as that', async () => {
    const context = await contextWithEntry();
    await bring(context, 'accepted');
    await change(context, { refunded: '11.00' });
    await change(context, { refunded: '11.00', orderName: 'renamed' });
    await change(context, { refunded: '11.00', total: '9.00' });
    await change(context, { refunded: '11.00' });
    await change(context, { refunded: '11.00', cancelledAt: '2026-05-01T00:00:00Z' });
    await change(context, { refunded: '11.00' });
    expect(await adjustments(context)).toEqual([
      '1: held 10 → 10',
      '1: held 10 → 9',
      '1: held 10 → 10',
      '1: cancelled 10 → -',
      '1: held 10 → 10',
    ]);
  });

  test('are withdrawn if an unsent order is no longer attributed, and return when it is again', async () => {
    const context = await contextWithEntry();
    expect(await change(context, { exclusion: 'cancelled' })).toMatchObject({ withdrawn: 1, adjustments: 0 });
    expect(await entries(context)).toMatchObject([{ state: 'held', state_reason: 'no_longer_attributed' }]);
    expect(await change(context, {})).toMatchObject({ withdrawn: 0 });
    expect(await change(context, { total: '3.00' })).toMatchObject({ replaced: 1 });
    expect(await entries(context)).toMatchObject([{ state: 'ready', state_reason: null, amount: '3.0000' }]);
    await change(context, {}, NOBODY);
    expect(await entries(context)).toMatchObject([{ state: 'held' }]);
    await change(context, {}, MIRA);
    expect(await entries(context)).toMatchObject([{ state: 'ready', amount: '3.0000' }]);
  });

  test.each(['before', 'after'])(
    'are not sent again if their order was cancelled %s that was approved',
    async (when) => {
      const context = await contextWithEntry();
      const cancel = () => change(context, { exclusion: 'cancelled' });
      await bring(context, 'in_doubt');
      if (when === 'before') await cancel();
      await bring(context, 'approved for a re-send');
      if (when === 'before') await context.prepare();
      else await cancel();
      expect(await entries(context)).toMatchObject([
        { state: 'in_doubt', state_reason: 'not sent again, because it is no longer credited: cancelled' },
      ]);
    },
  );

  test('that the service refused for its key follow their order when they are sent again', async () => {
    const context = await newContext();
    await context.read({ orders: [mira('1'), mira('2')] });
    await context.attribute({ codes: MIRA });
    await context.prepare();
    await bring(context, 'rejected');
    await sql`
      insert into ledger.answers (entry_id, attempt, kind, http_status, message, via, applied)
      select entry_id, attempt, 'rejected', 401, 'no', 'direct', true from ledger.entries
      where job = ${context.job}`.execute(context.db);
    expect(await resendUnauthorised(context.db, context)).toBe(2);
    await context.read({ orders: [mira('1', { exclusion: 'cancelled' }), mira('2', { total: '7.00' })] });
    await context.attribute();
    await context.prepare();
    expect(await entries(context)).toMatchObject([
      { state: 'held', state_reason: 'no_longer_attributed' },
      { state: 'ready', amount: '7.0000' },
    ]);
    expect(await adjustments(context)).toEqual([]);
  });

  test('are held if another party has credited the order, whenever the evidence arrives', async () => {
    const context = await newContext();
    await context.read({ orders: [mira('1'), mira('2'), mira('3')] });
    const platform = `platform of ${context.job}`;
    await evidence(context, { orderId: '1', platform: platform.toUpperCase() });
    await evidence(context, { orderId: '2', platform: 'another platform' });
    await context.attribute({ codes: MIRA });
    expect(await context.prepare()).toMatchObject({ created: 3, evident: 1 });
    await evidence(context, { orderId: '3', platform: null });
    expect(await context.prepare()).toMatchObject({ evident: 1 });
    expect(await entries(context)).toMatchObject([
      { order_id: '1', state: 'held', state_reason: 'evidence_of_another_poster' },
      { order_id: '2', state: 'ready' },
      { order_id: '3', state: 'held', state_reason: 'evidence_of_another_poster' },
    ]);
    // Newer content does not release the hold.
    await context.read({ orders: [mira('1', { total: '7.00' })] });
    await context.attribute();
    expect(await context.prepare()).toMatchObject({ replaced: 1 });
    expect(await entries(context)).toMatchObject([{ state: 'held', amount: '7.0000' }, {}, {}]);
  });

  test('are held by a seed that names their order on their platform, and ready again once it is undone', async () => {
    const context = await newContext();
    const { db, job, source } = context;
    for (const id of ['s1', 's2', 's3', 's4'])
      await context.read({ orders: [mira(id)] }, { uri: `file:///${id}.csv` });
    await context.attribute({ codes: MIRA });
    await context.prepare();
    await sql`update ledger.entries set state = 'accepted', attempt = 1, deal_id = 'D1' where job = ${job} and order_id = 's4'`.execute(
      db,
    );
    const named = (orderId: string, orderPlatform: string) => ({
      line: 2,
      orderId,
      orderPlatform,
      amount: null,
      currency: null,
      dealId: null,
      collabId: null,
      reason: null,
    });
    const platform = `platform of ${job}`;
    const rows = [named('s1', platform), named('s2', 'another platform'), named('s4', platform)];
    const seedId = await inTransaction(db, async (trx) => {
      const by = { fileName: 'seed.csv', fileSha256: job, reason: 'listed', seededBy: 'tester' };
      const seed = await seedLedger(trx, { ...by, rows });
      await decideAgain(trx, seed.seedId);
      return seed.seedId;
    });
    const undecided = async () => {
      const { rows } = await sql<{ uri: string }>`
        select uri from intake.source_files f where source = ${source}
          and not exists (select from intake.attributed_files d where d.source_file_id = f.source_file_id) order by uri`.execute(
        db,
      );
      return rows.map(({ uri }) => uri);
    };
    expect(await undecided()).toEqual(['file:///s1.csv', 'file:///s2.csv', 'file:///s4.csv']);
    const undo = () =>
      inTransaction(db, async (trx) => {
        await undoSeed(trx, { seedId, reason: 'wrong', undoneBy: 'tester' });
        await decideAgain(trx, seedId);
      });
    // Before a run has decided about the seed, only the entry knows of it.
    const unread = new Error('undone');
    const before = inTransaction(db, async (trx) => {
      await sql`update ledger.entries set state = 'held', state_reason = 'no_longer_attributed' where job = ${job} and order_id in ('s2', 's3')`.execute(
        trx,
      );
      await undoSeed(trx, { seedId, reason: 'wrong', undoneBy: 'tester' });
      await decideAgain(trx, seedId);
      const { rows } = await sql<{ order_id: string }>`
        select order_id from intake.attributions where job = ${job} and is_pending`.execute(trx);
      expect(rows).toEqual([{ order_id: 's1' }]);
      throw unread;
    });
    await expect(before).rejects.toBe(unread);
    await context.attribute();
    await context.prepare();
    const held = { order_id: 's1', state: 'held', state_reason: 'credited_elsewhere' };
    expect(await entries(context)).toMatchObject([held, { state: 'ready' }, { state: 'ready' }, {}]);
    const said = await decisions(context);
    expect(said[0]).toBe('s1: excluded credited_elsewhere');
    expect(said[3], 'what was sent stays').toBe('s4: attributed code MIRA → deal:D1');
    await undo();
    await context.attribute();
    await context.prepare();
    expect((await entries(context)).map(({ state }) => state)).toEqual([
      'ready',
      'ready',
      'ready',
      'accepted',
    ]);
  });

  test('are shared by two sources with one platform: different content is an adjustment', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    const context = await newContext([one, two]);
    await one.read({ orders: [mira('1'), mira('2')] });
    await two.read({ orders: [mira('1'), mira('2', { total: '11.00' }), mira('3')] });
    await context.attribute({ codes: MIRA });
    expect(await context.prepare()).toMatchObject({ created: 3, elsewhere: 2, adjustments: 1 });
    expect(await adjustments(context)).toEqual(['2: changed 10 → 11']);
    expect(await decisions({ ...context, source: two.source })).toEqual([
      '1: excluded known_from_another_source MIRA',
      '2: excluded known_from_another_source MIRA',
      '3: attributed code MIRA → deal:D1',
    ]);
    expect(await entries(context)).toMatchObject([
      { amount: '10.0000' },
      { amount: '10.0000' },
      { order_id: '3' },
    ]);
    await context.attribute({ codes: `${MIRA}\nX,,x,,,,` });
    expect(await context.prepare()).toMatchObject({ created: 0, elsewhere: 2, adjustments: 0 });
  });

  test.runIf(engine === 'a Postgres server')(
    'count once, with the job and the source that send them, whatever others state about their orders',
    async () => {
      const [one, two] = [await openShop(database()), await openShop(database())];
      const first = await newContext([one, two]);
      const other = await newContext([one], {
        job: `other ${first.job}`,
        platforms: [`platform of ${first.job}`],
        brandId: String(brands),
      });
      const settled = async () => {
        const { rows } = await sql<{ said: string }>`
          select concat_ws(' ', case a.job when ${first.job} then 'first,' else 'other,' end, case a.source when ${one.source} then 'one' else 'two' end,
            a.order_id || ':', a.outcome, a.reason, a.matched_by, a.target, case when a.is_pending then 'pending' end, '→ ' || e.order_id) as said
          from intake.attributions a left join ledger.entries e using (entry_id)
          where a.job in (${first.job}, ${other.job}) order by a.job, a.source = ${two.source}, a.order_id`.execute(
          database(),
        );
        return rows.map(({ said }) => said).toSorted();
      };
      await one.read({ orders: [mira('1'), mira('2'), mira('3'), order('4')] });
      await first.attribute({ codes: MIRA });
      await first.prepare();
      await two.read({ orders: [mira('1', { total: '12.00' }), order('2'), mira('5')] });
      await first.attribute();
      expect(await first.prepare()).toEqual({
        created: 1,
        replaced: 0,
        withdrawn: 0,
        adjustments: 1,
        elsewhere: 1,
        evident: 0,
      });
      await other.attribute({ codes: MIRA });
      expect(await other.prepare()).toMatchObject({ created: 0, elsewhere: 3 });
      const byCode = 'attributed code deal:D1';
      const ofOne = ['1', '2', '3'];
      const before = [
        ...ofOne.map((id) => `first, one ${id}: ${byCode} → ${id}`),
        ...['first, one 4: organic', 'first, two 1: excluded known_from_another_source'],
        ...['first, two 2: organic', `first, two 5: ${byCode} → 5`],
        ...ofOne.map((id) => `other, one ${id}: excluded known_from_another_job`),
        'other, one 4: organic',
      ];
      expect(await settled()).toEqual(before);

      // The first source excludes an order that was not sent; the second one states it, and takes it over.
      await one.read({ orders: [mira('2', { exclusion: 'test' }), mira('3', { exclusion: 'test' })] });
      await first.attribute();
      await first.prepare();
      await two.read({ orders: [mira('2', { total: '13.00' })] });
      await first.attribute();
      expect(await first.prepare()).toMatchObject({ replaced: 1, elsewhere: 1 });
      expect(await settled()).toEqual(
        before
          .filter((said) => !/^(?:first, (?:one [23]|two 2)|other, one 2):/.test(said))
          .concat(
            ...['first, one 2: excluded test', 'first, one 3: excluded test → 3'],
            ...[`first, two 2: ${byCode} → 2`, 'other, one 2: excluded known_from_another_job'],
          )
          .toSorted(),
      );
    },
  );

  test.runIf(engine === 'a Postgres server')(
    'are taken over by another job if the first one credits the unsent order no longer',
    async () => {
      const shop = await openShop(database());
      const first = await newContext([shop]);
      const platforms = [`platform of ${first.job}`];
      const second = await newContext([shop], {
        job: `second ${first.job}`,
        platforms,
        brandId: String(brands),
      });
      await shop.read({ orders: [mira('1')] });
      await first.attribute({ codes: MIRA });
      expect(await first.prepare()).toMatchObject({ created: 1 });
      await first.attribute({ codes: NOBODY });
      expect(await first.prepare()).toMatchObject({ withdrawn: 1 });
      await second.attribute({ codes: MIRA });
      expect(await second.prepare()).toMatchObject({ created: 0, replaced: 1, elsewhere: 0 });
      const { rows } = await sql`
      select a.job = ${first.job} as "isFirst", a.outcome, e.state, e.job = ${second.job} as "isOfSecond"
      from intake.attributions a left join ledger.entries e using (entry_id) where a.source = ${shop.source} order by 1`.execute(
        database(),
      );
      expect(rows).toEqual([
        { isFirst: false, outcome: 'attributed', state: 'ready', isOfSecond: true },
        { isFirst: true, outcome: 'unattributed', state: null, isOfSecond: null },
      ]);
    },
  );

  test('can be taken over by another source if the first one excludes the unsent order', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    const context = await newContext([one, two]);
    await one.read({ orders: [mira('1')] });
    await context.attribute({ codes: MIRA });
    await context.prepare();
    await one.read({ orders: [mira('1', { exclusion: 'test' })] });
    await context.attribute();
    await context.prepare();
    await two.read({ orders: [mira('1', { total: '11.00' })] });
    await context.attribute();
    expect(await context.prepare()).toMatchObject({ replaced: 1, elsewhere: 0 });
    expect(await entries(context)).toMatchObject([{ state: 'ready', amount: '11.0000' }]);
  });

  test('stop the run if the platform name of known orders changes, because they would be sent again', async () => {
    const context = await contextWithEntry();
    await context.read({ orders: [mira('1', { total: '7.00' }), mira('2')] });
    await context.attribute();
    const renamed = prepareEntries(context.db, {
      job: context.job,
      runId: context.runId,
      accountId: ACCOUNT,
      brandId: '1',
      orderPlatformBySource: { [context.source]: 'renamed' },
      orderNotes: 'ours',
    });
    const platform = `platform of ${context.job}`;
    await expect(renamed).rejects.toMatchObject({
      message: `The ledger knows orders of source ${context.source} with order_platform ${platform}; it is now renamed.`,
      details: {
        code: 'order_platform_changed',
        exitCode: 2,
        help: `Set it back to ${platform}. For another shop, add another source.`,
        safe: 'Nothing was sent under the new name, because the service would credit the orders again.',
      },
    });
    const blank = orderPlatformChanged({ source: 'shop', before: null, now: 'shopify' });
    expect([blank.message, blank.details.help]).toEqual([
      'The ledger knows orders of source shop with order_platform blank; it is now shopify.',
      'Set it back to its previous value. For another shop, add another source.',
    ]);
    expect(await entries(context)).toHaveLength(1);
  });

  test('stop the run if the brand of a job changes that has posted orders, because all would be taken back', async () => {
    const context = await newContext(undefined, { brandId: '77' });
    const now = { brandId: '78' };
    await context.read({ orders: [mira('1'), mira('2')] });
    await context.attribute({ codes: 'MIRA,77,mira,D1,,,' });
    await context.prepare();
    const accept = (orderId: string) =>
      sql`
        update ledger.entries set state = 'accepted', attempt = 1, deal_id = 'D1'
        where job = ${context.job} and order_id = ${orderId}`.execute(context.db);
    // What waits for the first brand, or was refused there, is no reason.
    await context.attribute(now);
    expect(await context.prepare(now)).toMatchObject({ withdrawn: 2, adjustments: 0 });
    await context.attribute();
    await context.prepare();
    await accept('1');
    await context.attribute(now);
    await expect(context.prepare(now)).rejects.toMatchObject({
      message: `${context.job} has posted 1 order for brand 77; its brand_id is now 78.`,
      details: {
        code: 'brand_changed',
        exitCode: 2,
        help: 'Set it back to 77. For orders of another brand, add another job with a source of its own.',
      },
    });
    expect(await adjustments(context)).toEqual([]);
    // A job that has posted for both went on before there was this rule.
    await sql`update ledger.entries set brand_id = '78' where job = ${context.job} and order_id = '2'`.execute(
      context.db,
    );
    await accept('2');
    expect(await context.prepare(now)).toMatchObject({ adjustments: 2 });
  });
});

async function evidence(
  context: Context,
  { orderId, platform }: { orderId: string; platform: string | null },
): Promise<void> {
  await sql`
    insert into ledger.evidence (kind, order_platform, order_id, body_sha256)
    values ('webhook_order', ${platform}, ${orderId}, ${`${context.job} ${orderId}`})`.execute(context.db);
}
