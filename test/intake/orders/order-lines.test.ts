import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { OrderLine } from '../../../src/core/order.ts';
import { continuation, openShop, order, rejectedRows, type Shop, useDatabase } from '../story.ts';

const database = useDatabase('a Postgres server');

const A: readonly OrderLine[] = [['a', '10.00']];
const B: readonly OrderLine[] = [['b', '5.00']];
const AB: readonly OrderLine[] = [...A, ...B];

/** Returns the lines of the current version of each order, and its number of versions. */
async function linesIn({ db, source }: Shop) {
  const { rows } = await sql<{ order_id: string; lines: unknown; versions: string }>`
    select order_id, (array_agg(lines) filter (where is_current))[1] as lines, count(*) as versions
    from intake.orders where source = ${source} group by order_id order by order_id`.execute(db);
  return rows.map(({ order_id, lines, versions }) => [order_id, lines, Number(versions)]);
}

it('an export that contains lines for the first time adds them to a known order, and an export without lines removes none', async () => {
  const shop = await openShop(database());
  await shop.read({ orders: [order('1'), order('2')] });
  const told = await shop.read({ orders: [order('1', { lines: AB }), order('2')] });
  expect(told).toMatchObject({ ordersChanged: 1, ordersUnchanged: 1 });
  expect(await linesIn(shop)).toEqual([
    ['1', AB, 2],
    ['2', null, 1],
  ]);
  const again = await shop.read({ orders: [order('1'), order('2')] });
  expect(again).toMatchObject({ ordersChanged: 0, ordersUnchanged: 2 });
  const same = await shop.read({ orders: [order('1', { lines: AB })] });
  expect(same).toMatchObject({ ordersChanged: 0, ordersUnchanged: 1 });
  expect(await linesIn(shop)).toMatchObject([
    ['1', AB, 2],
    ['2', null, 1],
  ]);
});

it('other products for the same amount are a new version of an order', async () => {
  const shop = await openShop(database());
  await shop.read({ orders: [order('1', { lines: A })] });
  expect(await shop.read({ orders: [order('1', { lines: B })] })).toMatchObject({ ordersChanged: 1 });
  expect(await linesIn(shop)).toEqual([['1', B, 2]]);
});

it('a changed order in an export without lines has unknown lines, not the previous ones', async () => {
  const shop = await openShop(database());
  await shop.read({ orders: [order('1', { lines: A })] });
  await shop.read({ orders: [order('1', { total: '7.00' })] });
  expect(await linesIn(shop)).toEqual([['1', null, 2]]);
});

it('an order with distant rows has unknown lines, and lines never cause a contradiction', async () => {
  const shop = await openShop(database());
  await shop.read([{ orders: [order('1', { lines: A })] }, { orders: [order('1', { lines: B })] }]);
  expect(await linesIn(shop)).toEqual([['1', null, 1]]);
  // The rows are again in separate batches, but the first part matches the known order.
  await shop.read({ orders: [order('2', { lines: A })] });
  const apart = await shop.read([
    { orders: [order('2', { lines: A })] },
    { orders: [order('2', { lines: B })] },
  ]);
  expect(apart).toMatchObject({ kind: 'sealed', rejectedRows: 0 });
  await shop.read([{ orders: [order('3', { lines: A })] }, { continuations: [continuation('3')] }]);
  expect(await rejectedRows(shop)).toEqual([]);
  expect(await linesIn(shop)).toEqual([
    ['1', null, 1],
    ['2', A, 1],
    ['3', null, 1],
  ]);
});

it('an order that is summed over distant rows has unknown lines', async () => {
  const shop = await openShop(database());
  await shop.read([{ orders: [order('1', { lines: A })] }, { orders: [order('1', { lines: B })] }], {
    sums: true,
  });
  expect(await linesIn(shop)).toEqual([['1', null, 1]]);
});
