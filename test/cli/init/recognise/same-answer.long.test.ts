import { cpSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STARTER_REVENUE } from '../../../../jobs/attribute-orders/settings.ts';
import { openWorkshop } from '../../../runs/workshop.ts';
import { answerOf, eventsOf, outcomeOf } from './look.ts';

const GENERIC = 'order_id,status,currency,order_revenue,refunded_amount,discount_code,placed_at,cancelled';
const PARTS = 'Sale,State,Cur,Part,Code,Sold at';
const OWN_LAYOUT = `
title: Own parts
lacks: [consent]
columns: {group: [Sale], order_id: [Sale], status: [State], currency: [Cur], codes: [Code], placed_at: [Sold at]}
required: [order_id, status, total, codes, placed_at]
signature: [[Sale, Part, Code, Sold at]]
grouping: {line_items: true, sum: {total: {plus: [Part]}}}
money: {decimal: ".", thousands: null, symbols: false}
times: [iso]
status: {credited: [paid], known: [refunded]}
`;
const ITEMS =
  'Sale Date,Item Name,Buyer,Quantity,Price,Coupon Code,Discount Amount,Item Total,Currency,Transaction ID,Date Paid,Order ID,SKU';
const itemOf = (id: string, order: string, total: string, code = 'MIA10'): string =>
  `09/21/26,Hat,ada,1,${total},${code},0,${total},USD,${id},09/22/26,${order},H`;

/** Files of a source, in the order of their age. */
type Case = {
  readonly title: string;
  readonly layout: 'generic' | 'etsy-order-items' | 'own-parts';
  readonly files: readonly (readonly string[])[];
  /** `reason : orders amount` of each reason for which orders are held. */
  readonly held: readonly string[];
};

/** Returns a function that makes cases of a layout. */
function casesOf(layout: Case['layout'], header: string) {
  return (title: string, held: readonly string[], ...files: readonly (readonly string[])[]): Case => ({
    title,
    layout,
    files: files.map((rows) => [header, ...rows]),
    held,
  });
}
const generic = casesOf('generic', GENERIC);
const parts = casesOf('own-parts', PARTS);
const items = casesOf('etsy-order-items', ITEMS);

