import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWorkshop, toCsv } from './workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: woocommerce-orders, order_platform: woo, time_zone: UTC}
  own: {uri: ./own/, layout: generic, order_platform: own, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: [shop, own], brand_id: 4819, codes: ./codes.csv, include: [completed, voltooid]}
`;

it('a file with ambiguous dates or unlisted statuses is held until the configuration defines them', async () => {
  const workshop = await openWorkshop({ flow: FLOW });
  const woo = Array.from(
    { length: 3 },
    (_, at) => `w${at},1,4/${at + 5}/2026 10:00,completed,10.00,EUR,MIA10,`,
  );
  const header =
    'order_id,order_number,order_date,status,order_total,order_currency,coupon_codes,refunded_total';
  workshop.drop('orders.csv', [header, ...woo, ''].join('\n'));
  const betaald = Array.from({ length: 10 }, (_, at) => ({ id: `o${at}`, status: 'betaald' }));
  mkdirSync(join(workshop.folder, 'own'));
  workshop.write(join('own', 'orders.csv'), toCsv(betaald));

  const held = await workshop.run();
  expect(held).toMatchObject({ exitCode: 3, finished: { counts: { orders: 0 } } });
  const { rows: files } = await sql`select hold_code from intake.source_files order by 1`.execute(
    workshop.db,
  );
  expect(files).toEqual([{ hold_code: 'date_order_unknown' }, { hold_code: 'unlisted_status' }]);

  const config = readFileSync(join(workshop.folder, 'pipeline.yaml'), 'utf8');
  workshop.write(
    'pipeline.yaml',
    config
      .replace('order_platform: woo,', 'order_platform: woo, date_order: DMY,')
      .replace('include: [completed, voltooid]', 'include: [completed, betaald]'),
  );
  const released = await workshop.run();
  expect(released).toMatchObject({
    exitCode: 0,
    finished: { counts: { orders: 13, entries: { accepted: 13 } } },
  });
  const { rows: orders } = await sql`
    select placed_at at time zone 'UTC' = '2026-05-04 10:00' as "isFourthOfMay" from intake.orders where order_id = 'w0'`.execute(
    workshop.db,
  );
  expect(orders).toEqual([{ isFourthOfMay: true }]);
});

it('reading stops and the file is held after ten thousand unusable rows, for orders and for customers', async () => {
  const workshop = await openWorkshop({
    flow: `
customers: {hash_key: 0123456789abcdef0123456789abcdef}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: own, time_zone: UTC}
  members: {uri: ./members/, layout: generic-customers, consent: not_recorded}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
  members: {kind: identify-customers, source: members, brand_id: 4819}
`,
  });
  mkdirSync(join(workshop.folder, 'members'));
  workshop.drop('orders.csv', `order_id,order_revenue,currency\n${'1\n'.repeat(300_000)}`);
  workshop.write(join('members', 'members.csv'), `email,orders_count\n${'nobody,1\n'.repeat(300_000)}`);
  for (const [job, code] of [
    ['orders', 'ragged_row'],
    ['members', 'bad_address'],
  ] as const) {
    const { exitCode, stdout } = await workshop.cli('run', job);
    expect(exitCode).toBe(3);
    const said = stdout.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(
      new RegExp(`first \\d{5} rows cannot be used \\(most common: ${code}.* Reading stopped there`),
    );
    expect(said).toContain('limits.max_rejected_share: 1');
  }
  const { rows } = await sql`select count(*) as rows from intake.rejected_rows`.execute(workshop.db);
  expect(rows).toEqual([{ rows: '0' }]);
});
