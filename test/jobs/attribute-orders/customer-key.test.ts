import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { customerHasher } from '../../../src/intake/customers/map/customer-hash.ts';
import { HEADER, openWorkshop, type Workshop } from '../../runs/workshop.ts';

const KEY = 'test-only-0123456789abcdef0123456789abcdef';

function flow(source = 'customer_key: true', key = KEY): string {
  return `
customers: {hash_key: "${key}"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC, consent: not_recorded, ${source}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  people: {kind: identify-customers, source: shop, brand_id: 4819, consent: not_refused}
`;
}

function toCsv(orders: readonly (readonly [id: string, email: string, revenue?: string])[]): string {
  const rows = orders.map(
    ([id, email, revenue = '10.00']) => `${id},${revenue},EUR,MIA10,2026-04-10T11:11:26Z,paid,${email}`,
  );
  return `${[`${HEADER},email`, ...rows].join('\n')}\n`;
}

function change(shop: Workshop, from: string, to: string): void {
  const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  shop.write('pipeline.yaml', text.replace(from, to));
}

async function keysOf(shop: Workshop): Promise<Record<string, string | null>> {
  const { rows } = await sql<{ id: string; key: string | null }>`
    select order_id as id, replace(customer_key, '-', '') as key from bi.orders order by 1`.execute(shop.db);
  return Object.fromEntries(rows.map(({ id, key }) => [id, key]));
}

describe('the setting customer_key of a source', () => {
  it('stores the key that identify-customers derives, whatever the case of the address, and none without an address', async () => {
    const shop = await openWorkshop({ flow: flow() });
    shop.drop(
      'orders.csv',
      toCsv([
        ['1', 'ann@example.com'],
        ['2', ' Ann@Example.com'],
        ['3', 'bob@example.com'],
        ['4', ''],
        ['5', 'by phone'],
      ]),
    );
    expect((await shop.run()).finished?.counts.orders).toBe(5);
    const hashOf = customerHasher(KEY, '4819');
    const [ann, bob] = [hashOf('ann@example.com'), hashOf('bob@example.com')];
    expect(await keysOf(shop)).toEqual({ 1: ann, 2: ann, 3: bob, 4: null, 5: null });
    await shop.cli('run', 'people');
    const { rows } = await sql<{ hash: string }>`
      select replace(customer_hash::text, '-', '') as hash from intake.customers order by 1`.execute(shop.db);
    expect(rows.map(({ hash }) => hash)).toEqual([ann, bob].toSorted());
    const { rows: told } = await sql<{ order: string }>`
      select o::text as order from intake.orders o where o::text ilike '%example.com%'`.execute(shop.db);
    expect(told).toEqual([]);
  });

  it('is off by default; when it is turned on, it changes no known order, and known keys stay', async () => {
    const shop = await openWorkshop({ flow: flow('customer_key: false') });
    shop.drop('1.csv', toCsv([['1', 'ann@example.com']]));
    await shop.run();
    expect(await keysOf(shop)).toEqual({ 1: null });
    change(shop, 'customer_key: false', 'customer_key: true');
    shop.drop(
      '2.csv',
      toCsv([
        ['1', 'ann@example.com'],
        ['2', 'bob@example.com'],
      ]),
    );
    await shop.run();
    const bob = customerHasher(KEY, '4819')('bob@example.com');
    expect(await keysOf(shop)).toEqual({ 1: null, 2: bob });
    // A later export changes the order and contains no customer.
    shop.drop('3.csv', toCsv([['2', '', '9.00']]));
    await shop.run();
    expect(await keysOf(shop)).toEqual({ 1: null, 2: bob });
    const { rows } = await sql<{ versions: string }>`
      select count(*) as versions from intake.orders group by order_id order by order_id`.execute(shop.db);
    expect(rows).toEqual([{ versions: '1' }, { versions: '2' }]);
  });

  it('removes the key from orders of a forgotten customer, and no later export restores it', async () => {
    const shop = await openWorkshop({ flow: flow() });
    shop.drop(
      '1.csv',
      toCsv([
        ['1', 'ann@example.com'],
        ['2', 'bob@example.com'],
      ]),
    );
    await shop.run();
    const bob = customerHasher(KEY, '4819')('bob@example.com');
    const { stdout } = await shop.cli('forget', 'ann@example.com');
    expect(stdout).toContain('intake.orders.customer_key');
    expect(await keysOf(shop)).toEqual({ 1: null, 2: bob });
    shop.drop(
      '2.csv',
      toCsv([
        ['1', 'ann@example.com', '12.00'],
        ['3', 'Ann@example.com'],
      ]),
    );
    await shop.run();
    expect(await keysOf(shop)).toEqual({ 1: null, 2: bob, 3: null });
  });

  it('requires an unchanged customers.hash_key and a layout with an e-mail column', async () => {
    const shop = await openWorkshop({ flow: flow('customer_key: true', '') });
    shop.drop('1.csv', toCsv([['1', 'ann@example.com']]));
    const missing = await shop.run();
    expect([missing.exitCode, missing.stderr]).toEqual([
      2,
      expect.stringContaining('The key for the hashes of customers’ addresses is missing.'),
    ]);
    expect(missing.stderr).toContain('customers: { hash_key: ');
    expect(await shop.posted()).toEqual([]);
    change(shop, 'hash_key: ""', `hash_key: "${KEY}"`);
    change(shop, 'layout: generic', 'layout: tiktok-shop-orders, currency: EUR');
    expect((await shop.run()).stderr.replace(/\s+/g, ' ')).toContain('has no e-mail column');
  });
});
