import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { HASH_KEY, manyEmails } from '../jobs/identify-customers/story.ts';
import { openPrivacyShop, type PrivacyShop } from './story.ts';

const NEW_KEY = 'ffffffffffffffff0123456789abcdef';

const identified = async (shop: PrivacyShop, ...args: readonly string[]) => {
  const { exitCode, stdout, stderr } = await shop.cli('run', 'customers', '--json', ...args);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return { exitCode, stderr, counts: exitCode === 2 ? {} : (JSON.parse(last) as { counts: object }).counts };
};

/**
 * Opens a shop with 7 submitted customers, one who has unsubscribed, one who was forgotten, and one who is
 * waiting.
 */
async function openKnown(): Promise<PrivacyShop> {
  const shop = await openPrivacyShop();
  shop.write(
    'customers/1.csv',
    `email,unsubscribed\n${manyEmails(6).join(',\n')},\nout@example.com,yes\ngone@example.com,\n`,
  );
  await identified(shop);
  expect((await shop.cli('forget', 'gone@example.com')).exitCode).toBe(0);
  shop.put('customers', '2.csv', ['wait1@example.com', 'wait2@example.com']);
  await identified(shop, '--limit', '1');
  return shop;
}

it('a key rotation submits no customer twice', async () => {
  const shop = await openKnown();
  const submittedBefore = await shop.submitted();
  shop.env.CUSTOMER_HASH_KEY = NEW_KEY;
  const refused = await identified(shop);
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.stderr).toContain('previous_hash_key');

  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = HASH_KEY;
  shop.put('customers', '3.csv', [
    ...manyEmails(4).map((email) => email.toUpperCase()),
    'OUT@example.com',
    'Gone@example.com',
    'new@example.com',
    'wait1@example.com',
  ]);
  const { counts } = await identified(shop);
  expect(counts).toMatchObject({ submitted: 2, already: 7, passed_over: { forgotten: 1 }, unsubscribed: 1 });
  const submitted = await shop.submitted();
  expect(submitted.toSorted()).toEqual(
    [...submittedBefore, 'new@example.com', 'wait2@example.com'].toSorted(),
  );
  for (const email of ['c1@example.com', 'c6@example.com', 'wait2@example.com'])
    expect((await shop.cli('explain', 'customer', email)).stdout, email).toContain('submitted');

  // c5 and c6 have been in no export since then, so they need the old key.
  const left = await shop.cli('hash-key', '--json');
  expect(JSON.parse(left.stdout)).toMatchObject({ customers: 2, customers_in_all: 10, forgotten: 0 });
  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = '';
  shop.put('customers', '4.csv', ['c5@example.com']);
  const alone = await identified(shop);
  expect(alone).toMatchObject({ exitCode: 2 });
  expect(alone.stderr).toMatch(/2 customers and 0 forgotten ones/);
  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = HASH_KEY;
  expect(await identified(shop)).toMatchObject({ exitCode: 0 });
  expect(await shop.submitted()).toEqual(submitted);

  expect((await shop.cli('hash-key', 'retire', '--reason', 'c6 is gone')).exitCode).toBe(0);
  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = '';
  expect(await identified(shop)).toMatchObject({ exitCode: 0 });
  shop.put('customers', '5.csv', [...manyEmails(6), 'gone@example.com', 'out@example.com']);
  await identified(shop);
  // Customers whose old key was abandoned count as new.
  expect((await shop.submitted()).length).toBe(submitted.length);
  const { rows } = await sql`select sum(submissions)::integer as times from intake.customer_states`.execute(
    shop.db,
  );
  expect(rows).toEqual([{ times: 9 }]);
});

it('after the loss of the key, customers in the files that were read are not submitted again', async () => {
  const shop = await openKnown();
  shop.write('customers/gone.csv', 'email\nonly-there@example.com\n');
  await shop.ran('customers');
  shop.put('customers', '3.csv', ['wait3@example.com', 'wait4@example.com']);
  await identified(shop, '--limit', '1');
  const submitted = await shop.submitted();
  rmSync(join(shop.folder, 'customers/gone.csv'));
  expect((await shop.cli('hash-key', 'lost', '--reason', 'a test')).stderr).toContain('hashed with this key');
  shop.env.CUSTOMER_HASH_KEY = NEW_KEY;
  // A new customer counts as new although the row comes before the others.
  shop.put('customers', '0.csv', [
    ...manyEmails(6),
    'new@example.com',
    'out@example.com',
    'wait4@example.com',
  ]);
  const lost = await shop.cli('hash-key', 'lost', '--reason', 'the vault burned', '--json');
  expect(lost.exitCode).toBe(0);
  expect(JSON.parse(lost.stdout)).toMatchObject({ files: 3, files_gone: 1, forgotten: 1 });
  expect(lost.stderr).toContain('forget them again before the next run');
  expect((await shop.cli('forget', 'gone@example.com')).exitCode).toBe(0);

  const { counts } = await identified(shop);
  expect(counts).toMatchObject({ submitted: 2, already: 9, unsubscribed: 1, waiting: 0 });
  const now = await shop.submitted();
  const added = now.filter((email) => !submitted.includes(email));
  expect(added.toSorted()).toEqual(['new@example.com', 'wait4@example.com']);
  const { rows } = await sql`select count(*)::integer as left from intake.customers where key_no = 1`.execute(
    shop.db,
  );
  expect(rows).toEqual([{ left: 0 }]);
  expect((await identified(shop)).counts).toMatchObject({ submitted: 0 });
});

it('orders of a customer stay linked after a key rotation', async () => {
  const shop = await openPrivacyShop();
  const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  shop.write(
    'pipeline.yaml',
    config.replace('order_platform: shopify,', 'order_platform: shopify, customer_key: true,'),
  );
  const header = 'Name,Email,Financial Status,Currency,Total,Discount Code,Created at,Id';
  const line = (id: string, email: string) =>
    `#${id},${email},paid,EUR,10.00,MIA10,2026-10-10 11:11:2${id} +0000,${id}`;
  shop.put('exports', '1.csv', [header, line('1', 'ann@example.com'), line('2', 'bob@example.com')]);
  expect((await shop.ran('orders')).exitCode).toBe(0);
  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = HASH_KEY;
  shop.env.CUSTOMER_HASH_KEY = NEW_KEY;
  shop.put('exports', '2.csv', [header, line('3', 'ANN@example.com')]);
  expect((await shop.ran('orders')).exitCode).toBe(0);
  const { rows } = await sql<{ ids: string }>`
    select string_agg(order_id, ' ' order by order_id) as ids from intake.orders where is_current group by customer_key order by 1`.execute(
    shop.db,
  );
  expect(rows.map(({ ids }) => ids)).toEqual(['1 3', '2']);
  // Bob has not ordered since then.
  const left = async () => JSON.parse((await shop.cli('hash-key', '--json')).stdout);
  expect(await left()).toMatchObject({ customers: 0, orders: 1 });
  expect((await shop.cli('hash-key')).stdout.replace(/\s+/g, ' ')).toContain('1 order has a customer_key');
  // A later version of his order without his address does not change the key that is stored for him.
  const unnamed = line('2', '').replace(',10.00,', ',12.00,');
  shop.put('exports', '3.csv', [header, unnamed]);
  expect((await shop.ran('orders')).exitCode).toBe(0);
  expect(await left()).toMatchObject({ orders: 1 });
  shop.put('exports', '4.csv', [header, line('4', 'bob@example.com')]);
  expect((await shop.ran('orders')).exitCode).toBe(0);
  expect(await left()).toMatchObject({ orders: 0 });
});
