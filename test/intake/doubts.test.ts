import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type MissingRow, type StagedOrder, UNKNOWN_AGE } from '../../src/core/order.ts';
import type { Database } from '../../src/db/connect.ts';
import { NEWEST } from '../../src/intake/files/source-ages.ts';
import { prune } from '../../src/privacy/prune.ts';
import { listRejected } from '../../src/reports/files/list-rejected.ts';
import {
  currentOrders,
  doubtsOf,
  ENGINES,
  openShop,
  order,
  rejection,
  type Shop,
  useDatabase,
} from './story.ts';

describe.each(ENGINES)('an order in doubt on %s', (engine) => {
  const database = useDatabase(engine);

  test.each([false, true])(
    'stays in doubt until an export states it without one (sums: %s)',
    async (sums) => {
      const shop = await openShop(database());
      await shop.read({ orders: [order('1', { doubt: 'incomplete' }), order('2')] }, { sums });
      expect(await doubtsOf(shop)).toEqual(['1 incomplete', '2 -']);
      expect(await shop.read({ orders: [order('1'), order('2')] }, { sums })).toMatchObject({
        ordersChanged: 1,
        ordersUnchanged: 1,
      });
      expect(await doubtsOf(shop)).toEqual(['1 -', '2 -']);
    },
  );

  test.each([false, true])('is unchanged if it otherwise equals the known order (sums: %s)', async (sums) => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1'), order('2')] }, { sums });
    const doubted = {
      orders: [order('1', { doubt: 'may_be_cut' }), order('2', { total: '4.00', doubt: 'may_be_cut' })],
    };
    expect(await shop.read(doubted, { sums })).toMatchObject({ ordersChanged: 1, ordersUnchanged: 1 });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 may_be_cut']);
  });

  test('stays in doubt when distant rows are added that are not', async () => {
    const shop = await openShop(database());
    await shop.read([{ orders: [order('1')] }, { orders: [order('1', { doubt: 'incomplete' })] }], {
      sums: true,
    });
    expect(await doubtsOf(shop)).toEqual(['1 incomplete']);
  });

  test('that was added up by an earlier version is unchanged if it is added up again', async () => {
    const shop = await openShop(database());
    const parts = () => [{ orders: [order('1')] }, { orders: [order('1', { total: '4.00' })] }];
    await shop.read(parts(), { sums: true });
    // The digest as version 0.2.0 computes it.
    const { rows } = await sql<{ is_equal: boolean }>`
      select content_hash = 'sum:' || md5(jsonb_build_array(group_key, currency, exclusion, total, subtotal, refunded, order_name,
        status, influencer_handle, deal_id, collab_id, brand_id, placed_at, paid_at, cancelled_at, codes, links)::text) as is_equal
      from intake.orders where source = ${shop.source}`.execute(shop.db);
    expect(rows).toEqual([{ is_equal: true }]);
    expect(await shop.read(parts(), { sums: true })).toMatchObject({ ordersUnchanged: 1, ordersChanged: 0 });
  });
});

