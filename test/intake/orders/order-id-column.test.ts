import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { currentOrders, ENGINES, openShop, order, useDatabase } from '../story.ts';

const BY_ID = { orderIdColumn: { name: 'id', isFallback: false } };
const BY_NAME = { orderIdColumn: { name: 'name', isFallback: true } };
const byId = (number: number) => order(`50000${number}`, { groupKey: `#${number}`, orderName: `#${number}` });
const byName = (number: number) => order(`#${number}`, { groupKey: `#${number}`, orderName: `#${number}` });

describe.each(ENGINES)('the column that identifies orders, on %s:', (engine) => {
  const database = useDatabase(engine);

  test.each([
    ['by id, then by name', [byId(1), byId(2)], BY_ID, [byName(2), byName(3)], BY_NAME],
    ['by name, then by id', [byName(1), byName(2)], BY_NAME, [byId(2), byId(3)], BY_ID],
  ] as const)(
    'a file that identifies a known order by another column is held, so that it cannot be credited twice: %s',
    async (_, first, firstBy, second, secondBy) => {
      const shop = await openShop(database());
      await shop.read({ orders: first }, firstBy);
      const before = await currentOrders(shop);
      const sealed = await shop.read({ orders: second }, secondBy);
      expect(sealed).toMatchObject({
        kind: 'held',
        reason: {
          code: 'order_id_column_changed',
          message: expect.stringContaining('1 of its orders is known under another id'),
        },
      });
      expect(await currentOrders(shop)).toEqual(before);
    },
  );

  test('files without a common order both count, and a third file that shares one with the first is held', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [byId(1)] }, BY_ID);
    expect(await shop.read({ orders: [byName(2)] }, BY_NAME)).toMatchObject({ kind: 'sealed' });
    expect(await shop.read({ orders: [byId(2)] }, BY_ID)).toMatchObject({ kind: 'held' });
    expect(await shop.read({ orders: [byId(1), byId(3)] }, BY_ID)).toMatchObject({ kind: 'sealed' });
  });

  test('a file with a translated header has the same order IDs and counts', async () => {
    const shop = await openShop(database());
    const named = (id: string) => order(id, { groupKey: id, orderName: id });
    await shop.read({ orders: [named('71')] }, { orderIdColumn: { name: 'order', isFallback: false } });
    const dutch = { orderIdColumn: { name: 'bestelling', isFallback: true } };
    expect(await shop.read({ orders: [named('71'), named('72')] }, dutch)).toMatchObject({ kind: 'sealed' });
  });

  test('a file with another column is held if its orders have no name to compare', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('71', { orderName: null })] }, BY_ID);
    expect(await shop.read({ orders: [byName(1071)] }, BY_NAME)).toMatchObject({
      kind: 'held',
      reason: { message: expect.stringContaining('cannot be compared') },
    });
  });

  test('a file without orders, or with the same column, is not compared', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('71', { orderName: null })] }, BY_ID);
    expect(await shop.read({ orders: [] }, BY_NAME)).toMatchObject({ kind: 'sealed' });
    expect(await shop.read({ orders: [order('72', { orderName: null })] }, BY_ID)).toMatchObject({
      kind: 'sealed',
    });
  });

  test('files from before the column was stored count as identified by another one only if this file uses a fallback', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [byId(1)] });
    expect(await shop.read({ orders: [byId(2)] }, BY_ID)).toMatchObject({ kind: 'sealed' });
    await sql`update intake.source_files set order_id_column = null where source = ${shop.source}`.execute(
      shop.db,
    );
    expect(await shop.read({ orders: [byName(1)] }, BY_NAME)).toMatchObject({ kind: 'held' });
  });
});
