import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openWorkshop, type Workshop } from './workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shop}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total_less_refunds}
`;
const BASE = 'order_id,currency,order_revenue,discount_codes,placed_at';
const order = (id: number, ...more: readonly string[]): string =>
  [`S-${id}`, 'EUR', '100.00', 'MIA10', '2026-05-14T10:15:00Z', ...more].join(',');
const toFile = (header: string, ...rows: readonly string[]): string => `${[header, ...rows].join('\n')}\n`;

/** Returns the held files, and why they are held. */
async function heldIn({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select regexp_replace(uri, '.*/', '') || ' ' || hold_code || ': ' || hold_message as text
    from intake.source_files where state = 'held' order by uri`.execute(db);
  return rows.map(({ text }) => text);
}

test('a file without a column that an older file has is held, until the source says why it is missing', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.drop('2026-11-01.csv', toFile(`${BASE},Cancelled`, order(1, 'yes'), order(2, 'no')));
  // It is in the same run, and small files are read together.
  shop.drop('2026-11-02.csv', toFile(BASE, order(1), order(3)));
  shop.drop('2026-11-03.csv', toFile(`${BASE},is_cancelled`, order(4, 'no')));
  expect((await shop.run()).finished).toMatchObject({ held_files: 1 });
  expect(await shop.posted()).toEqual(['S-2', 'S-4']);
  const message =
    'column_missing: The file lacks "cancelled", which an earlier file of this source has (2026-11-01.csv). Read without it, it would replace what earlier files say about the same orders.';
  expect(await heldIn(shop)).toEqual([`2026-11-02.csv ${message}`]);

  // An order that a later run reads is not taken back, and a column that is renamed to none of the layout's is gone.
  shop.drop('2026-11-04.csv', toFile(BASE.replace('discount_codes', 'voucher'), order(2), order(5)));
  await shop.run();
  expect(await shop.posted()).toEqual(['S-2', 'S-4']);
  expect((await heldIn(shop))[1]).toContain(
    'The file lacks "cancelled", "discount_codes", which an earlier file of this source has (2026-11-01.csv). Read without them, it would replace what earlier files say about the same orders. It has "voucher", which they do not have.',
  );

  const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  const reasons = 'missing_columns: {cancelled: The file leaves such orders out., discount_codes: Not used.}';
  shop.write('pipeline.yaml', config.replace('layout: generic', `layout: generic, ${reasons}`));
  await shop.run();
  expect(await heldIn(shop)).toEqual([]);
});

test('a file that is older than the first one with a column does not need it', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.drop('2026-11-05.csv', toFile(`${BASE},test`, order(1, 'yes')));
  await shop.run();
  shop.drop('2026-11-04.csv', toFile(BASE, order(1), order(2)));
  expect((await shop.run()).finished).toMatchObject({ held_files: 0 });
  expect(await shop.posted()).toEqual(['S-2']);
  // Between two files with the column, it is needed.
  shop.drop('2026-11-02.csv', toFile(`${BASE},test`, order(3, 'yes')));
  await shop.run();
  shop.drop('2026-11-03.csv', toFile(BASE, order(3)));
  expect((await shop.run()).finished).toMatchObject({ held_files: 1 });
});

test('a file is held if nothing says whether the one with the column is older', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('order_platform', 'age: name, order_platform') });
  shop.drop('a.csv', toFile(`${BASE},risk_level`, order(1, 'high')));
  await shop.run();
  shop.drop('b.csv', toFile(BASE, order(1), order(2)));
  expect((await shop.run()).finished).toMatchObject({ held_files: 1 });
  expect(await shop.posted()).toEqual([]);
});