describe.each(ENGINES)('an order whose id another order has on %s', (engine) => {
  const database = useDatabase(engine);
  const placed = (month: number, given: Partial<StagedOrder> = {}) =>
    order('1', { placedAt: `2026-0${month}-02T09:00:00Z`, ...given });

  test('stays in force and is in doubt until a person decides or a file states it again', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [placed(1, { total: '24.50' })] });
    const digests = new Set<string | undefined>();
    for (const month of [2, 3]) {
      const other = { orders: [placed(month, { total: '55.00' })] };
      expect(await shop.read(other)).toMatchObject({ ordersChanged: 1, ordersOlder: 0 });
      expect(await currentOrders(shop)).toEqual(['1 24.5']);
      expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id']);
      digests.add(await digestOf(shop, '1'));
      // The same order again says nothing new, so that a decision holds.
      expect(await shop.read(other)).toMatchObject({ ordersChanged: 0, ordersUnchanged: 1 });
    }
    expect(digests.size).toBe(2);
    await shop.read({ orders: [placed(1, { total: '20.00' })] });
    expect(await currentOrders(shop)).toEqual(['1 20']);
    expect(await doubtsOf(shop)).toEqual(['1 -']);
    await shop.read({ orders: [order('1', { placedAt: null, total: '19.00' })] });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });

  test('is in doubt at another time, unless its customer or a time zone explains it', async () => {
    const shop = await openShop(database());
    const [person, other] = [
      '00000000-0000-4000-8000-000000000001',
      '00000000-0000-4000-8000-000000000002',
    ] as const;
    const known = { placedAt: '2026-04-10T09:12:30Z', codes: ['EMMA15'], customerKey: person };
    const cases: readonly (readonly [string, Partial<StagedOrder>, string])[] = [
      ['another total', { placedAt: '2026-04-10T13:20:05Z', total: '12.00' }, 'other_order_same_id'],
      ['another code', { placedAt: '2026-04-10T09:10:00Z', codes: ['LEO20'] }, 'other_order_same_id'],
      ['another person', { placedAt: '2026-04-10T13:20:05Z', customerKey: other }, 'other_order_same_id'],
      ['only the time', { placedAt: '2026-04-10T13:20:05Z', total: '10.0', refunded: '1.00' }, '-'],
      ['an edit', { total: '12.00', codes: [] }, '-'],
      ['an edit, without seconds', { placedAt: '2026-04-10T09:12:00Z', total: '12.00' }, '-'],
      ['an edit, in the zone of the next one', { placedAt: '2026-04-10T14:57:30Z', total: '12.00' }, '-'],
      ['only another zone', { placedAt: '2026-04-10T14:57:00Z' }, '-'],
      [
        'an edit, in a zone of no other one',
        { placedAt: '2026-04-10T11:12:30Z', total: '12.00' },
        'other_order_same_id',
      ],
      [
        'an edit, further away than zones',
        { placedAt: '2026-04-11T09:12:30Z', total: '12.00' },
        'other_order_same_id',
      ],
      ['only a zone of no other one', { placedAt: '2026-04-10T06:12:30Z' }, '-'],
      ['a refund', { placedAt: '2026-04-10T13:20:05Z', total: '-1.00' }, '-'],
      ['a total that is not stated', { placedAt: '2026-04-10T13:20:05Z', total: null }, '-'],
    ];
    const ids = cases.map((_, at) => String(at + 1));
    const given = (at: number) => ({ customerKey: person, codes: known.codes, ...cases[at]?.[1] });
    await shop.read({ orders: ids.map((id) => order(id, known)) });
    await shop.read({ orders: ids.map((id, at) => order(id, { placedAt: known.placedAt, ...given(at) })) });
    expect(await doubtsOf(shop)).toEqual(cases.map(([, , doubt], at) => `${at + 1} ${doubt}`).sort());
    // The next export states days alone, which begin at any quarter of an hour.
    const edits = cases.flatMap(([what], at) =>
      what.startsWith('an edit') && at < 8 ? [ids[at] ?? ''] : [],
    );
    await shop.read({
      orders: edits.map((id) => order(id, { placedAt: '2026-04-09T22:00:00Z', total: '13.00' })),
    });
    expect(await currentOrders(shop)).toEqual(expect.arrayContaining(edits.map((id) => `${id} 13`)));
  });

  test('is in doubt at other minutes if nothing says that the customer is the same', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { placedAt: '2026-04-10T09:12:30Z' })] });
    await shop.read({ orders: [order('1', { placedAt: '2026-04-10T13:20:05Z' })] });
    expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id']);
  });

  test('is in doubt at another time, also if the orders of one file were placed at quarters of an hour', async () => {
    const shop = await openShop(database());
    const at = (time: string) => ({ placedAt: `2026-04-${time}:00Z` });
    await shop.read({ orders: [order('1', at('10T12:00')), order('2', at('10T12:15'))] });
    await shop.read({ orders: [order('1', { ...at('11T09:37'), total: '55.00' })] });
    expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id', '2 -']);
    // Midnights on both sides of the end of summer time are days.
    await shop.read({ orders: [order('3', at('12T22:00')), order('4', at('13T23:00'))] });
    await shop.read({ orders: [order('3', { ...at('13T09:37'), total: '55.00' })] });
    expect(await currentOrders(shop)).toContain('3 55');
  });

  test.each([
    ['of another purchase, a zone later', '10T11:00', { total: '55.00' }, '1 other_order_same_id'],
    ['of another purchase, on another day', '11T00:00', { total: '55.00' }, '1 other_order_same_id'],
    ['with another code', '10T17:45', { codes: ['LEO20'] }, '1 other_order_same_id'],
    ['of the same purchase, whose day it may be', '10T00:00', {}, '1 -'],
  ])('is in doubt at a quarter of an hour, alone in its file: %s', async (_, time, given, doubt) => {
    const shop = await openShop(database());
    await shop.read({
      orders: [order('1', { placedAt: '2026-04-10T09:07:31Z' }), order('2', { total: '9.00' })],
    });
    await shop.read({ orders: [order('1', { placedAt: `2026-04-${time}:00Z`, ...given })] });
    expect(await doubtsOf(shop)).toEqual([doubt, '2 -']);
    // Nor does the other one say whether it was placed on a day or at a time.
    await shop.read({ orders: [order('3', { placedAt: '2026-04-10T09:00:00Z' })] });
    await shop.read({ orders: [order('3', { placedAt: '2026-04-10T14:07:31Z', ...given })] });
    expect(await doubtsOf(shop)).toEqual([doubt, '2 -', doubt.replace('1', '3')]);
  });

  test('is in doubt if exports of days state it on another day', async () => {
    const shop = await openShop(database());
    const on = (day: number, total: string) => ({
      orders: ['1', '2'].map((id) => order(id, { placedAt: `2026-04-${day}T22:00:00Z`, total })),
    });
    await shop.read(on(10, '10.00'));
    await shop.read(on(11, '77.00'));
    expect(await currentOrders(shop)).toEqual(['1 10', '2 10']);
    expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id', '2 other_order_same_id']);
    // A file with one order does not show that it states times.
    for (const [first, then] of [
      [['3', '4'], ['3']],
      [['5'], ['5', '6']],
      [['7'], ['7']],
    ] as const) {
      const of = (ids: readonly string[], day: number) =>
        ids.map((id) => order(id, { placedAt: `2026-04-${day}T22:00:00Z` }));
      await shop.read({ orders: of(first, 10) });
      await shop.read({ orders: of(then, 11) });
      expect(await doubtsOf(shop)).toContain(`${then[0]} other_order_same_id`);
    }
  });

  test.each([
    ['an older file', {}, (newer: readonly string[]) => ({ others: { ...NEWEST, newer } })],
    [
      'a row that changed later',
      { changedAt: '2026-04-10T10:00:00Z' },
      () => ({ others: { ...NEWEST, isByRow: true } }),
    ],
    ['items', { items: [['b', '10.00', null, null]] as const }, () => ({ sums: true })],
  ])('is in doubt whichever says otherwise: %s', async (_title, given, options) => {
    const shop = await openShop(database());
    const first = { ...given, ...('changedAt' in given ? { changedAt: '2026-04-10T09:00:00Z' } : {}) };
    const items = 'items' in given ? { items: [['a', '24.50', null, null]] as const } : {};
    await shop.read({ orders: [placed(2, { total: '24.50', ...first, ...items })] }, options([]));
    await shop.read({ orders: [placed(1, given)] }, options(await filesOf(shop)));
    expect(await currentOrders(shop)).toEqual(['1 24.5']);
    expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id']);
  });

  test.each([true, false])('contradicts it within one file (amounts add up: %s)', async (sums) => {
    const shop = await openShop(database());
    const hours = [9, 10].map((hour) => ({ changedAt: `2026-04-10T${hour}:00:00Z`.replace('T9', 'T09') }));
    const rows = hours.map((hour, at) => ({ orders: [placed(at + 1, sums ? {} : hour)] }));
    expect(await shop.read(rows, { sums })).toMatchObject({ rejectedRows: 2, ordersNew: 0 });
  });

  test('is in doubt although a version between them does not say when the order was placed', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [placed(1)] });
    for (const total of ['19.00', '18.00'])
      await shop.read({ orders: [order('1', { placedAt: null, total })] });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
    await shop.read({ orders: [placed(2, { total: '55.00' })] });
    expect(await currentOrders(shop)).toEqual(['1 18']);
    expect(await doubtsOf(shop)).toEqual(['1 other_order_same_id']);
    await shop.read({ orders: [placed(1, { total: '20.00' })] });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });

  test.each([
    [[1, null, 2], { rejectedRows: 3, ordersNew: 0 }],
    [[null, 1, 2], { rejectedRows: 3, ordersNew: 0 }],
    [[1, null, 1], { rejectedRows: 0, ordersNew: 1 }],
  ])('contradicts distant rows of one file, past one that does not say when: %j', async (months, read) => {
    const shop = await openShop(database());
    const parts = months.map((month, at) => {
      const said = { changedAt: `2026-04-1${at}T09:00:00Z` };
      return { orders: [month === null ? order('1', { ...said, placedAt: null }) : placed(month, said)] };
    });
    expect(await shop.read(parts)).toMatchObject(read);
  });

  test('is not in doubt if a second reading of its file corrects the time', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [placed(1)] }, { uri: 'a.csv' });
    await sql`update intake.source_files set reread_at = now() where source = ${shop.source}`.execute(
      shop.db,
    );
    await shop.read({ orders: [placed(2)] }, { uri: 'a.csv' });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });
});

