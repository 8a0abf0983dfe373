import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type StagedOrder, UNKNOWN_AGE } from '../../src/core/order.ts';
import { NEWEST } from '../../src/intake/files/source-ages.ts';
import { currentOrders, openShop, order, type Shop, useDatabase } from './story.ts';

const database = useDatabase('a Postgres server');
const others = { ...NEWEST, isByRow: true };

/** The order as a row states it that says when it last changed, as the hour of a day. */
function at(hour: number | typeof UNKNOWN_AGE, total: string): StagedOrder {
  const changedAt = hour === UNKNOWN_AGE ? UNKNOWN_AGE : `2026-04-10T${String(hour).padStart(2, '0')}:00:00Z`;
  return order('1', { total, changedAt });
}

/** The total in force, and what holds the order. */
async function inForce({ db, source }: Shop): Promise<string> {
  const { rows } = await sql<{ said: string }>`
    select trim_scale(o.total)::text || coalesce(' ' || o.doubt, '') as said from intake.orders o
    where o.source = ${source} and o.is_current`.execute(db);
  expect(rows).toHaveLength(1);
  return rows[0]?.said ?? '';
}

describe('of the rows of an order in several files', () => {
  test('the one that changed last counts, whichever is read last', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [at(9, '9')] }, { others });
    expect(await shop.read({ orders: [at(8, '8')] }, { others })).toMatchObject({
      kind: 'sealed',
      ordersOlder: 1,
      ordersChanged: 0,
    });
    expect(await inForce(shop)).toBe('9');
    expect(await shop.read({ orders: [at(10, '10')] }, { others })).toMatchObject({ ordersChanged: 1 });
    expect(await inForce(shop)).toBe('10');
  });

  test('one that says the same at a later time makes the state as new as itself', async () => {
    const shop = await openShop(database());
    for (const hour of [8, 11]) {
      const sealed = await shop.read({ orders: [at(hour, '8')] }, { others });
      expect(sealed).toMatchObject(hour === 8 ? { ordersNew: 1 } : { ordersUnchanged: 1, ordersChanged: 0 });
    }
    await shop.read({ orders: [at(10, '10')] }, { others });
    expect(await inForce(shop)).toBe('8');
  });

  test('two of one time contradict each other until a newer one states the order', async () => {
    const shop = await openShop(database());
    for (const total of ['8', '10']) await shop.read({ orders: [at(9, total)] }, { others });
    expect(await inForce(shop)).toBe('10 conflicting_states');
    await shop.read({ orders: [at(8, '8')] }, { others });
    expect(await inForce(shop)).toBe('10 conflicting_states');
    await shop.read({ orders: [at(10, '7')] }, { others });
    expect(await inForce(shop)).toBe('7');
  });

  test.each([
    [[at(9, '9'), at(UNKNOWN_AGE, '8')]],
    [[at(UNKNOWN_AGE, '8'), at(9, '9')]],
    [[at(9, '9'), at(UNKNOWN_AGE, '9'), at(10, '10')]],
  ])('one that does not say its age may be newer than any other', async (rows) => {
    const shop = await openShop(database());
    for (const row of rows) await shop.read({ orders: [row] }, { others });
    expect(await inForce(shop)).toMatch(/ conflicting_states$/);
  });

  test('those that were read before the source went by the column are compared by the ages of their files', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { total: '9' })] });
    const { rows } = await sql<{ id: string }>`
      select source_file_id as id from intake.source_files where source = ${shop.source}`.execute(shop.db);
    const newer = rows.map(({ id }) => id);
    await shop.read({ orders: [at(8, '8')] }, { others: { ...others, newer } });
    expect(await inForce(shop)).toBe('9');
    await shop.read({ orders: [at(7, '7')] }, { others });
    expect(await inForce(shop)).toBe('7');
  });
});

describe('of the rows of an order that stand far apart in one file', () => {
  test.each([
    [[at(9, '9'), at(8, '8')], '9'],
    [[at(8, '8'), at(9, '9')], '9'],
    [[at(8, '8'), at(9, '9'), at(8, '8')], '9'],
  ])('the one that changed last counts', async (rows, total) => {
    const shop = await openShop(database());
    const sealed = await shop.read(
      rows.map((row) => ({ orders: [row] })),
      { others },
    );
    expect(sealed).toMatchObject({ kind: 'sealed', ordersNew: 1, rejectedRows: 0, orderRows: rows.length });
    expect(await currentOrders(shop)).toEqual([`1 ${total}`]);
  });

  test.each([[[at(9, '9'), at(9, '8')]], [[at(9, '9'), at(UNKNOWN_AGE, '8')]]])(
    'none counts if their ages do not show which is newer',
    async (rows) => {
      const shop = await openShop(database());
      const sealed = await shop.read(
        rows.map((row) => ({ orders: [row] })),
        { others },
      );
      expect(sealed).toMatchObject({ kind: 'sealed', ordersNew: 0, rejectedRows: 2 });
    },
  );

  test('a known state and an older or a newer one do not contradict each other', async () => {
    for (const [hour, total] of [
      [7, '8'],
      [9, '9'],
    ] as const) {
      const shop = await openShop(database());
      await shop.read({ orders: [at(8, '8')] }, { others });
      const sealed = await shop.read([{ orders: [at(8, '8')] }, { orders: [at(hour, String(hour))] }], {
        others,
      });
      expect(sealed).toMatchObject({ kind: 'sealed', rejectedRows: 0, orderRows: 2 });
      expect(await inForce(shop)).toBe(total);
    }
  });
});
