import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { ENGINES, openShop, order, type Shop, useDatabase } from './story.ts';

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
    const parts = () => [{ orders: [order('1')] }, { orders: [order('1')] }];
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

/** Returns the current orders of a source as `id doubt`. */
async function doubtsOf({ db, source }: Shop): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select order_id || ' ' || coalesce(doubt, '-') as said from intake.orders
    where source = ${source} and is_current order by order_id`.execute(db);
  return rows.map(({ said }) => said);
}
