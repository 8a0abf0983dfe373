import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import {
  continuation,
  currentOrders,
  doubtsOf,
  ENGINES,
  openShop,
  order,
  rejectedRows,
  rejection,
  useDatabase,
} from './story.ts';

describe.each(ENGINES)('sealing a file on %s', (engine) => {
  const database = useDatabase(engine);

  test('adds a new version of a changed order and keeps the old one', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1'), order('2')] });
    const changed = order('1', { total: '4.00', status: 'partially_refunded' });
    expect(await shop.read({ orders: [changed, order('2'), order('3')] })).toMatchObject({
      ordersNew: 1,
      ordersChanged: 1,
      ordersUnchanged: 1,
      orderRows: 3,
    });
    expect(await currentOrders(shop)).toEqual(['1 4', '2 10', '3 10']);
    const { rows } = await sql<{ total: string; is_current: boolean }>`
      select total, is_current from intake.orders where source = ${shop.source} and order_id = '1'
      order by order_version_id`.execute(shop.db);
    expect(rows).toEqual([
      { total: '10.0000', is_current: false },
      { total: '4.0000', is_current: true },
    ]);
  });

  test('accepts an order that changes back', async () => {
    const shop = await openShop(database());
    const first = order('1');
    await shop.read({ orders: [first] });
    await shop.read({ orders: [order('1', { total: '4.00' })] });
    expect(await shop.read({ orders: [first] })).toMatchObject({ ordersChanged: 1 });
    expect(await currentOrders(shop)).toEqual(['1 10']);
  });

  test('treats the same content under another name as a duplicate and stores none of it', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1')] }, { uri: 'file:///a.csv', content: 'same' });
    expect(
      await shop.read({ orders: [order('2')] }, { uri: 'file:///b.csv', content: 'same' }),
    ).toMatchObject({ kind: 'duplicate', of: { uri: 'file:///a.csv' } });
    expect(await currentOrders(shop)).toEqual(['1 10']);
  });

  test('accepts the same content and the same order IDs from two sources', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    await one.read({ orders: [order('1')] }, { content: 'same' });
    expect(await two.read({ orders: [order('1')] }, { content: 'same' })).toMatchObject({
      kind: 'sealed',
      ordersNew: 1,
    });
  });

  test('adds the rows of an order that occurs again with the same content', async () => {
    const shop = await openShop(database());
    const batches = [{ orders: [order('1', { rowCount: 2 })] }, { orders: [order('1'), order('2')] }];
    expect(await shop.read(batches)).toMatchObject({ ordersNew: 2, orderRows: 4, rejectedRows: 0 });
    // And again when the orders are already known.
    expect(await shop.read(batches.map(({ orders }) => ({ orders: orders.map(again) })))).toMatchObject({
      ordersUnchanged: 2,
      orderRows: 4,
    });
  });

  test.each([
    ['in one batch', (orders: readonly ReturnType<typeof order>[]) => [{ orders }]],
    [
      'in two batches',
      (orders: readonly ReturnType<typeof order>[]) => orders.map((one) => ({ orders: [one] })),
    ],
  ])('rejects an order that contradicts itself %s', async (_where, cut) => {
    const shop = await openShop(database());
    const [first, second] = [order('1', { rowCount: 2 }), order('1', { total: '11.00' })];
    expect(await shop.read(cut([first, second]))).toMatchObject({
      ordersNew: 0,
      orderRows: 0,
      rejectedRows: 3,
    });
    expect(await rejectedRows(shop)).toEqual([`conflicting_rows ${first.line} 3`]);
    expect(await currentOrders(shop)).toEqual([]);
  });

  test.each(['known content first', 'known content last'])(
    'rejects an order with rows that match and rows that contradict the known order, which stays and is in doubt: %s',
    async (which) => {
      const shop = await openShop(database());
      await shop.read({ orders: [order('1'), order('2')] });
      const both = [order('1', { rowCount: 2 }), order('1', { total: '11.00' })];
      if (which === 'known content last') both.reverse();
      const sealed = await shop.read([
        { orders: [...both.slice(0, 1), order('2')] },
        { orders: both.slice(1) },
      ]);
      expect(sealed).toMatchObject({ ordersChanged: 1, ordersUnchanged: 1, orderRows: 1, rejectedRows: 3 });
      expect(await currentOrders(shop)).toEqual(['1 10', '2 10']);
      expect(await doubtsOf(shop)).toEqual(['1 newer_row_rejected', '2 -']);
    },
  );

  test('sums the distant rows of an order if rows are summed', async () => {
    const shop = await openShop(database());
    const parts = [
      { orders: [order('1', { total: '1.50', codes: ['A'] }), order('2', { total: null })] },
      { orders: [order('1', { total: '2.25', codes: ['A', 'B'] })] },
      { orders: [order('1', { total: '2.25', codes: ['A', 'B'] }), order('2', { total: '3.00' })] },
    ];
    expect(await shop.read(parts, { sums: true })).toMatchObject({
      ordersNew: 2,
      orderRows: 5,
      rejectedRows: 0,
    });
    expect(await currentOrders(shop)).toEqual(['1 6', '2 3']);
    expect(await codesOf(shop)).toEqual([['A', 'B'], []]);
  });

  test('includes a first part that equals the known order if rows are summed', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { total: '10.00', codes: ['A'] }), order('2')] }, { sums: true });
    const parts = [
      { orders: [order('1', { total: '10.00', codes: ['A'] }), order('2')] },
      { orders: [order('1', { total: '5.00', codes: ['B'] })] },
    ];
    expect(await shop.read(parts, { sums: true })).toMatchObject({
      ordersChanged: 1,
      ordersUnchanged: 1,
      orderRows: 3,
    });
    expect(await currentOrders(shop)).toEqual(['1 15', '2 10']);
    expect(await codesOf(shop)).toEqual([['A', 'B'], []]);
  });

  test('sums two parts that each equal the known order if rows are summed', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1')] }, { sums: true });
    const parts = [{ orders: [order('1')] }, { orders: [order('1')] }];
    expect(await shop.read(parts, { sums: true })).toMatchObject({
      ordersChanged: 1,
      ordersUnchanged: 0,
      orderRows: 2,
    });
    expect(await currentOrders(shop)).toEqual(['1 20']);
  });

  test('recognizes parts whose sum equals the known order as unchanged if rows are summed', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { total: '15.00', subtotal: '16.00' })] }, { sums: true });
    const parts = [{ orders: [order('1', { total: '10.00' })] }, { orders: [order('1', { total: '5.00' })] }];
    expect(await shop.read(parts, { sums: true })).toMatchObject({
      ordersChanged: 0,
      ordersUnchanged: 1,
      orderRows: 2,
    });
    expect(await currentOrders(shop)).toEqual(['1 15']);
  });

  test('rejects an order with two currencies if rows are summed', async () => {
    const shop = await openShop(database());
    const parts = [{ orders: [order('1')] }, { orders: [order('1', { currency: 'USD' })] }];
    expect(await shop.read(parts, { sums: true })).toMatchObject({ ordersNew: 0, rejectedRows: 2 });
  });

  test('adds continuation rows to their order in the file, before or after them', async () => {
    const shop = await openShop(database());
    const batches = [
      { continuations: [continuation('2', 2)] },
      { orders: [order('1'), order('2')] },
      { continuations: [continuation('1')] },
    ];
    expect(await shop.read(batches)).toMatchObject({ ordersNew: 2, orderRows: 5, rejectedRows: 0 });
  });

  test('adds continuation rows to a known order, and rejects them without an order', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1')] });
    const orphan = continuation('9', 2);
    const sealed = await shop.read([
      { orders: [order('1'), order('2')], continuations: [continuation('1'), orphan] },
    ]);
    expect(sealed).toMatchObject({ ordersNew: 1, ordersUnchanged: 1, orderRows: 3, rejectedRows: 2 });
    expect(await rejectedRows(shop)).toEqual([`orphan_rows ${orphan.line} 2`]);
  });

  test('never adds continuation rows to an order of another source', async () => {
    const [one, two] = [await openShop(database()), await openShop(database())];
    await one.read({ orders: [order('1')] });
    expect(await two.read({ continuations: [continuation('1')] })).toMatchObject({
      orderRows: 0,
      rejectedRows: 1,
    });
  });

  test('holds a file whose rows do not add up', async () => {
    const shop = await openShop(database());
    const held = await shop.read({ orders: [order('1')] }, { rowsRead: 2 });
    expect(held).toMatchObject({ kind: 'held', reason: { code: 'rows_do_not_add_up' } });
    expect(await currentOrders(shop)).toEqual([]);
  });

  test('holds a file with too many rejected rows, unless it is small', async () => {
    const shop = await openShop(database());
    const good = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => order(`${from + at}`));
    const bad = (count: number) => Array.from({ length: count }, () => rejection());
    const within = await shop.read({ orders: good(0, 16), rejected: bad(4) }, { maxRejectedShare: 0.2 });
    expect(within).toMatchObject({ kind: 'sealed' });
    const over = await shop.read({ orders: good(20, 16), rejected: bad(5) }, { maxRejectedShare: 0.2 });
    expect(over).toMatchObject({ kind: 'held', reason: { code: 'too_many_rejected' } });
    expect(JSON.stringify(over)).toContain('bad_money in column Total, 5 rows');
    // Both numbers of the sentence are written alike.
    const many = await shop.read(
      { orders: good(1_000, 200), rejected: bad(1_100) },
      { maxRejectedShare: 0.2 },
    );
    expect(JSON.stringify(many)).toContain('1,100 of 1,300 rows cannot be used');
    const small = await shop.read({ orders: good(40, 1), rejected: bad(6) }, { maxRejectedShare: 0.2 });
    expect(small).toMatchObject({ kind: 'sealed', rejectedRows: 6 });
  });

  test('holds a file with too many cancelled orders, including known ones', async () => {
    const shop = await openShop(database());
    const cancelled = { cancelledAt: '2026-04-11T00:00:00Z', exclusion: 'cancelled' };
    const some = (from: number, count: number, given = {}) =>
      Array.from({ length: count }, (_, at) => order(`${from + at}`, given));
    await shop.read({ orders: some(0, 8, cancelled) });
    const held = await shop.read(
      { orders: [...some(0, 8, cancelled), ...some(50, 5, cancelled), ...some(100, 12)] },
      { maxCancelledShare: 0.5 },
    );
    expect(held).toMatchObject({ kind: 'held', reason: { code: 'too_many_cancelled' } });
    const sealed = await shop.read(
      { orders: [...some(0, 8, cancelled), ...some(50, 4, cancelled), ...some(100, 12)] },
      { maxCancelledShare: 0.5 },
    );
    expect(sealed).toMatchObject({ kind: 'sealed', ordersUnchanged: 8 });
  });

  test('leaves nothing in the staging tables', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1')] });
    await shop.read({ orders: [order('1')], continuations: [continuation('1')] });
    expect(await leftBehind(database(), shop.source)).toEqual({ continuations: '0', sightings: '0' });
  });
});

const again = (known: ReturnType<typeof order>) => order(known.orderId, { rowCount: known.rowCount });

async function codesOf({ db, source }: { db: Database; source: string }): Promise<string[][]> {
  const { rows } = await sql<{ codes: string[] }>`
    select codes from intake.orders where source = ${source} and is_current order by order_id`.execute(db);
  return rows.map(({ codes }) => codes);
}

async function leftBehind(db: Database, source: string) {
  const { rows } = await sql`
    select
      (select count(*) from intake.order_continuations c join intake.source_files f using (source_file_id)
       where f.source = ${source})::text as continuations,
      (select count(*) from intake.unchanged_orders s join intake.source_files f using (source_file_id)
       where f.source = ${source})::text as sightings`.execute(db);
  return rows[0];
}
