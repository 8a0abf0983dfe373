import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { CODES, closeMonth, IBANS, openPaymentShop, PAYEES } from './payment-shop.ts';

const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status\n';

it('money is of the creator who has the deal that was posted; what was closed stays of the one to whom it was closed', async () => {
  const shop = await openPaymentShop();
  const returns = async () => {
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' ', month_utc, deal_id, influencer_handle, orders, cost_amount) as row
      from bi.returns_monthly where currency = 'EUR' order by 1`.execute(shop.db);
    return rows.map(({ row }) => row);
  };
  const closed = async (month: string) => {
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' ', kind, order_id, deal_id, coalesce(influencer_handle, '-'), amount) as row
      from bi.statement_lines where month_local = ${`${month}-01`}::date order by line_no`.execute(shop.db);
    return rows.map(({ row }) => row);
  };
  shop.write(
    'terms.csv',
    'deal_id,code,rate,fixed_fee,currency,valid_from,valid_to\nDEALMIA,,10,,,,\nDEALBEN,,10,,,,\nDEALZOE,,10,,,,2026-05-31\n,BEN15,,7,EUR,2026-04-01,\nDEALZOE,,10,3,EUR,2026-06-01,\n',
  );
  shop.drop('2-may.csv', `${HEADER}6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,paid\n`);
  await shop.run();
  // Later exports state the code of another creator, and that an order is cancelled.
  shop.drop(
    '3-later.csv',
    `${HEADER}1,100.00,EUR,ZOE20,2026-04-10T10:00:00Z,paid\n3,80.00,EUR,BEN15,2026-04-10T10:02:00Z,cancelled\n6,70.00,EUR,ZOE20,2026-05-10T10:01:00Z,paid\n`,
  );
  await shop.run();
  expect(await returns()).toEqual([
    '2026-04-01 0 7.0000',
    '2026-04-01 DEALBEN ben.test 1 0.0000',
    '2026-04-01 DEALMIA mia.test 1 10.0000',
    '2026-04-01 DEALZOE zoe.test 1 3.0000',
    '2026-05-01 DEALMIA mia.test 1 7.0000',
    // A fee of a month without orders, of a deal that no mirror knows.
    '2026-06-01 DEALZOE zoe.test 0 3.0000',
  ]);
  await closeMonth(shop, '2026-05');
  expect(await closed('2026-05')).toEqual([
    'correction 3 DEALBEN ben.test -8.0000',
    'order 6 DEALMIA mia.test 7.0000',
  ]);

  // The deal changes hands. The new creator earns from then on, and does not pay back what the former one was paid.
  shop.write('codes.csv', CODES.replace('mia.test', 'nova.test'));
  shop.write('payees.csv', `${PAYEES}nova.test;Nova;${IBANS.zoe};;;EUR\n`);
  shop.drop(
    '4-june.csv',
    `${HEADER}6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,cancelled\n8,50.00,EUR,MIA10,2026-06-10T10:00:00Z,paid\n`,
  );
  await shop.run();
  await closeMonth(shop, '2026-06');
  expect(await closed('2026-06')).toEqual([
    'correction 6 DEALMIA mia.test -7.0000',
    'order 8 DEALMIA nova.test 5.0000',
    'fixed_fee DEALZOE zoe.test 3.0000',
  ]);
  expect((await shop.cli('statement', 'verify')).exitCode).toBe(0);
  const propose = () => shop.cli('payments', 'propose', '2026-06', '--reason', 'month end', '--dry-run');
  const held = await propose();
  expect(held.exitCode).toBe(3);
  expect(held.stdout).toMatch(/Held, because a statement of a deal corrects[^:]*: -2\.00 EUR.*nova\.test/s);
  expect(held.stdout).toMatch(/mia\.test +17\.00 EUR/);
  // A row for the deal says that both are one.
  shop.write('payees.csv', `${PAYEES}DEALMIA;Mia;${IBANS.mia};;;EUR\n`);
  const paid = await propose();
  expect(paid.stdout).not.toContain('Held');
  expect(paid.stdout).toMatch(/dealmia +15\.00 EUR/);
});
