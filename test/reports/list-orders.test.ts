import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { listOrders, listWaitingOrders } from '../../src/reports/list-orders.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { rulesOf } from '../support/terms.ts';

it('an order whose export states no amount is listed with none, and not with 0.00', async () => {
  const shop = await openWorkshop();
  shop.drop('april.csv', toCsv(['A1', 'A2', 'A3', 'A4'].map((id) => ({ id, revenue: '12.50' }))));
  await shop.run();
  // A2 and A4 state no amount, and A3 states 0.00.
  await sql`update intake.orders set total = case order_id when 'A3' then 0 end, subtotal = null
    where order_id <> 'A1'`.execute(shop.db);
  await sql`update reporting.order_dispositions set amount = 0, entry_id = null, disposition = 'held',
      disposition_reason = case order_id when 'A4' then 'unknown_status' else 'unknown_amount' end
    where order_id <> 'A1'`.execute(shop.db);
  await sql`update reporting.order_dispositions set disposition_reason = 'unknown_status'
    where order_id = 'A3'`.execute(shop.db);
  const wanted = { A1: '12.5000', A2: null, A3: '0.0000', A4: null };
  const amountsOf = (rows: readonly { orderId: string; amount: string | null }[]) =>
    Object.fromEntries(rows.map(({ orderId, amount }) => [orderId, amount]));
  expect(amountsOf(await listOrders(shop.db, { limit: 10 }))).toEqual(wanted);
  const view = await sql<{ orderId: string; amount: string | null }>`
    select order_id as "orderId", amount from bi.orders_attributed`.execute(shop.db);
  expect(amountsOf(view.rows)).toEqual(wanted);
  const { A1: _posted, ...held } = wanted;
  const waiting = await listWaitingOrders(shop.db, { month: '2026-10', rules: rulesOf([]), limit: 10 });
  expect(amountsOf(waiting.orders)).toEqual(held);
  expect(waiting.sums).toMatchObject([{ orders: 3, amount: '0.0000', withoutAmount: 2 }]);
});
