import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkshop } from './workshop.ts';

const ADMIN_HEADER =
  'Name,Id,Financial Status,Currency,Total,Discount Code,Created at,Cancelled at,Payment Method,Refunded Amount,Source';
const BULK_HEADER =
  'id,name,displayFinancialStatus,totalPriceSet.shopMoney.amount,totalPriceSet.shopMoney.currencyCode,totalRefundedSet.shopMoney.amount,discountCodes,createdAt,cancelledAt,test,sourceName';
const OWN_HEADER = 'id,name,total,currency,code,placed_at,status';
const OWN_LAYOUT = `
title: Own
columns: { order_id: [id], order_name: [name], total: [total], currency: [currency], codes: [code], placed_at: [placed_at], status: [status] }
required: [order_id, total]
status: { credited: [paid] }
`;
const AT = '2026-05-14T10:15:00Z';

const admin = (id: number): string => `#${id},${id},paid,EUR,10.00,MIA10,${AT},,Shopify Payments,0.00,web`;
const bulk = (id: number): string =>
  `gid://shopify/Order/${id},#${id},PAID,10.0,EUR,0.0,"[""MIA10""]",${AT},,false,web`;
const own = (id: number): string => `gid://shopify/Order/${id},#${id},10.00,EUR,MIA10,${AT},paid`;
const toFile = (header: string, rows: readonly string[]): string => `${[header, ...rows].join('\n')}\n`;

const flowOf = (sources: string, names: string): string => `
sources:
${sources}
jobs:
  orders: {kind: attribute-orders, source: ${names}, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

test("an order is one order in the admin's export, in a bulk export and in a seed file with its global id", async () => {
  const workshop = await openWorkshop({
    flow: flowOf(
      `  admin: {uri: ./exports/admin/, layout: shopify-orders, order_platform: shopify}
  bulk: {uri: ./exports/bulk/, layout: shopify-bulk-orders, order_platform: shopify}`,
      '[admin, bulk]',
    ),
  });
  for (const folder of ['admin', 'bulk']) mkdirSync(join(workshop.folder, 'exports', folder));
  workshop.write(
    'seed.csv',
    'order_platform,order_id\nshopify,gid://shopify/Order/7003\nshopify,7004\nshopify,#7005\n',
  );
  const seeded = await workshop.cli('ledger', 'seed', 'seed.csv', '--reason', 'credited before');
  expect(seeded.exitCode).toBe(0);
  workshop.drop('admin/1.csv', toFile(ADMIN_HEADER, [admin(7001)]));
  workshop.drop('bulk/1.csv', toFile(BULK_HEADER, [7001, 7002, 7003, 7004].map(bulk)));
  expect((await workshop.run()).exitCode).toBe(0);
  expect(await workshop.posted()).toEqual(['7001', '7002']);
  workshop.drop('admin/2.csv', toFile(ADMIN_HEADER, [7001, 7002, 7003].map(admin)));
  await workshop.run();
  expect(await workshop.posted()).toEqual(['7001', '7002']);
});

test('a source whose orders had global ids by an own layout is held once the layout finds the number in them', async () => {
  const source = (layout: string): string =>
    flowOf(`  shop: {uri: ./exports/, layout: ${layout}, order_platform: shopify}`, 'shop');
  const workshop = await openWorkshop({ flow: source('own') });
  mkdirSync(join(workshop.folder, 'layouts'));
  workshop.write('layouts/own.yaml', OWN_LAYOUT);
  workshop.drop('1.csv', toFile(OWN_HEADER, [own(7001)]));
  await workshop.run();
  expect(await workshop.posted()).toEqual(['gid://shopify/Order/7001']);
  const config = readFileSync(join(workshop.folder, 'pipeline.yaml'), 'utf8');
  workshop.write('pipeline.yaml', config.replace('layout: own', 'layout: shopify-bulk-orders'));
  workshop.drop('2.csv', toFile(BULK_HEADER, [bulk(7001)]));
  const { events, finished } = await workshop.run();
  expect(finished).toMatchObject({ held_files: 1 });
  expect(JSON.stringify(events)).toContain('1 of its orders is known under another id');
  expect(await workshop.posted()).toEqual(['gid://shopify/Order/7001']);
});
