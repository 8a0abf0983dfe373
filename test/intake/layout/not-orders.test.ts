import { expect, test } from 'vitest';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { loadLayout, loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { listNotOrders } from '../../../src/intake/layout/not-orders.ts';
import { provenBy } from '../../../src/intake/layout/resolve-header.ts';
import { folderWith, look } from '../../cli/init/recognise/look.ts';
import { exampleRow } from '../../support/example-row.ts';
import { mapText } from '../orders/map/map-text.ts';

const SIGNATURES = listNotOrders().flatMap((kind) => kind.signature.map((columns) => ({ kind, columns })));

test('a file that has the signature of an export without orders is held with its name, under a layout that would read it', async () => {
  for (const { kind, columns } of SIGNATURES) {
    const header = ['order_id', 'order_revenue', 'currency', 'status', ...columns];
    const row = ['1', '10.00', 'EUR', 'paid', ...columns.map(() => 'x')];
    await expect(mapText(`${header.join(',')}\n${row.join(',')}\n`)).rejects.toMatchObject({
      reason: {
        code: 'not_orders',
        message: expect.stringContaining(kind.title),
        help: expect.stringContaining(kind.instead),
      },
    });
  }
});

test('no layout of the project reads such an export, and none of their examples is taken for one', async () => {
  const layouts = loadLayouts();
  for (const { kind, columns } of SIGNATURES)
    expect([kind.name, layouts.filter((layout) => provenBy(layout, columns) > 0)]).toEqual([kind.name, []]);
  for (const layout of layouts.filter((one) => layoutFor(one, 'orders') !== null)) {
    const example = exampleRow(layout);
    const unproven = { ...layout, signature: [] };
    const { orders } = await mapText(example.text(), { layout: unproven, source: example.source });
    expect(orders).toHaveLength(1);
  }
});

test('a layout with a signature of its own may read such an export', async () => {
  const layout = { ...loadLayout('generic'), signature: [['order_id', 'commission_status']] };
  const text =
    'order_id,order_revenue,currency,status,commission_status,sale_amount\n1,10.00,EUR,paid,approved,10.00\n';
  expect((await mapText(text, { layout })).orders).toHaveLength(1);
});

test('abandoned checkouts are excluded by the number of their checkout, whatever their status', async () => {
  const example = exampleRow(loadLayout('shopify-orders'));
  const { orders } = await mapText(example.with('Name', '#12345678901234').text(), {
    layout: 'shopify-orders',
    source: example.source,
  });
  expect(orders.map(({ exclusion }) => exclusion)).toEqual(['abandoned_checkout']);
});

test('init refuses such an export with its name, and does not propose a layout for it', async () => {
  const awin =
    'id,commission_status,sale_amount,order_ref,code,transaction_date\n1,2,10.00,#1,MIA10,2026-05-01T10:00:00Z\n';
  const { sources, refused } = await look(folderWith({ 'awin.csv': awin }));
  expect(sources).toEqual([]);
  expect(refused).toMatchObject([{ code: 'not_orders', why: expect.stringContaining('Awin transactions') }]);
});
