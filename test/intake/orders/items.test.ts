import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { OrderItem, StagedOrder } from '../../../src/core/order.ts';
import { NEWEST } from '../../../src/intake/files/source-ages.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { ENGINES, openShop, order, rejection, type Shop, useDatabase } from '../story.ts';

const [SERVER] = ENGINES;

/** An order with these items, whose amounts are its total. */
function withItems(
  orderId: string,
  items: Readonly<Record<string, number>>,
  given: Partial<StagedOrder> = {},
): StagedOrder {
  const amounts = Object.entries(items);
  const total = amounts.reduce((sum, [, amount]) => sum + amount, 0).toFixed(2);
  const listed = amounts
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, amount]): OrderItem => [id, amount.toFixed(2), null, null]);
  const said = { total, subtotal: null, rowCount: Math.max(1, amounts.length), ...given };
  return { ...order(orderId, said), items: listed };
}

describe('items of orders', () => {
  const database = useDatabase(SERVER);
  const sums = { sums: true };

  test('of several files add up, and an item counts as it was stated last', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [withItems('1', { x: 20 }), withItems('2', { y: 5 })] }, sums);
    expect(await shop.read({ orders: [withItems('1', { z: 30 })] }, sums)).toMatchObject({
      ordersChanged: 1,
    });
    expect(await statesOf(shop)).toEqual(['1 50.0000 - x,z', '2 5.0000 - y']);
    // Each part again, and all of them, change nothing.
    for (const items of [{ x: 20 }, { z: 30 }, { x: 20, z: 30 }])
      expect(await shop.read({ orders: [withItems('1', items)] }, sums)).toMatchObject({
        ordersChanged: 0,
        ordersUnchanged: 1,
        orderRows: Object.keys(items).length,
      });
    expect(await shop.read({ orders: [withItems('1', { x: 12 })] }, sums)).toMatchObject({
      ordersChanged: 1,
    });
    expect(await statesOf(shop)).toEqual(['1 42.0000 - x,z', '2 5.0000 - y']);
  });

  test('in distant rows are added up once, and contradict each other if their amounts differ', async () => {
    const shop = await openShop(database());
    const parts = [
      { x: 20, y: 1 },
      { y: 1, z: 30 },
      { x: 20, y: 1 },
    ];
    await shop.read(
      parts.map((items) => ({ orders: [withItems('1', items)] })),
      sums,
    );
    expect(await statesOf(shop)).toEqual(['1 51.0000 - x,y,z']);
    const sealed = await shop.read(
      [{ orders: [withItems('1', { x: 20 })] }, { orders: [withItems('1', { x: 21 })] }],
      sums,
    );
    expect(sealed).toMatchObject({ rejectedRows: 2 });
    expect(await statesOf(shop)).toEqual(['1 51.0000 newer_row_rejected x,y,z']);
    // A part may not be the one that was rejected. A decision about the doubt ends with the next rejected row.
    const digests = new Set<string | undefined>();
    for (const value of ['1', '2']) {
      await shop.read({ rejected: [{ ...rejection(), value, orderId: '1', orderName: null }] }, sums);
      for (const x of [31, 30]) await shop.read({ orders: [withItems('1', { x })] }, sums);
      const { rows } = await sql<{ digest: string }>`
        select content_hash as digest from intake.orders where source = ${shop.source} and is_current`.execute(
        shop.db,
      );
      digests.add(rows[0]?.digest);
      expect(await statesOf(shop)).toEqual(['1 61.0000 newer_row_rejected x,y,z']);
    }
    expect(digests.size).toBe(2);
    await shop.read({ orders: [withItems('1', { x: 30, y: 1, z: 30 })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 61.0000 - x,y,z']);
  });

  test('that are known, and occur in two places of a file, are the same', async () => {
    const shop = await openShop(database());
    const parts = () => [{ orders: [withItems('1', { x: 20 })] }, { orders: [withItems('1', { x: 20 })] }];
    await shop.read({ orders: [withItems('1', { x: 20 })] }, sums);
    expect(await shop.read(parts(), sums)).toMatchObject({
      ordersChanged: 0,
      ordersUnchanged: 1,
      orderRows: 2,
    });
    expect(await statesOf(shop)).toEqual(['1 20.0000 - x']);
  });

  test('do not end the doubt of an order of which a row is missing', async () => {
    const shop = await openShop(database());
    await shop.read(
      { orders: [withItems('1', { x: 20 })], missing: [{ groupKey: '#1', isCertain: true }] },
      sums,
    );
    await shop.read({ orders: [withItems('1', { y: 30 })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 50.0000 incomplete x,y']);
    await shop.read({ orders: [withItems('1', { x: 20, y: 30 })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 50.0000 - x,y']);
  });

  test('give the same order, however they are split over files and batches', async () => {
    const items = { a: 10, b: 20, c: 0.5, d: 7 };
    const parts = fc.array(fc.subarray(Object.entries(items), { minLength: 1 }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { minLength: 1, maxLength: 3 }), async (files) => {
        const shop = await openShop(database());
        const all = [...files, [Object.entries(items)]];
        for (const batches of all)
          await shop.read(
            batches.map((part) => ({ orders: [withItems('1', Object.fromEntries(part))] })),
            sums,
          );
        expect(await statesOf(shop)).toEqual(['1 37.5000 - a,b,c,d']);
      }),
      { numRuns: propertyRuns(10) },
    );
  });

  test('without ids are in doubt if distant rows are equal', async () => {
    const shop = await openShop(database());
    const twice = () => [{ orders: [order('1')] }, { orders: [order('1')] }];
    await shop.read(twice(), sums);
    expect(await statesOf(shop)).toEqual(['1 20.0000 may_be_repeated -']);
    // The correct file ends it, and the same rows twice are in doubt again.
    await shop.read({ orders: [order('1')] }, sums);
    expect(await statesOf(shop)).toEqual(['1 10.0000 - -']);
    await shop.read(twice(), sums);
    expect(await statesOf(shop)).toEqual(['1 20.0000 may_be_repeated -']);
  });

  test('without ids are in doubt if another file states fewer rows, or another single row', async () => {
    const shop = await openShop(database());
    const first = [
      order('1', { total: '20.00' }),
      order('2', { total: '50.00', rowCount: 3 }),
      order('3', { total: '0.00' }),
    ];
    await shop.read({ orders: first }, sums);
    const second = () => [
      order('1', { total: '30.00' }),
      order('2', { total: '30.00', rowCount: 2 }),
      order('3'),
    ];
    await shop.read({ orders: second() }, sums);
    expect(await statesOf(shop)).toEqual([
      '1 30.0000 may_be_split -',
      '2 30.0000 may_be_split -',
      '3 10.0000 - -',
    ]);
    // Neither part alone ends the doubt. A file with more rows does.
    await shop.read({ orders: second() }, sums);
    expect(await statesOf(shop)).toEqual([
      '1 30.0000 may_be_split -',
      '2 30.0000 may_be_split -',
      '3 10.0000 - -',
    ]);
    const whole = [order('1', { total: '50.00', rowCount: 2 }), order('2', { total: '80.00', rowCount: 5 })];
    await shop.read({ orders: whole }, sums);
    expect(await statesOf(shop)).toEqual(['1 50.0000 - -', '2 80.0000 - -', '3 10.0000 - -']);
  });

  /** The amount that each file states of one order, and in how many rows; and whether it may be only a part then. */
  type Story = readonly (readonly [total: string, rowCount: number, doubt?: 'may_be_split'])[];

  test.each<readonly [string, Story]>([
    [
      'a refund of a part, and then the whole',
      [
        ['499.80', 1],
        ['-99.96', 1, 'may_be_split'],
        ['399.84', 2],
      ],
    ],
    [
      'another refund of an order in two rows, and then the whole',
      [
        ['932.96', 2],
        ['-119.00', 1, 'may_be_split'],
        ['813.96', 3],
      ],
    ],
    [
      'two refunds in one file',
      [
        ['932.96', 2],
        ['-119.00', 2, 'may_be_split'],
        ['813.96', 4],
      ],
    ],
    [
      'refunds in several files, a whole that lacks the second one, and the whole',
      [
        ['499.80', 1],
        ['-99.96', 1, 'may_be_split'],
        ['-50.00', 1, 'may_be_split'],
        ['-50.00', 1, 'may_be_split'],
        ['-349.84', 1, 'may_be_split'],
        ['399.84', 2, 'may_be_split'],
        ['0.00', 4],
      ],
    ],
    [
      'one refund of everything, and then the whole',
      [
        ['1428.00', 1],
        ['-1428.00', 1],
        ['0.00', 2],
      ],
    ],
    [
      'one refund of everything, and then the first rows again',
      [
        ['932.96', 2],
        ['-932.96', 1],
        ['932.96', 2, 'may_be_split'],
      ],
    ],
    [
      'a refund of an order that was in no file',
      [
        ['-99.96', 1],
        ['499.80', 1, 'may_be_split'],
        ['399.84', 2],
      ],
    ],
    [
      'only the free items',
      [
        ['100.00', 3],
        ['0.00', 1, 'may_be_split'],
        ['100.00', 3],
      ],
    ],
    [
      'the first row of an order that was refunded',
      [
        ['0.00', 2],
        ['50.00', 1, 'may_be_split'],
        ['0.00', 2],
      ],
    ],
    [
      'one part, and then a longer one',
      [
        ['80.00', 4],
        ['20.00', 1, 'may_be_split'],
        ['40.00', 2, 'may_be_split'],
        ['80.00', 4],
      ],
    ],
  ])('without ids are the whole order only if no file shows that some are missing: %s', async (_, story) => {
    const shop = await openShop(database());
    for (const [total, rowCount, doubt = '-'] of story) {
      await shop.read({ orders: [order('1', { total, rowCount })] }, sums);
      expect(await statesOf(shop)).toEqual([`1 ${total}00 ${doubt} -`]);
    }
  });

  test('of a refund keep the time at which the order was placed, if they say none', async () => {
    const shop = await openShop(database());
    const placedAt = '2026-04-10T09:00:00Z';
    for (const [total, said] of [
      ['100.00', placedAt],
      ['-20.00', null],
      ['-5.00', null],
    ] as const)
      await shop.read({ orders: [order('1', { total, placedAt: said, paidAt: null })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 -5.0000 may_be_split -']);
    const { rows } = await sql<{ placed_at: Date }>`
      select placed_at from intake.orders where source = ${shop.source} and is_current`.execute(shop.db);
    expect(rows.map((row) => new Date(row.placed_at).toISOString())).toEqual(['2026-04-10T09:00:00.000Z']);
  });

  test('of a part keep what it leaves blank: a refund has neither code nor owner nor time', async () => {
    const shop = await openShop(database());
    const blank = { placedAt: null, paidAt: null, codes: [], status: null, orderName: null };
    const said = {
      codes: ['MIRA'],
      status: 'paid',
      orderName: '#1',
      exclusion: 'test',
      influencerHandle: 'mira',
    };
    await shop.read(
      { orders: [withItems('1', { x: 100 }, said), order('2', { ...said, total: '100.00' })] },
      sums,
    );
    const refunds = () => [withItems('1', { y: -20 }, blank), order('2', { ...blank, total: '-20.00' })];
    for (let times = 1; times <= 2; times += 1)
      expect(await shop.read({ orders: refunds() }, sums)).toMatchObject({
        ordersChanged: times === 1 ? 2 : 0,
      });
    const { rows } = await sql<{ said: unknown }>`
      select jsonb_build_array(total, codes, codes_folded, status, order_name, exclusion, influencer_handle, placed_at is null) as said
      from intake.orders where source = ${shop.source} and is_current order by order_id`.execute(shop.db);
    const kept = [['MIRA'], ['mira'], 'paid', '#1', 'test', 'mira', false];
    expect(rows.map((row) => row.said)).toEqual([
      [80, ...kept],
      [-20, ...kept],
    ]);
    // What is stated counts, and the whole order stands for itself.
    await shop.read({ orders: [withItems('1', { z: -1 }, { ...blank, codes: ['LEA'] })] }, sums);
    await shop.read({ orders: [withItems('1', { x: 100, y: -20, z: -1 }, { ...blank, codes: [] })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 79.0000 - x,y,z', '2 -20.0000 may_be_split -']);
  });

  test('of a refund are a part also if the whole is no longer kept, or came to an unknown amount', async () => {
    const shop = await openShop(database());
    const whole = [order('1', { total: '100.00' }), order('2', { total: null, subtotal: null })];
    await shop.read({ orders: whole }, sums);
    const refunds = (total: string) => ({ orders: [order('1', { total }), order('2', { total })] });
    await shop.read(refunds('-20.00'), sums);
    await sql`delete from intake.orders where source = ${shop.source} and not is_current`.execute(shop.db);
    await shop.read(refunds('-5.00'), sums);
    expect(await statesOf(shop)).toEqual(['1 -5.0000 may_be_split -', '2 -5.0000 may_be_split -']);
  });

  test('are in doubt if a refund states the id of another row, since no amount paid is less than zero', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [withItems('1', { x: 100 })] }, sums);
    await shop.read({ orders: [withItems('1', { x: -20 })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 -20.0000 may_be_split x']);
    await shop.read({ orders: [withItems('1', { x: 100, y: -20 })] }, sums);
    expect(await statesOf(shop)).toEqual(['1 80.0000 - x,y']);
  });

  test('of an older file are not hidden by a refund of the order that was read first', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { total: '-99.96' })] }, sums);
    const { rows } = await sql<{ id: string }>`
      select source_file_id as id from intake.source_files where source = ${shop.source}`.execute(shop.db);
    const others = { ...NEWEST, newer: rows.map(({ id }) => id) };
    await shop.read({ orders: [order('1', { total: '499.80' })] }, { ...sums, others });
    expect(await statesOf(shop)).toEqual(['1 499.8000 conflicting_states -']);
  });
});

/** Returns the current orders of a source as `id total doubt items`. */
async function statesOf({ db, source }: Shop): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', order_id, total, coalesce(doubt, '-'),
      coalesce((select string_agg(item ->> 0, ',') from jsonb_array_elements(items) item), '-')) as said
    from intake.orders where source = ${source} and is_current order by order_id`.execute(db);
  return rows.map(({ said }) => said);
}
