import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { sumUnownedCodes } from '../../src/reports/codes/list-codes.ts';
import { listOrders, listWaitingOrders } from '../../src/reports/list-orders.ts';
import { compareRules } from '../../src/reports/money/list-conflicts.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { rulesOf } from '../support/terms.ts';

/** Orders without a total, which the layout of the source allows, beside others: what each comes to. */
const AMOUNTS: Readonly<Record<string, string | null>> = {
  posted: '12.5000',
  held: null,
  unsure: null,
  free: '0.0000',
  pending: null,
  organic: null,
  lost: null,
  found: '20.0000',
  gone: null,
  ambiguous: null,
  disputed: '4.0000',
};

async function openPending(): Promise<Workshop> {
  const shop = await openWorkshop({
    flow: `
sources:
  shop: {uri: ./exports/, layout: pending, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`,
  });
  const layout = readFileSync(new URL('../../config/layouts/generic.yaml', import.meta.url), 'utf8');
  mkdirSync(join(shop.folder, 'layouts'));
  shop.write('layouts/pending.yaml', layout.replace('required: [order_id, total]', 'required: [order_id]'));
  const stated: Readonly<Record<string, { code?: string; status?: string }>> = {
    unsure: { status: 'strange' },
    free: { code: '' },
    pending: { status: 'pending' },
    organic: { code: '' },
    lost: { code: 'LOST5' },
    found: { code: 'LOST5' },
    gone: { code: 'GONE7' },
    ambiguous: { code: '"MIA10,BEN15"' },
    disputed: { code: '"MIA10,BEN15"' },
  };
  shop.drop(
    'april.csv',
    toCsv(Object.entries(AMOUNTS).map(([id, revenue]) => ({ id, revenue: revenue ?? '', ...stated[id] }))),
  );
  const { exitCode } = await shop.run();
  expect(exitCode).toBe(3);
  return shop;
}

it('an order whose export states no amount is listed with none, and not with 0.00', async () => {
  const shop = await openPending();
  const amountsOf = (rows: readonly { orderId: string; amount: string | null }[]) =>
    Object.fromEntries(rows.map(({ orderId, amount }) => [orderId, amount]));
  expect(amountsOf(await listOrders(shop.db, { limit: 20 }))).toEqual(AMOUNTS);
  const view = await sql<{ orderId: string; amount: string | null }>`
    select order_id as "orderId", amount from bi.orders_attributed`.execute(shop.db);
  expect(amountsOf(view.rows)).toEqual(AMOUNTS);
  const waiting = await listWaitingOrders(shop.db, { month: '2026-10', rules: rulesOf([]), limit: 10 });
  const { held, unsure, ambiguous, disputed } = AMOUNTS;
  expect(amountsOf(waiting.orders)).toEqual({ held, unsure, ambiguous, disputed });
  expect(waiting.sums).toMatchObject([{ orders: 4, amount: '4.0000', withoutAmount: 3 }]);
});

it('the sums of a day count the orders without an amount, and a sum of which nothing is known is unknown', async () => {
  const shop = await openPending();
  const { rows } = await sql`
    select orders, orders_amount, unvalued_orders, excluded_amount, unvalued_excluded_orders, organic_amount,
      unvalued_organic_orders, unattributed_amount, unvalued_unattributed_orders, held_amount,
      unvalued_held_orders, rejected_amount
    from bi.attribution_funnel_daily`.execute(shop.db);
  expect(rows).toEqual([
    {
      orders: '11',
      orders_amount: '36.5000',
      unvalued_orders: '7',
      excluded_amount: '0.0000',
      unvalued_excluded_orders: '1',
      organic_amount: null,
      unvalued_organic_orders: '1',
      unattributed_amount: '20.0000',
      unvalued_unattributed_orders: '2',
      held_amount: '4.0000',
      unvalued_held_orders: '3',
      rejected_amount: '0',
    },
  ]);
  const codes =
    await sql`select code, orders, amount, unvalued_orders from bi.unattributed_revenue order by code`.execute(
      shop.db,
    );
  expect(codes.rows).toEqual([
    { code: 'GONE7', orders: '1', amount: null, unvalued_orders: '1' },
    { code: 'LOST5', orders: '2', amount: '20.0000', unvalued_orders: '1' },
  ]);
  expect(await sumUnownedCodes(shop.db)).toMatchObject([{ codes: 2, amount: '20.0000', withoutAmount: 2 }]);
  const sums = await compareRules(shop.db, { from: null, to: null, limit: 10 });
  expect(sums.find(({ target }) => target === 'deal:DEALMIA')).toMatchObject({
    credited: '0',
    first: '4.0000',
    withoutAmount: { credited: 0, first: 1, last: 0, explicit: 0 },
  });
  const { stdout } = await shop.cli('run', 'orders');
  expect(stdout).toContain('  LOST5       2  at least 20.00 EUR, 1 order unknown');
  expect(stdout).toContain('  GONE7       1                              unknown');
});
