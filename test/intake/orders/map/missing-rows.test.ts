import { expect, test } from 'vitest';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { type Mapped, type MapTextOptions, mapText } from './map-text.ts';

/** One row an item, with the id of the order first. */
const ITEMS: Layout = {
  ...loadLayout('generic'),
  grouping: { lineItems: true, sum: { total: { plus: ['amount'], minus: [] } }, item: [], addsNothing: [] },
};
const HEADER = 'order_id,item,amount,discount_code';

/** Maps rows and returns which orders lack one: `?` if the row does not name them, `*` for any order of the file. */
async function lacking(rows: readonly string[], options: MapTextOptions & { readonly header?: string } = {}) {
  const { header = HEADER, ...rest } = options;
  return describe(await mapText(`${[header, ...rows].join('\n')}\n`, { layout: ITEMS, ...rest }));
}

function describe({ missing }: Mapped): string[] {
  return missing.map(({ groupKey, isCertain }) => `${groupKey ?? '*'}${isCertain ? '' : '?'}`);
}

test.each([
  ['has a cell too many', 'A-1,Hat, red,90.00,'],
  ['has too few cells', 'A-1,Hat'],
])('a row that %s and names its order is missing in that order only', async (_what, row) => {
  expect(await lacking(['A-0,Mug,5.00,', 'A-1,Mug,10.00,', row, 'A-2,Mug,20.00,'])).toEqual(['A-1']);
});

test('a lost row may come before the other rows of its order, or far from them', async () => {
  expect(await lacking(['A-0,Mug,5.00,', 'A-1,Hat, red,90.00,', 'A-1,Mug,10.00,'])).toEqual(['A-1']);
  const between = [1, 2, 3, 4, 5, 6].map((number) => `A-${number},Mug,5.00,`);
  expect(await lacking(['A-7,Mug,5.00,', ...between, 'A-7,Hat, red,9.00,'], { generationOrders: 2 })).toEqual(
    ['A-7'],
  );
});

test('a row whose cells have moved is found by the id in another column', async () => {
  const rows = ['Mug,10.00,7000000001', 'Hat, red,90.00,7000000001', 'Mug,20.00,7000000002'];
  expect(await lacking(rows, { header: 'item,amount,order_id' })).toEqual(['7000000001']);
});

test.each([
  ['with unreadable quotes', 'A-1,"Hat" red,90.00,', HEADER],
  ['that ends before its id', 'Hat', 'item,amount,order_id,discount_code'],
  ['without an id', ',Hat,90.00,', HEADER],
  ['whose id a spreadsheet has damaged', '1.23E+12,Hat,90.00,', HEADER],
])('a row %s may be missing in the orders before and after it', async (_what, row, header) => {
  const good = (id: string) => (header === HEADER ? `${id},Mug,10.00,` : `Mug,10.00,${id},`);
  const rows = [good('A-0'), good('A-1'), row, good('A-2'), good('A-3')];
  expect(await lacking(rows, { header })).toEqual(['A-1?', 'A-2?']);
});

test('the first and the last row of a file have one neighbour', async () => {
  const lost = ',Hat,90.00,';
  expect(await lacking([lost, 'A-1,Mug,10.00,', 'A-2,Mug,10.00,', lost])).toEqual(['A-1?', 'A-2?']);
  expect(await lacking([lost])).toEqual([]);
});

test('any order may lack a row that names none if the rows of an order do not stand together', async () => {
  const rows = ['A-1,Mug,10.00,', 'A-2,Mug,10.00,', ',Hat,90.00,', 'A-2,Cap,5.00,', 'A-1,Cap,5.00,'];
  expect(await lacking(rows)).toEqual(['A-2?', '*?']);
  // A lost row between the rows of an order does not separate them.
  expect(await lacking(['A-1,Mug,10.00,', ',Hat,90.00,', 'A-1,Cap,5.00,'])).toEqual(['A-1?']);
});

test('an amount that cannot be read is missing in its order, also in rows far away', async () => {
  const rows = ['A-1,Mug,10.00,', 'A-2,Mug,5.00,', 'A-3,Mug,5.00,', 'A-4,Mug,5.00,', 'A-1,Hat,9O.00,'];
  const mapped = await mapText(`${HEADER}\n${rows.join('\n')}\n`, { layout: ITEMS, generationOrders: 1 });
  expect(describe(mapped)).toEqual(['A-1']);
  expect(mapped.orders.map(({ orderId }) => orderId)).toContain('A-1');
});

test('a repeated header belongs to no order', async () => {
  expect(await lacking(['A-1,Mug,10.00,', HEADER, 'A-2,Mug,10.00,'])).toEqual([]);
});

test('nothing is missing in an order whose rows do not add up, unless they say what was bought', async () => {
  const text = 'order_id,order_revenue,sku,line_amount\nA-1,10.00,hat,5.00\nA-1,10.00,red, mug,5.00\n';
  expect(describe(await mapText(text))).toEqual([]);
  const source = { timeZone: null, currency: 'EUR', orderLines: true };
  expect(describe(await mapText(text, { source }))).toEqual(['A-1']);
});

test('lost rows at the beginning wait until it is known whether all rows are padded', async () => {
  const padded = (id: string) => `${id},Mug,10.00,,`;
  const rows = [padded('A-1'), '"A"-1,Hat,90.00,,', padded('A-2'), padded('A-3')];
  expect(await lacking(rows)).toEqual(['A-1?', 'A-2?']);
});
