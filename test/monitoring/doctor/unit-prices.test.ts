import { expect, test } from 'vitest';
import { sourceAt } from '../../../src/config/source-fields.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { findUnitPrices } from '../../../src/monitoring/doctor/diagnostics/unit-prices.ts';

const GENERIC = loadLayout('generic');

function look({
  price = 'Unit price',
  rows = [
    ['1', '20.00', '2', '40.00'],
    ['2', '30.00', '1', '30.00'],
  ],
  times = null as readonly string[] | null,
  missingColumns = {},
}) {
  const header = ['order_id', price, 'Qty', 'Z'];
  const sum = times === null ? {} : { total: { plus: [price], minus: [], times } };
  const layout = {
    ...GENERIC,
    required: [],
    columns: { ...GENERIC.columns, total: [price] },
    grouping: { ...GENERIC.grouping, sum },
  };
  const records = rows.map((cells, at) => ({ cells, line: at + 2, record: at + 1 }));
  async function* open() {
    yield { header, records, rejected: [], lost: [], open: null };
  }
  const source = { ...sourceAt('./exports'), name: 'shop', missingColumns };
  return findUnitPrices({ layout, otherLayouts: () => [], source, open }, 'o.csv');
}

test('the price of one piece as the amount of an order is reported with both sums', async () => {
  expect(await look({})).toMatchObject([
    {
      status: 'warning',
      what: 'o.csv: "Qty" is above 1 on 1 row of 2, and the amount of an order is "Unit price" alone: 50.00 in all, and 70.00 times the quantity.',
      fix: expect.stringContaining('times: ["Qty"]'),
    },
  ]);
});

test.each([
  ['another price is one of a piece if a column is its product', { price: 'Price' }, 1],
  ['or else may be that of the row', { price: 'Price', rows: [['1', '20.00', '2', '']] }, 0],
  ['a quantity of one multiplies nothing', { rows: [['1', '20.00', '1', '20.00']] }, 0],
  ['a layout that multiplies is right', { times: ['Qty'] }, 0],
  ['a source may excuse the quantity', { missingColumns: { Qty: 'The price is that of the row.' } }, 0],
])('of unit prices, %s', async (_, given, warnings) => {
  expect(await look(given)).toHaveLength(warnings);
});