describe.each(ENGINES)('an order whose total fell by just what was refunded on %s', (engine) => {
  const database = useDatabase(engine);

  test('is in doubt until its total is another one, because the total may be what is left', async () => {
    const shop = await openShop(database());
    const steps: readonly (readonly [Partial<StagedOrder>, string])[] = [
      [{ total: '10.00', refunded: '0.00' }, '-'],
      [{ total: '10.00', refunded: '1.00' }, '-'],
      [{ total: '7.00', refunded: '4.00' }, 'refund_in_total'],
      [{ total: '7.00', refunded: '4.00', status: 'shipped' }, 'refund_in_total'],
      [{ total: '10.00', refunded: '4.00' }, '-'],
      [{ total: '8.00', refunded: '7.00' }, '-'],
      [{ total: '0.00', refunded: '15.00' }, '-'],
      [{ total: '4.00', refunded: '11.00', currency: 'USD' }, '-'],
    ];
    for (const [given, doubt] of steps) {
      await shop.read({ orders: [order('1', given)] });
      expect([given, await doubtsOf(shop)]).toEqual([given, [`1 ${doubt}`]]);
    }
  });
});

describe.each(ENGINES)('an order of which a row was rejected on %s', (engine) => {
  const database = useDatabase(engine);
  /** A row that names its order by id or, if it has none, by name. */
  const lost = (orderId: string | null) => ({ ...rejection(), orderId, orderName: '#1' });

  test.each(['1', null])('is in doubt until a newer file states it (id: %s)', async (id) => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1'), order('2')] });
    const bad = { orders: [order('2')], rejected: [lost(id)] };
    expect(await shop.read(bad)).toMatchObject({
      ordersChanged: 1,
      ordersUnchanged: 1,
      orderRows: 1,
      rejectedRows: 1,
    });
    expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected', '2 -']);
    // Another day with the same row says nothing new.
    expect(await shop.read(bad)).toMatchObject({ ordersChanged: 0 });
    // Another row does, and so does the same one after a file that states the order: a decision about the first one ends.
    const digests = [await digestOf(shop, '1')];
    expect(await shop.read({ rejected: [{ ...lost(id), value: '4,5,6' }] })).toMatchObject({
      ordersChanged: 1,
    });
    digests.push(await digestOf(shop, '1'));
    expect(await shop.read({ orders: [order('1')] })).toMatchObject({ ordersChanged: 1 });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -']);
    await shop.read(bad);
    digests.push(await digestOf(shop, '1'));
    expect(new Set(digests).size).toBe(3);
    // Two contradictions are two rows, whatever they have in common.
    for (const line of [7, 8]) {
      const row = { ...lost(id), code: 'conflicting_rows' as const, column: null, value: null };
      const rejected = [{ ...row, reason: `The file states this order again on line ${line}.` }];
      expect(await shop.read({ rejected })).toMatchObject({ ordersChanged: 1 });
    }
  });

  test('keeps a stronger doubt, and a decision about that ends', async () => {
    const shop = await openShop(database());
    const states = (total: string) => shop.read({ orders: [order('1', { total })] }, { sums: true });
    for (const total of ['10.00', '7.00']) await states(total);
    expect(await doubtsOf(shop)).toEqual(['1 may_be_split']);
    const digest = await digestOf(shop, '1');
    await shop.read({ rejected: [lost('1')] }, { sums: true });
    expect(await digestOf(shop, '1')).not.toBe(digest);
    await states('7.00');
    expect(await doubtsOf(shop)).toEqual(['1 may_be_split']);
    await shop.read({ orders: [order('1', { rowCount: 2 })] }, { sums: true });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });

  test('is not in doubt any more once its file is read again without the row, unless another has one', async () => {
    const shop = await openShop(database());
    const uri = `file:///${shop.source}.csv`;
    const rejects = (value: string) => ({ orders: [order('2')], rejected: [{ ...lost('1'), value }] });
    const rereads = async (given: Parameters<Shop['read']>[0]) => {
      await sql`update intake.source_files set reread_at = now() where uri = ${uri} and superseded_by is null`.execute(
        shop.db,
      );
      return shop.read(given, { uri });
    };
    await shop.read({ orders: [order('1'), order('3')] });
    const digest = await digestOf(shop, '1');
    await shop.read(rejects('1'), { uri });
    expect(await rereads(rejects('1'))).toMatchObject({ ordersChanged: 0 });
    expect(await rereads({ orders: [order('2')] })).toMatchObject({ ordersChanged: 1 });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -', '3 -']);
    // Nothing but the doubt has ended: the file does not state the order.
    const late = { ...NEWEST, newer: (await filesOf(shop)).slice(1) };
    await shop.read({ orders: [order('1', { total: '60.00' })] }, { others: late });
    expect(await currentOrders(shop)).toEqual(['1 60', '2 10', '3 10']);
    await shop.read({ orders: [order('1')] });
    expect(await digestOf(shop, '1')).toBe(digest);
    await rereads(rejects('1'));
    await shop.read(rejects('2'));
    await rereads({ orders: [order('2')] });
    expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected', '2 -', '3 -']);
    await shop.read({ orders: [order('1')] });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -', '3 -']);
  });

  test('leaves its earlier rows settled, and the others open until a file states it', async () => {
    const shop = await openShop(database());
    const rejects = (value: string) => shop.read({ rejected: [{ ...lost('1'), value }] });
    await rejects('1');
    // A late file settles nothing: it may be older than the row.
    await shop.read({ orders: [order('1')] }, { others: { ...NEWEST, unordered: await filesOf(shop) } });
    expect(await openRows(shop)).toEqual(['1']);
    await shop.read({ orders: [order('1')] });
    expect(await openRows(shop)).toEqual([]);
    for (const value of ['2', '3']) await rejects(value);
    expect(await openRows(shop)).toEqual(['2', '3']);
    await shop.read({ orders: [order('1')] });
    expect(await openRows(shop)).toEqual([]);
  });

  test('is as old as the file that states it, not as the one with the row', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1')] });
    const [stating] = await filesOf(shop);
    for (const value of ['1,2', '3,4']) await shop.read({ rejected: [{ ...lost('1'), value }] });
    const rejecting = (await filesOf(shop)).filter((id) => id !== stating);
    // Versions of before the columns had all of this in their digests.
    expect(await migratedFromDigests(shop)).toEqual({ isSame: true, versions: 2 });
    await sql`update intake.orders set first_seen_at = now() - interval '1 year' where source = ${shop.source}`.execute(
      shop.db,
    );
    await prune(shop.db, { retention: { ...KEPT, order_versions: 1 }, isDryRun: false, isOver: () => false });
    const late = (total: string, newer: readonly string[]) =>
      shop.read({ orders: [order('1', { total })] }, { others: { ...NEWEST, newer } });
    expect(await late('9.00', [stating ?? ''])).toMatchObject({ ordersOlder: 1, ordersChanged: 0 });
    expect(await late('60.00', rejecting)).toMatchObject({ ordersOlder: 0, ordersChanged: 1 });
    expect(await currentOrders(shop)).toEqual(['1 60']);
    expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected']);
    expect(await late('50.00', await filesOf(shop))).toMatchObject({ ordersOlder: 1, ordersChanged: 0 });
    await shop.read({ orders: [order('1', { total: '60.00' })] });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });

  test.each(['newer', 'unordered'] as const)(
    'is in doubt if an older file arrives later (the rejected row: %s)',
    async (age) => {
      const shop = await openShop(database());
      await shop.read({ orders: [order('2')], rejected: [lost('1')] });
      const others = { ...NEWEST, [age]: await filesOf(shop) };
      const late = { orders: [order('1'), order('3')] };
      expect(await shop.read(late, { others, content: 'same' })).toMatchObject({ ordersNew: 2 });
      expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected', '2 -', '3 -']);
      // The same bytes are another statement if their file is newer.
      expect(await shop.read(late, { content: 'same' })).toMatchObject({ kind: 'sealed', ordersChanged: 1 });
      expect(await doubtsOf(shop)).toEqual(['1 -', '2 -', '3 -']);
    },
  );

  test('is not in doubt if the file with the row is older, or states the order on another row', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1'), order('2')] });
    await shop.read({ rejected: [lost('1')] }, { others: { ...NEWEST, newer: await filesOf(shop) } });
    await shop.read({ orders: [order('1')], rejected: [lost('1')] });
    await shop.read({ orders: [order('1', { total: '11.00' })], rejected: [lost('1')] });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -']);
  });

  test('is in doubt whenever its rows say that it changed last, and a later row of that time ends it', async () => {
    const shop = await openShop(database());
    const others = { ...NEWEST, isByRow: true };
    const stated = { orders: [order('1', { changedAt: '2026-04-10T09:00:00Z' })] };
    await shop.read(stated, { others });
    await shop.read({ rejected: [lost('1')] }, { others });
    expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected']);
    await shop.read(stated, { others });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
    // Another state of that time conflicts, and a rejected row does not change that.
    const other = { orders: [order('1', { total: '7.00', changedAt: '2026-04-10T09:00:00Z' })] };
    for (const given of [{ rejected: [lost('1')] }, other, { rejected: [lost('1')] }, other])
      await shop.read(given, { others });
    expect(await doubtsOf(shop)).toEqual(['1 conflicting_states']);
    await shop.read({ orders: [order('1', { changedAt: '2026-04-10T10:00:00Z' })] }, { others });
    expect(await doubtsOf(shop)).toEqual(['1 -']);
  });

  test('is in doubt because of rows that contradict each other, unless they say that it changed since', async () => {
    const others = { ...NEWEST, isByRow: true };
    const at = (hour: number) => `2026-04-10T${hour}:00:00Z`;
    const inOneBatch = (hour: number) => [{ rejected: [{ ...lost('1'), changedAt: at(hour) }] }];
    const inTwo = (hour: number, other: object = {}) => [
      { orders: [order('1', { total: '7.00', changedAt: at(hour) })] },
      { orders: [order('1', { total: '6.00', changedAt: at(hour), ...other })] },
    ];
    for (const [given, doubt] of [
      [inOneBatch(10), '-'],
      [inOneBatch(11), 'newer_row_rejected'],
      [inOneBatch(12), 'newer_row_rejected'],
      [inTwo(10), '-'],
      [inTwo(11), 'newer_row_rejected'],
      // A number that was used again.
      [
        inTwo(10, { changedAt: '2026-04-10T09:00:00Z', placedAt: '2024-01-01T00:00:00Z' }),
        'newer_row_rejected',
      ],
    ] as const) {
      const shop = await openShop(database());
      await shop.read({ orders: [order('1', { changedAt: at(11) })] }, { others });
      await shop.read(given, { others });
      expect(await doubtsOf(shop)).toEqual([`1 ${doubt}`]);
    }
    // Of an order that does not say when it changed, everything may be newer.
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { changedAt: UNKNOWN_AGE })] }, { others });
    await shop.read(inOneBatch(10), { others });
    expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected']);
  });
});

