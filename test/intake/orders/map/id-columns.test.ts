import { expect, test } from 'vitest';
import type { OrderIdColumn } from '../../../../src/core/order.ts';
import { holdReason } from '../../csv/parse-text.ts';
import { mapText } from './map-text.ts';

const HEADER = 'Name,Id,Financial Status,Currency,Total,Discount Code,Created at';

function shopifyRow(number: number, id: string): string {
  return `#${number},${id},paid,EUR,${number}.00,ADA10,2026-04-10 11:00:00 +0000`;
}

async function mapShopify(rows: readonly string[]) {
  const columns: OrderIdColumn[] = [];
  const mapped = await mapText(`${HEADER}\n${rows.join('\n')}\n`, {
    layout: 'shopify-orders',
    reduced: true,
    onIdColumn: (column) => columns.push(column),
  });
  return { ...mapped, columns };
}

test('if Id is blank on every row, Name identifies the orders of the whole file', async () => {
  const { orders, rejected, columns } = await mapShopify([shopifyRow(1, ''), '#1,,,,,,', shopifyRow(2, ' ')]);
  expect(rejected).toEqual([]);
  expect(orders.map(({ orderId, rowCount }) => [orderId, rowCount])).toEqual([
    ['#1', 2],
    ['#2', 1],
  ]);
  expect(columns).toEqual([{ name: 'name', isFallback: true }]);
});

test('if one of the first thousand rows has an Id, Id identifies the orders of the whole file, including earlier rows', async () => {
  const rows = Array.from({ length: 900 }, (_, at) => shopifyRow(at + 1, at === 899 ? '5001' : ''));
  const { orders, rejected, columns } = await mapShopify(rows);
  expect(orders.map(({ orderId }) => orderId)).toEqual(['5001']);
  expect(rejected).toHaveLength(899);
  expect(new Set(rejected.map(({ code, column }) => `${code} ${column}`))).toEqual(
    new Set(['missing_value Id']),
  );
  expect(columns).toEqual([{ name: 'id', isFallback: false }]);
});

test('an Id after a thousand rows without one holds the file, so that no order gets two identifiers', async () => {
  const rows = Array.from({ length: 1_500 }, (_, at) => shopifyRow(at + 1, at === 1_400 ? '5001' : ''));
  const reason = await holdReason(mapShopify(rows));
  expect(reason.code).toBe('order_id_changes');
  expect(reason.message).toMatch(
    /"Id" is blank in the first 1000 rows, so "Name" identifies their orders, but "Id" is filled on line 1402/,
  );
});

test('a file identified by Name yields all its orders in sequence, however many are buffered', async () => {
  const rows = Array.from({ length: 2_500 }, (_, at) => shopifyRow(at + 1, ''));
  const { orders } = await mapShopify(rows);
  expect(orders.map(({ orderId }) => orderId)).toEqual(rows.map((_, at) => `#${at + 1}`));
});

test('a WooCommerce export of items has an order number but no order ID, and coupons on any row', async () => {
  const { orders, rejected } = await mapText(
    [
      'order_number,status,order_date,order_total,currency,coupon_codes,item_name',
      '1071,completed,2026-04-10 10:00:00,44.00,USD,ADA10,Wool hat',
      '1071,completed,2026-04-10 10:00:00,44.00,USD,ADA10,Wool sock',
      '1072,processing,2026-04-10 11:00:00,12.50,USD,,Wool hat',
    ].join('\n'),
    { layout: 'woocommerce-orders', reduced: true, source: { timeZone: 'UTC', currency: null } },
  );
  expect(rejected).toEqual([]);
  expect(orders.map(({ orderId, total, codes, rowCount }) => [orderId, total, codes, rowCount])).toEqual([
    ['1071', '44.00', ['ADA10'], 2],
    ['1072', '12.50', [], 1],
  ]);
});

test('WooCommerce uses order_id if both columns are filled, and the number if the ID is blank on every row', async () => {
  const header = 'order_id,order_number,status,order_date,order_total,currency';
  const rest = 'completed,2026-04-10 10:00:00,44.00,USD';
  const source = { timeZone: 'UTC', currency: null };
  const ids = async (...rows: string[]) => {
    const { orders } = await mapText([header, ...rows].join('\n'), {
      layout: 'woocommerce-orders',
      reduced: true,
      source,
    });
    return orders.map(({ orderId, groupKey }) => [orderId, groupKey]);
  };
  expect(await ids(`71,1071,${rest}`)).toEqual([['71', '71']]);
  expect(await ids(`,1071,${rest}`, `,1072,${rest}`)).toEqual([
    ['1071', '1071'],
    ['1072', '1072'],
  ]);
});

test('a reduced Shopify export takes its currency from the source, and is held without one', async () => {
  const text =
    'Name,Financial Status,Total,Discount Code,Created at\n#1,paid,5.00,ADA10,2026-04-10 11:00:00 +0000\n';
  const given = await mapText(text, {
    layout: 'shopify-orders',
    reduced: true,
    source: { timeZone: null, currency: 'INR' },
  });
  expect(given.orders).toMatchObject([{ orderId: '#1', currency: 'INR', total: '5.00' }]);
  const reason = await holdReason(
    mapText(text, { layout: 'shopify-orders', reduced: true, source: { timeZone: null, currency: null } }),
  );
  expect(reason).toMatchObject({ code: 'currency_unknown', help: expect.stringContaining('currency: EUR') });
});

test('a reduced Shopify export without codes is read for its notes, and held if no column could name an influencer', async () => {
  const row = '#1,paid,5.00,EUR,2026-04-10 11:00:00 +0000';
  const header = 'Name,Financial Status,Total,Currency,Created at';
  const { orders } = await mapText(`${header},Note Attributes\n${row},ref: mira\n`, {
    layout: 'shopify-orders',
    reduced: true,
  });
  expect(orders).toMatchObject([{ codes: [], links: ['mira'] }]);
  const reason = await holdReason(
    mapText(`${header}\n${row}\n`, { layout: 'shopify-orders', reduced: true }),
  );
  expect(reason).toMatchObject({
    code: 'header_mismatch',
    message: expect.stringContaining('"Discount Code" or "Note Attributes"'),
  });
});
