import { cpSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STARTER_REVENUE } from '../../../../jobs/attribute-orders/settings.ts';
import { openWorkshop } from '../../../runs/workshop.ts';
import { answerOf, eventsOf, outcomeOf } from './look.ts';

const HEADER =
  'Name,Financial Status,Currency,Total,Subtotal,Refunded Amount,Discount Code,Created at,Cancelled at,Id,Notes,Payment Method,Source';
type Row = {
  readonly status?: string;
  readonly total?: string;
  readonly refunded?: string;
  readonly code?: string;
  readonly cancelled?: string;
};

/** One order each, of 10.00 EUR plus its number, so that every sum tells which orders it adds up. */
const ROWS: readonly Row[] = [
  {},
  { status: 'PAID' },
  { status: 'on_credit' },
  { status: 'on_credit' },
  { status: '-' },
  { status: 'pending' },
  { status: 'refunded' },
  { status: 'partially_refunded' },
  { status: 'partially_refunded', refunded: '4.00' },
  { total: '0.00' },
  { refunded: '-1.00' },
  { refunded: '500.00' },
  { refunded: '22.00' },
  { cancelled: '2026-04-11 11:11:26 +0200' },
  { code: '' },
  { code: '', status: 'on_credit' },
  { total: 'ten' },
];

const FILE = [
  HEADER,
  ...ROWS.map(({ status = 'paid', total, refunded = '', code = 'MIA10', cancelled = '' }, at) =>
    [
      ...[`#${1000 + at}`, status, 'EUR', total ?? `${10 + at}.00`, total ?? `${10 + at}.00`, refunded, code],
      ...['2026-04-10 11:11:26 +0200', cancelled, 5000 + at, '', '', 'web'],
    ].join(','),
  ),
  '',
].join('\n');

const STARTER = `, revenue: ${STARTER_REVENUE}`;

const flowOf = (settings: string) => `
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv${settings}}
`;

test.each([
  ['says which is newer', ['orders-2026-04-12.csv', 'orders-2026-04-15.csv', 'orders-2026-04-19.csv']],
  ['does not say which is newer', ['one.csv', 'other.csv']],
])('init counts an order of several files once, as a run does, if their age %s', async (_what, names) => {
  const shop = await openWorkshop({ flow: flowOf(STARTER) });
  const later = FILE.replace('#1000,paid', '#1000,refunded')
    .replace('#1001,PAID,EUR,11.00', '#1001,PAID,EUR,21.00')
    .replace('#1016,paid,EUR,ten,ten', '#1016,paid,EUR,26.00,26.00')
    .replace('EUR,18.00', 'EUR,18.x0');
  // The number of this order is used again a week later, by another one. A file between them does not say when it was placed.
  // Another number is used again on the same day.
  const reused = (total: string, placedAt: string, id = '6000') =>
    `#${id},paid,EUR,${total},${total},,MIA10,${placedAt},,${id},,,web\n`;
  const [morning, afternoon] = ['2026-04-10 11:11:26 +0200', '2026-04-10 14:33:05 +0200'] as const;
  const contentOf = (at: number) =>
    at === 0
      ? FILE + reused('40.00', morning) + reused('41.00', morning, '7000')
      : at === names.length - 1
        ? later + reused('50.00', '2026-04-17 11:11:26 +0200') + reused('51.00', afternoon, '7000')
        : FILE.slice(0, FILE.indexOf('\n') + 1) + reused('40.00', '');
  for (const [at, name] of names.entries()) {
    shop.drop(name, contentOf(at));
    utimesSync(join(shop.folder, 'exports', name), 1_780_000_000, 1_780_000_000);
  }
  cpSync(join(shop.folder, 'exports'), join(shop.folder, 'again'), {
    recursive: true,
    preserveTimestamps: true,
  });
  const answers = ['--brand', '4819', '--yes', '--json'];
  const init = eventsOf((await shop.cli('init', 'again', '--out', 'new', ...answers)).stdout);
  const previewed = answerOf(init.find((one) => one.event === 'source')?.preview);
  const run = await shop.run();
  const held = eventsOf((await shop.cli('review', '--held', '--json')).stdout);
  expect(previewed).toEqual(outcomeOf(run, held));
  expect(previewed).toMatchObject({ held: expect.arrayContaining(['other_order_same_id : 2 81.0000']) });
  expect((previewed as { credited: number }).credited).toBe(names[0] === 'one.csv' ? 0 : 2);
});

test.each(['', STARTER, ', include: any'])(
  'init, layouts test, plan and run say the same about a file; settings of the job: %j',
  async (settings) => {
    const shop = await openWorkshop({ flow: flowOf(settings) });
    shop.drop('orders.csv', FILE);
    cpSync(join(shop.folder, 'exports'), join(shop.folder, 'again'), { recursive: true });
    const tested = eventsOf((await shop.cli('layouts', 'test', 'again/orders.csv', '--json')).stdout);
    const event = tested.find((one) => one.event === 'layout_tested') as Record<string, unknown>;
    expect(event.job).toBe('orders');
    const previewed = answerOf((event.examined as Record<string, unknown>).preview);
    const planned = eventsOf((await shop.cli('plan', 'orders', '--json')).stdout).at(-1);
    const run = await shop.run();
    const held = eventsOf((await shop.cli('review', '--held', '--json')).stdout);
    const counts = run.finished?.counts;
    expect(previewed).toEqual(outcomeOf(run, held));
    expect(planned).toMatchObject({
      counts: {
        organic: counts?.organic,
        excluded: counts?.excluded,
        entries: { ready: counts?.entries.accepted },
      },
    });
    if (settings !== STARTER) return;
    // It is what init writes.
    const answers = ['--brand', '4819', '--yes', '--json'];
    const init = eventsOf((await shop.cli('init', 'again', '--out', 'new', ...answers)).stdout);
    expect(answerOf(init.find((one) => one.event === 'source')?.preview)).toEqual(previewed);
    expect(previewed).toMatchObject({
      credited: 3,
      organic: 2,
      held: expect.arrayContaining(['refund_out_of_range : 2 null', 'unknown_refund : 1 17.0000']),
    });
  },
);