describe.each(ENGINES)('an order that lacks a row of its file, on %s', (engine) => {
  const database = useDatabase(engine);

  test('is in doubt, wherever its other rows are staged', async () => {
    const shop = await openShop(database());
    const parts = [
      { orders: [order('1'), order('2')], missing: [lacks('4', true)] },
      { orders: [order('3'), order('4')], missing: [lacks('1', true), lacks('2', false), lacks('9', true)] },
    ];
    expect(await shop.read(parts, { sums: true })).toMatchObject({ ordersNew: 4, orderRows: 4 });
    expect(await doubtsOf(shop)).toEqual(['1 incomplete', '2 may_be_incomplete', '3 -', '4 incomplete']);
    expect(await leftBehind(shop)).toBe('0');
  });

  test('stays the known one only if the row is not certain to be its own', async () => {
    const shop = await openShop(database());
    const orders = () => [order('1'), order('2'), order('3')];
    await shop.read({ orders: orders() }, { sums: true });
    const again = { orders: orders(), missing: [lacks('1', true), lacks('2', false)] };
    const counts = { ordersNew: 0, ordersChanged: 1, ordersUnchanged: 2, orderRows: 3 };
    expect(await shop.read(again, { sums: true })).toMatchObject(counts);
    expect(await doubtsOf(shop)).toEqual(['1 incomplete', '2 -', '3 -']);
    // The same again changes nothing, and a file with all rows ends the doubt.
    const unchanged = { ordersChanged: 0, ordersUnchanged: 3, orderRows: 3 };
    expect(await shop.read({ ...again, orders: orders() }, { sums: true })).toMatchObject(unchanged);
    expect(await shop.read({ orders: orders() }, { sums: true })).toMatchObject(counts);
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -', '3 -']);
  });

  test('is any order of the file if distant rows of an order were added up', async () => {
    const shop = await openShop(database());
    const parts = [
      { orders: [order('1'), order('2')], missing: [lacks('2', false)] },
      { orders: [order('1', { total: '4.00' }), order('3')] },
    ];
    await shop.read(parts, { sums: true });
    expect(await doubtsOf(shop)).toEqual([
      '1 may_be_incomplete',
      '2 may_be_incomplete',
      '3 may_be_incomplete',
    ]);
    const other = await openShop(database());
    await other.read(
      { orders: [order('1')], missing: [{ groupKey: null, isCertain: false }] },
      { sums: true },
    );
    expect(await doubtsOf(other)).toEqual(['1 may_be_incomplete']);
  });

  test('is not in doubt if its amounts are not added up, but what was bought is unknown', async () => {
    const shop = await openShop(database());
    const lines = [['hat', '10.00']] as const;
    await shop.read({ orders: [order('1', { lines }), order('2', { lines })], missing: [lacks('1', true)] });
    expect(await doubtsOf(shop)).toEqual(['1 -', '2 -']);
    const { rows } =
      await sql`select order_id from intake.orders where source = ${shop.source} and lines is null`.execute(
        shop.db,
      );
    expect(rows).toEqual([{ order_id: '1' }]);
  });
});

