import { expect, it } from 'vitest';
import { inPhase } from '../../src/db/phase.ts';
import { continuation, openShop, order, type Shop, useDatabase } from './story.ts';

const database = useDatabase('a Postgres server');

/** Number of statements that a file takes, from its begin to its seal, with the limits of transactions. */
async function statementsOf(shop: Shop, ...given: Parameters<Shop['read']>): Promise<number> {
  let statements = 0;
  const onStatement = (): void => {
    statements += 1;
  };
  const sealed = await inPhase({ onStatement }, () => shop.read(...given));
  expect(sealed.kind).toBe('sealed');
  return statements;
}

// A source may have thousands of such files, and each statement takes as long as reading a hundred orders.
it('a small file of new orders takes 14 statements, and two or three more if something has to be settled', async () => {
  const shop = await openShop(database());
  const orders = [order('1'), order('2'), order('3')];
  const column = { orderIdColumn: { name: 'Id', isFallback: false } };
  expect(await statementsOf(shop, { orders }, column)).toBe(14);
  // Known orders and rows of other orders have to be settled, and what was noted about them is deleted.
  expect(await statementsOf(shop, { orders }, column)).toBe(16);
  const later = { orders: [order('4')], continuations: [continuation('4')] };
  expect(await statementsOf(shop, later, column)).toBe(17);
});
