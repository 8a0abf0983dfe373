import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findEntry } from '../../src/reports/doubts/list-doubts.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

const GENERIC = readFileSync(new URL('../../config/layouts/generic.yaml', import.meta.url), 'utf8');

const flowOf = (setting: string, layout = 'noted') => `
sources:
  shop: {uri: ./exports/, layout: ${layout}, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total${setting}}
`;

async function openNoted(setting: string): Promise<Workshop & { configure(setting: string): void }> {
  const shop = await openWorkshop({ flow: flowOf(setting) });
  const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  mkdirSync(join(shop.folder, 'layouts'));
  shop.write('layouts/noted.yaml', GENERIC.replace('columns:\n', 'columns:\n  notes: [note, gift]\n'));
  const configure = (next: string): void =>
    shop.write('pipeline.yaml', text.replace(flowOf(setting), flowOf(next)));
  return Object.assign(shop, { configure });
}

const toCsv = (notes: Readonly<Record<string, string>>) =>
  `order_id,order_revenue,currency,discount_codes,placed_at,status,note,gift\n${Object.entries(notes)
    .map(
      ([id, note]) =>
        `${id},10.00,EUR,MIA10,2026-04-10T11:${((id.charCodeAt(0) + id.charCodeAt(1)) % 50) + 10}:26Z,paid,${note}\n`,
    )
    .join('')}`;

async function sentNotes({ sandbox }: Workshop): Promise<Readonly<Record<string, string | undefined>>> {
  const sent = await sandbox.referrals();
  return Object.fromEntries(
    sent.map(({ order_id, order_notes }) => [order_id, order_notes?.replace(/ [0-9a-f]{8}\./, ' ID.')]),
  );
}

async function bodiesOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ body: string }>`select body from ledger.entries order by entry_id`.execute(db);
  return rows.map(({ body }) => body);
}

const NOTE = 'Call +31 (0)20 123-4567 or jane%40example.com';

it('an order is sent with the reference, the masked notes of the shop, or both, as order_notes says', async () => {
  const shop = await openNoted('');
  shop.drop('1.csv', toCsv({ ours: `${NOTE},` }));
  await shop.run();
  shop.configure(', order_notes: both');
  shop.drop('2.csv', toCsv({ both: `${NOTE},"A gift,\nplease"`, blank: ' ,', long: `,${'é'.repeat(600)}` }));
  await shop.run();
  shop.configure(', order_notes: theirs');
  shop.drop('3.csv', toCsv({ theirs: 'Ring twice,', bare: ',' }));
  expect((await shop.run()).exitCode).toBe(0);
  expect(await sentNotes(shop)).toEqual({
    ours: 'influencer-sync ID.e1.a1',
    both: 'influencer-sync ID.e2.a1 Call *** or j***@***; A gift, please',
    blank: 'influencer-sync ID.e3.a1',
    long: `influencer-sync ID.e4.a1 ${'é'.repeat(499)}…`,
    theirs: 'Ring twice',
    bare: 'influencer-sync ID.e6.a1',
  });
  const { rows: kept } = await sql<{ said: string }>`
    select concat_ws(' ', o.note, e.details) as said from intake.orders o left join ledger.entries e using (order_id)`.execute(
    shop.db,
  );
  expect(JSON.stringify(kept)).not.toMatch(/jane|4567/);
  expect((await bodiesOf(shop)).join()).not.toMatch(/note/);
});

it('another note is no other order, and what waits keeps its note whatever the setting says later', async () => {
  const shop = await openNoted(', order_notes: both');
  shop.drop('1.csv', toCsv({ first: 'One,', second: 'Two,' }));
  await shop.run('--limit', '1');
  const before = await bodiesOf(shop);
  shop.configure('');
  shop.drop('2.csv', toCsv({ first: 'Changed,', second: 'Changed,' }));
  expect((await shop.run()).exitCode).toBe(0);
  expect((await sql`select from ledger.adjustments`.execute(shop.db)).rows).toEqual([]);
  expect(await bodiesOf(shop)).toEqual(before);
  expect(await sentNotes(shop)).toEqual({
    first: 'influencer-sync ID.e1.a1 One',
    second: 'influencer-sync ID.e2.a1 Two',
  });
});

it('a doubt about an order that was sent without the reference names none to search for', async () => {
  const shop = await openNoted(', order_notes: theirs');
  await shop.sandbox.setFaults([{ operation: 'new_influencer_referral', kind: 'error_after' }]);
  shop.drop('1.csv', toCsv({ noted: 'Ring twice,', blank: ',' }));
  await shop.run();
  const references = [await findEntry(shop.db, '1'), await findEntry(shop.db, '2')].map(
    (one) => one?.reference,
  );
  expect(references).toEqual([null, expect.stringMatching(/^influencer-sync [0-9a-f]{8}\.e2\.a1$/)]);
});

it('a backfill sends the notes, too', async () => {
  const shop = await openNoted(', order_notes: both, start_date: 2026-05-01');
  shop.drop('1.csv', toCsv({ past: 'From before,' }));
  await shop.run();
  await shop.cli('backfill', 'orders', '--from', '2026-04-01', '--to', '2026-04-30', '--yes');
  expect(await sentNotes(shop)).toEqual({ past: 'influencer-sync ID.e1.a1 From before' });
});

it('order_notes is refused where no layout of the job names notes', async () => {
  const shop = await openWorkshop({ flow: flowOf(', order_notes: both', 'generic') });
  const { exitCode, stderr } = await shop.cli('run', 'orders');
  expect(exitCode).toBe(2);
  expect(stderr.replace(/\s+/g, ' ')).toContain('the layout generic names no column of notes');
});