function lacks(orderId: string, isCertain: boolean): MissingRow {
  return { groupKey: `#${orderId}`, isCertain };
}

async function leftBehind({ db, source }: Shop): Promise<string | undefined> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from intake.missing_rows m join intake.source_files f using (source_file_id) where f.source = ${source}`.execute(
    db,
  );
  return rows[0]?.count;
}

async function filesOf({ db, source }: Shop): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select source_file_id as id from intake.source_files where source = ${source} order by 1`.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the values of the rejected rows that no file has settled. */
async function openRows({ db, source }: Shop): Promise<(string | null)[]> {
  const open = await listRejected(db, { sources: [source], isOpen: true });
  const { rows } =
    await sql`select from bi.rejected_rows where source = ${source} and not is_settled`.execute(db);
  expect(rows).toHaveLength(open.length);
  return open.map(({ value }) => value);
}

/** Returns what a person's decision about an order holds for. */
async function digestOf({ db, source }: Shop, orderId: string): Promise<string | undefined> {
  const { rows } = await sql<{ digest: string }>`
    select content_hash as digest from intake.orders where source = ${source} and order_id = ${orderId} and is_current`.execute(
    db,
  );
  return rows[0]?.digest;
}

/** Everything stays. */
const KEPT = {
  order_versions: null,
  rejected_rows: null,
  webhook_events: null,
  run_activity: null,
  notices: null,
};

/** Writes what versions in doubt repeat as digests of before version 0.3.0 did, and runs the migration of these. */
async function migratedFromDigests({ db, source }: Shop) {
  const before = await outdatedOf(db, source);
  await sql`
    update intake.orders
    set content_hash = concat_ws(':', 'outdated', coalesce(rejected_hash, '0'), coalesce(stated_version_id, order_version_id), replaces, stated_hash),
      rejected_hash = null, stated_hash = null, stated_version_id = null
    where source = ${source} and stated_hash is not null`.execute(db);
  const migration = readFileSync('sql/migrations/0107_outdated_versions.sql', 'utf8');
  await sql.raw(migration.slice(migration.lastIndexOf('update'))).execute(db);
  const after = await outdatedOf(db, source);
  return { isSame: isDeepStrictEqual(after, before), versions: after.length };
}

async function outdatedOf(db: Database, source: string) {
  const { rows } = await sql`
    select order_version_id, rejected_hash, stated_hash, stated_version_id from intake.orders
    where source = ${source} and stated_hash is not null order by 1`.execute(db);
  return rows;
}