test.each([
  generic(
    'a total that fell by what was refunded',
    ['refund_in_total : 1 10.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no', '2,paid,EUR,20.00,0,MIA10,2026-04-10T10:21:26Z,no'],
    [
      '1,paid,EUR,20.00,5.00,MIA10,2026-04-10T09:17:26Z,no',
      '2,paid,EUR,15.00,5.00,MIA10,2026-04-10T10:21:26Z,no',
    ],
  ),
  generic(
    'a doubtful refund that a third file repeats',
    ['refund_in_total : 1 10.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    ['1,paid,EUR,15.00,5.00,MIA10,2026-04-10T09:17:26Z,no'],
    [
      '1,paid,EUR,15.00,5.00,MIA10,2026-04-10T09:17:26Z,no',
      '2,paid,EUR,7.00,0,MIA10,2026-04-20T09:17:26Z,no',
    ],
  ),
  generic(
    'all orders a time zone later, with other states',
    [],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no', '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no'],
    ['1,paid,EUR,21.00,0,MIA10,2026-04-10T11:17:26Z,no', '2,paid,EUR,31.00,0,MIA10,2026-04-10T12:21:26Z,no'],
  ),
  generic(
    'one order a time zone later, with another amount',
    ['other_order_same_id : 1 20.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no', '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no'],
    ['1,paid,EUR,21.00,0,MIA10,2026-04-10T11:17:26Z,no', '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no'],
  ),
  generic(
    'a file of days after one of times',
    [],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no', '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no'],
    ['1,paid,EUR,21.00,0,MIA10,2026-04-10,no', '2,paid,EUR,30.00,0,MIA10,2026-04-10,no'],
  ),
  generic(
    'a lone order at a quarter of an hour that is another purchase',
    ['other_order_same_id : 1 20.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:07:31Z,no', '2,paid,EUR,9.00,0,,2026-04-10T10:21:26Z,no'],
    ['1,paid,EUR,55.00,0,MIA10,2026-04-10T17:45:00Z,no'],
  ),
  generic(
    'another purchase at a time after a lone order at a quarter of an hour',
    ['other_order_same_id : 1 20.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:00:00Z,no'],
    ['1,paid,EUR,55.00,0,MIA10,2026-04-10T14:07:31Z,no'],
  ),
  generic(
    'the same purchase, alone on a day',
    [],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:07:31Z,no', '2,paid,EUR,9.00,0,,2026-04-10T10:21:26Z,no'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T00:00:00Z,no'],
  ),
  generic(
    'an amount below zero under the id of an earlier order, at another time',
    ['other_order_same_id : 1 20.0000'],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    ['1,paid,EUR,-20.00,0,MIA10,2026-04-12T10:21:26Z,no'],
  ),
  generic(
    'two rows of one file that contradict each other',
    [],
    [
      '1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no',
      '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no',
      '1,paid,EUR,21.00,0,MIA10,2026-04-10T09:17:26Z,no',
    ],
  ),
  generic(
    'contradicting rows of an order that an earlier file states',
    ['newer_row_rejected : 1 19.0000'],
    ['1,paid,EUR,19.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    [
      '1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no',
      '2,paid,EUR,30.00,0,MIA10,2026-04-10T10:21:26Z,no',
      '1,paid,EUR,21.00,0,MIA10,2026-04-10T09:17:26Z,no',
    ],
  ),
  parts(
    'rows of an order that are not beside each other',
    [],
    [
      '1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z',
      '2,paid,EUR,30.00,MIA10,2026-04-10T10:21:26Z',
      '1,paid,EUR,5.00,MIA10,2026-04-10T09:17:26Z',
    ],
  ),
  parts(
    'an order with a row that cannot be used',
    [],
    [
      '1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z',
      '2,paid,EUR,30.00,MIA10,2026-04-10T10:21:26Z',
      '1,paid,EUR,five,MIA10,2026-04-10T09:17:26Z',
    ],
  ),
  parts(
    'a row of a later file that may be a part',
    ['may_be_split : 1 5.0000'],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z', '2,paid,EUR,30.00,MIA10,2026-04-10T10:21:26Z'],
    ['1,paid,EUR,5.00,MIA10,2026-04-10T09:17:26Z', '2,paid,EUR,30.00,MIA10,2026-04-10T10:21:26Z'],
  ),
  parts(
    'a refund of a part in a later file',
    ['may_be_split : 1 -5.0000'],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z'],
    ['1,,EUR,-5.00,,2026-04-12T09:17:26Z', '2,paid,EUR,30.00,MIA10,2026-04-12T10:21:26Z'],
  ),
  parts(
    'a refund of everything in a later file',
    [],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z'],
    ['1,,EUR,-20.00,,2026-04-12T09:17:26Z', '2,paid,EUR,30.00,MIA10,2026-04-12T10:21:26Z'],
  ),
  parts(
    'more rows of an order in a later file',
    [],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z'],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z', '1,paid,EUR,5.00,MIA10,2026-04-10T09:17:26Z'],
  ),
  parts(
    'a row with too few cells, and without an id',
    ['may_be_incomplete : 1 30.0000'],
    ['1,paid,EUR,20.00,MIA10,2026-04-10T09:17:26Z', '2,paid,EUR,30.00,MIA10,2026-04-10T10:21:26Z', ',paid'],
  ),
  generic(
    'a file of which most orders are cancelled',
    [],
    ['100,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    Array.from(
      { length: 25 },
      (_, at) => `${at},paid,EUR,20.00,0,MIA10,2026-04-10T09:17:${10 + at}Z,${at < 24 ? 'yes' : 'no'}`,
    ),
  ),
  generic(
    'a file of which many rows cannot be used, also one of an order of an earlier file',
    [],
    ['1,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    Array.from(
      { length: 25 },
      (_, at) => `${at},paid,EUR,${at < 13 ? 'five' : '20.00'},0,MIA10,2026-04-10T09:17:${10 + at}Z,no`,
    ),
  ),
  generic(
    'a file of which no order has an amount',
    [],
    ['100,paid,EUR,20.00,0,MIA10,2026-04-10T09:17:26Z,no'],
    Array.from({ length: 25 }, (_, at) => `${at},paid,EUR,0.00,0,MIA10,2026-04-10T09:17:${10 + at}Z,no`),
  ),
  items(
    'other items of an order in a later file',
    [],
    [itemOf('4001', '3001', '10.00'), itemOf('4003', '3002', '7.00')],
    [itemOf('4002', '3001', '3.00', '')],
  ),
  items(
    'an item whose amount has changed',
    [],
    [itemOf('4001', '3001', '10.00'), itemOf('4002', '3001', '3.00')],
    [itemOf('4001', '3001', '9.00')],
  ),
])('init says of files what a run does: $title', async ({ layout, files, held }) => {
  const shop = await openWorkshop({
    flow: `
sources:
  shop: {uri: ./exports/, layout: ${layout}, order_platform: shop, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv${layout === 'etsy-order-items' ? ', include: any' : ''}, revenue: ${STARTER_REVENUE}}
`,
  });
  for (const folder of ['.', 'new']) {
    mkdirSync(join(shop.folder, folder, 'layouts'), { recursive: true });
    if (layout === 'own-parts') shop.write(join(folder, 'layouts/own-parts.yaml'), OWN_LAYOUT);
  }
  for (const [at, lines] of files.entries()) {
    const name = `orders-2026-09-2${at + 3}.csv`;
    shop.drop(name, `${lines.join('\n')}\n`);
    utimesSync(join(shop.folder, 'exports', name), 1_795_000_000, 1_795_000_000);
  }
  cpSync(join(shop.folder, 'exports'), join(shop.folder, 'again'), {
    recursive: true,
    preserveTimestamps: true,
  });
  const answers = ['--brand', '4819', '--time-zone', 'UTC', '--status', 'any', '--yes', '--json'];
  const shown = await shop.cli('init', 'again', '--out', 'new', ...answers);
  const previewed = answerOf(eventsOf(shown.stdout).find((one) => one.event === 'source')?.preview);
  const run = await shop.run();
  const reviewed = eventsOf((await shop.cli('review', '--held', '--json')).stdout);
  expect(previewed).toEqual(outcomeOf(run, reviewed));
  expect(previewed).toMatchObject({ held });
});

test('layouts test says that a run holds a file of states that neither the layout nor the job names', async () => {
  const shop = await openWorkshop();
  const rows = Array.from(
    { length: 25 },
    (_, at) => `${at},odd,EUR,20.00,0,MIA10,2026-04-10T09:17:${10 + at}Z,no`,
  );
  shop.drop('orders.csv', [GENERIC, ...rows, ''].join('\n'));
  const [event] = eventsOf((await shop.cli('layouts', 'test', 'exports/orders.csv', '--json')).stdout);
  const [held] = eventsOf((await shop.run()).stdout).filter((one) => one.event === 'note');
  const message = String(held?.message).replace('Held orders.csv: ', '');
  expect(message).toContain('("odd")');
  const preview = { credited: 0, held_orders: [], orders_in_held_files: 25, held: [message] };
  expect(event).toMatchObject({ examined: { preview } });
});
