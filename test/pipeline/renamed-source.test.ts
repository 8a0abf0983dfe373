import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { sumRefused } from '../../src/report/list-refused.ts';
import { CODES, openWorkshop, toCsv, type Workshop } from './workshop.ts';

vi.setConfig({ testTimeout: 120_000 });

const flowOf = (source: string) => `
sources:
  ${source}: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: ${source}, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

/** Returns the orders of the job, as analysts count them: `source: orders disposition reason`. */
async function funnelOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', source || ':', count(*), disposition, disposition_reason) as said
    from bi.orders_attributed group by source, disposition, disposition_reason order by 1`.execute(db);
  return rows.map(({ said }) => said);
}

async function unownedOf({ db }: Workshop): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select code, sum(orders)::int as orders, sum(amount)::float8 as amount from bi.unattributed_revenue group by 1`.execute(
    db,
  );
  return rows;
}

const refusedOf = async ({ db }: Workshop) => (await sumRefused(db)).map(({ entries }) => entries);

it('a renamed source counts each order once, and what was refused under its old name is corrected under the new one', async () => {
  const shop = await openWorkshop({ flow: flowOf('shop') });
  const rename = (from: string, to: string): void => {
    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(flowOf(from), flowOf(to)));
  };
  shop.drop(
    'orders.csv',
    toCsv([
      { id: 'sent' },
      { id: 'refused', code: 'BEN15' },
      { id: 'unowned', code: 'NOBODYS' },
      { id: 'organic', code: '' },
    ]),
  );
  const ofBen = { body: { deal_id: 'DEALBEN' } };
  await shop.sandbox.setFaults([{ kind: 'error_before', match: ofBen, status: 422, text: 'No such deal.' }]);
  expect((await shop.run()).exitCode).toBe(3);

  rename('shop', 'nl-shop');
  expect((await shop.run()).exitCode).toBe(3);
  expect(await funnelOf(shop)).toEqual([
    'nl-shop: 1 excluded known_from_another_source',
    'nl-shop: 1 organic',
    'nl-shop: 1 rejected No such deal.',
    'nl-shop: 1 unattributed unknown_code',
    'shop: 1 accepted',
    'shop: 3 excluded source_removed',
  ]);
  expect(await unownedOf(shop)).toEqual([{ code: 'NOBODYS', orders: 1, amount: 10 }]);
  expect(await refusedOf(shop)).toEqual([1]);
  const checks = await shop.cli('checks', '--json');
  expect(checks.stdout).toContain('"source":"nl-shop"');
  expect(checks.stdout).not.toContain('"source":"shop"');

  // The cause is fixed under the new name.
  shop.write('codes.csv', CODES.replace('ben.test,DEALBEN', 'zoe.test,DEALZOE'));
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['refused', 'sent']);
  expect(await refusedOf(shop)).toEqual([]);
  expect((await funnelOf(shop)).filter((line) => line.endsWith(' accepted'))).toEqual([
    'nl-shop: 1 accepted',
    'shop: 1 accepted',
  ]);

  // Back to the old name: the job decides again, and posts nothing twice.
  rename('nl-shop', 'shop');
  expect((await shop.run()).exitCode).toBe(0);
  expect(await funnelOf(shop)).toEqual([
    'nl-shop: 1 accepted',
    'nl-shop: 3 excluded source_removed',
    'shop: 1 accepted',
    'shop: 1 excluded known_from_another_source',
    'shop: 1 organic',
    'shop: 1 unattributed unknown_code',
  ]);
  expect(await unownedOf(shop)).toEqual([{ code: 'NOBODYS', orders: 1, amount: 10 }]);
  expect(await shop.posted()).toEqual(['refused', 'sent']);
});
