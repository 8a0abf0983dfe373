import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWorkshop } from '../runs/workshop.ts';

const FLOW = `
customers: {hash_key: "test-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC, consent: not_recorded, limits: {max_rejected_share: 1}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  people: {kind: identify-customers, source: shop, brand_id: 4819}
`;

const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status,email';
const EXPORT = `${HEADER}
1,10.00,EUR,MIA10,2026-04-10T11:11:26Z,paid,ada@example.com
2,20.00,EUR,MIA10,2026-04-10T11:11:26Z,paid,bob@example.com,too,many
3,ten,EUR,MIA10,2026-04-10T11:11:26Z,paid,cleo@example.com
`;

it('a row that is rejected both for orders and for customers is listed for each purpose and exported once', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.drop('orders.csv', EXPORT);
  await shop.run();
  await shop.cli('run', 'people');
  const listed = (await shop.cli('rejected')).stdout.replace(/\s+/g, ' ');
  expect(listed.match(/orders\.csv line 3[^(]*\(source shop, for (orders|customers)\)/g)).toHaveLength(2);
  expect(listed).toContain('line 4, column order_revenue "ten" (source shop, for orders)');
  expect(listed.match(/, for customers/g)).toHaveLength(1);

  const exported = await shop.cli('rejected', '--export', 'fix.csv');
  expect(exported.stdout).toContain('2 rows written to fix.csv.');
  expect(exported.stdout.replace(/\s+/g, ' ')).toContain('rejected for two purposes');
  const lines = readFileSync(join(shop.folder, 'fix.csv'), 'utf8').trim().split(/\r?\n/);
  expect(lines.map((line) => line.split(',')[0])).toEqual(['order_id', '2', '3']);
});

it('a run says which rows of earlier runs are still not used, until a file states their order, and ends as it would without', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  const said = async (job = 'orders') => {
    const run = await shop.cli('run', job);
    const text = run.stdout.replace(/\s+/g, ' ');
    return [
      run.exitCode,
      /Rejected by earlier runs[^:]*: [^:]*\. npx influencer-sync rejected/.exec(text)?.[0] ?? null,
    ];
  };
  shop.drop('orders.csv', EXPORT);
  expect(await said()).toEqual([3, null]);
  const unused = (what: string) =>
    `Rejected by earlier runs, and still not used: ${what}. npx influencer-sync rejected`;
  expect(await said()).toEqual([0, unused('2 rows of orders.csv')]);
  // What was rejected for customers is said by the job that reads them.
  expect((await said('people'))[1]).toBeNull();
  expect((await said('people'))[1]).toBe(unused('1 row of orders.csv'));
  const events = (await shop.cli('run', 'orders', '--json')).stdout;
  expect(events).toContain('{"event":"rows_unused","source":"shop","file":"orders.csv","rows":2}');
  shop.drop('later.csv', `${HEADER}\n3,30.00,EUR,MIA10,2026-04-10T11:11:26Z,paid,cleo@example.com\n`);
  expect(await said()).toEqual([0, unused('1 row of orders.csv')]);
  // Of a row with too many cells it is not known which order it states.
  shop.drop('last.csv', `${HEADER}\n2,20.00,EUR,MIA10,2026-04-10T11:11:26Z,paid,bob@example.com\n`);
  expect(await said()).toEqual([0, unused('1 row of orders.csv')]);
});
