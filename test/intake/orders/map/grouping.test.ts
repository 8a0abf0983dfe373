import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SHOPIFY_HEADER, shopifyRow } from '../../../../bench/write-shopify-export.ts';
import { layoutSchema } from '../../../../src/intake/layout/layout-schema.ts';
import { toLayout } from '../../../../src/intake/layout/to-layout.ts';
import { type Mapped, type MapTextOptions, mapText, onlyFault } from './map-text.ts';

type Cells = Readonly<Record<string, string>>;

/** Returns the first row of an order; `cells` override its values. */
function first(number: number, cells: Cells = {}): Cells {
  return {
    Name: `#${number}`,
    Id: String(5_000_000 + number),
    'Financial Status': 'paid',
    Currency: 'EUR',
    Total: '50.00',
    'Created at': '2026-04-10 11:11:26 +0200',
    'Lineitem name': 'Hat',
    ...cells,
  };
}

function item(number: number, cells: Cells = {}): Cells {
  return { Name: `#${number}`, 'Lineitem name': 'Scarf', ...cells };
}

function mapRows(rows: readonly Cells[], options: MapTextOptions = {}): Promise<Mapped> {
  const text = `${SHOPIFY_HEADER.join(',')}\n${rows.map((row) => `${shopifyRow(row)}\n`).join('')}`;
  return mapText(text, { layout: 'shopify-orders', ...options });
}

test('line items are grouped into their order, and its total is never summed', async () => {
  const { orders } = await mapRows([first(1), item(1), item(1), first(2)]);
  expect(orders.map(({ groupKey, total, rowCount }) => [groupKey, total, rowCount])).toEqual([
    ['#1', '50.00', 3],
    ['#2', '50.00', 1],
  ]);
});

test('rows whose ids differ only in blanks, quotes or the width of digits state the same order', async () => {
  const ids = ['101', ' 101 ', '１０１', "'101", '\u200b101'];
  const { orders, rejected } = await mapText(
    `order_id,order_revenue,currency\n${ids.map((id) => `${id},10.00,EUR\n`).join('')}102,5.00,EUR\n`,
    { layout: 'generic' },
  );
  expect(rejected).toEqual([]);
  expect(orders.map(({ orderId, total, rowCount }) => [orderId, total, rowCount])).toEqual([
    ['101', '10.00', 5],
    ['102', '5.00', 1],
  ]);
});

test('columns that later rows repeat (Created at, Vendor, Phone, Email) do no harm', async () => {
  const { orders, rejected } = await mapRows([
    first(1),
    item(1, {
      'Created at': '2026-04-10 11:11:26 +0200',
      Vendor: 'V',
      Phone: '555',
      Email: 'ada@example.com',
    }),
  ]);
  expect(rejected).toEqual([]);
  expect(orders).toMatchObject([{ placedAt: '2026-04-10T09:11:26Z', rowCount: 2 }]);
});

test('the first non-blank value counts, even if it is on a later row', async () => {
  const { orders } = await mapRows([item(1), first(1, { 'Discount Code': 'ADA10' })]);
  expect(orders).toMatchObject([{ groupKey: '#1', codes: ['ADA10'], line: 2, rowCount: 2 }]);
});

test('separate rows of one order are merged', async () => {
  const { orders, continuations } = await mapRows([first(1), first(2), item(1), first(3), item(2), item(1)]);
  expect(orders.map(({ groupKey, rowCount }) => [groupKey, rowCount])).toEqual([
    ['#1', 3],
    ['#2', 2],
    ['#3', 1],
  ]);
  expect(continuations).toEqual([]);
});

test('rows are merged if fewer orders than a generation begin between them', async () => {
  const rows = [first(1), first(2), first(3), item(1), first(4), item(2)];
  const { orders, continuations } = await mapRows(rows, { generationOrders: 2 });
  expect(orders.map(({ groupKey, rowCount }) => [groupKey, rowCount])).toEqual([
    ['#1', 2],
    ['#2', 2],
    ['#3', 1],
    ['#4', 1],
  ]);
  expect(continuations).toEqual([]);
});

test('line items whose order has left the window become a continuation', async () => {
  const rows = [first(1), first(2), first(3), first(4), first(5), item(1), item(1)];
  const { orders, continuations, rowsRead } = await mapRows(rows, { generationOrders: 2 });
  expect(orders.map(({ groupKey }) => groupKey)).toEqual(['#1', '#2', '#3', '#4', '#5']);
  expect(continuations).toEqual([{ groupKey: '#1', line: 7, record: 6, rowCount: 2 }]);
  expect(rowsRead).toBe(7);
});

test('rows with their own values become the order again if it has left the window', async () => {
  const rows = [first(1), first(2), first(3), first(4), first(5), first(1, { Total: '60.00' })];
  const { orders } = await mapRows(rows, { generationOrders: 2 });
  expect(orders.filter(({ groupKey }) => groupKey === '#1').map(({ total, line }) => [total, line])).toEqual([
    ['50.00', 2],
    ['60.00', 7],
  ]);
});

test.each([
  ['Total', '60.00'],
  ['Currency', 'USD'],
  ['Financial Status', 'refunded'],
  ['Id', '7'],
])(
  'rows of one order with contradictory values of %s reject the whole order with all its rows',
  async (column, value) => {
    const { orders, rejected } = await mapRows([first(1), item(1), first(2), first(1, { [column]: value })]);
    expect(orders.map(({ groupKey }) => groupKey)).toEqual(['#2']);
    expect(rejected.map(({ code, line, record, rowCount }) => [code, line, record, rowCount])).toEqual([
      ['conflicting_rows', 2, 1, 2],
      ['conflicting_rows', 5, 4, 1],
    ]);
    expect(rejected[0]).toMatchObject({ column, value });
  },
);

test('two orders with the same ID are both rejected', async () => {
  const { orders, rejected } = await mapRows([
    first(1, { Id: '7' }),
    item(1),
    first(2),
    first(3, { Id: '7' }),
  ]);
  expect(orders.map(({ groupKey }) => groupKey)).toEqual(['#2']);
  expect(rejected.map(({ code, line, rowCount }) => [code, line, rowCount])).toEqual([
    ['conflicting_rows', 2, 2],
    ['conflicting_rows', 5, 1],
  ]);
});

test('an order that occurs twice with equal values is one order', async () => {
  const { orders } = await mapRows([first(1), first(2), first(1)]);
  expect(orders.map(({ groupKey, rowCount }) => [groupKey, rowCount])).toEqual([
    ['#1', 2],
    ['#2', 1],
  ]);
});

test('a row without an order is rejected', async () => {
  expect(onlyFault(await mapRows([first(1), item(1, { Name: ' ' })]))).toEqual([
    'missing_value',
    'Name',
    ' ',
  ]);
});

test('an order without an ID is rejected, rather than identified by another column, if other orders of the file have one', async () => {
  expect(onlyFault(await mapRows([first(1, { Id: '' }), first(2)]))).toEqual(['missing_value', 'Id', null]);
});

test('all codes on the rows of one order count', async () => {
  const { orders } = await mapRows([
    first(1, { 'Discount Code': 'ADA10, BOB' }),
    item(1, { 'Discount Code': 'BOB, CLEO' }),
  ]);
  expect(orders[0]?.codes).toEqual(['ADA10', 'BOB', 'CLEO']);
});

test('a repeated row must have equal values if every order is a single row', async () => {
  const header = 'order_id,order_revenue,placed_at\n';
  const same = await mapText(`${header}1,5,2026-04-10T10:00:00Z\n1,5,2026-04-10T10:00:00Z\n`);
  expect(same.orders).toMatchObject([{ orderId: '1', rowCount: 2 }]);
  const other = await mapText(`${header}1,5,2026-04-10T10:00:00Z\n1,5,2026-04-11T10:00:00Z\n`);
  expect(onlyFault(other)).toEqual(['conflicting_rows', 'placed_at', '2026-04-11T10:00:00Z']);
  expect(other.rejected[0]?.reason).toContain('the value is on line 3, and a row above it has another');
  expect(other.rejected[0]?.rowCount).toBe(2);
});

const ITEMS = 'order_id,order_revenue,placed_at,discount_code,updated_at';
const itemsLayout = (grouping: string) =>
  toLayout(
    'items',
    layoutSchema.parse(
      parse(`{ title: items, lacks: [consent, status, currency, time_zone], columns: { order_id: [order_id], total: [order_revenue], placed_at: [placed_at],
        codes: [discount_code], changed_at: [updated_at] }, required: [order_id], times: [iso], grouping: { ${grouping} } }`),
    ),
  );

test.each([
  ['line items', 'line_items: true', null],
  ['items that add up', 'line_items: true, sum: { total: { plus: [order_revenue] } }', null],
  ['rows that must agree', 'line_items: false', null],
  ['states of an order', 'line_items: false', 'column'],
] as const)(
  'of %s, rows of one id that were placed days apart are two orders, and neither counts',
  async (_, grouping, age) => {
    const source = { timeZone: 'UTC', currency: 'EUR', age };
    const rowsOf = (later: string) =>
      mapText(
        `${ITEMS}\n1001,50.00,2026-01-10 09:00:00,MIA10,2026-01-10 09:00:00\n1002,5.00,2026-01-10 09:00:00,,2026-01-10 09:00:00\n1001,50.00,${later},ADA10,2026-03-10 09:00:00\n`,
        { layout: itemsLayout(grouping), source },
      );
    const { orders, rejected } = await rowsOf('2026-03-10 09:00:00');
    expect(orders.map(({ orderId }) => orderId)).toEqual(['1002']);
    expect(rejected.map(({ code, orderId }) => [code, orderId])).toEqual([
      ['conflicting_rows', '1001'],
      ['conflicting_rows', '1001'],
    ]);
    // Items of one order may have times of their own. The time of a row that is blank says nothing.
    for (const near of ['2026-01-11 18:00:00', ''])
      if (grouping.startsWith('line_items: true') || age === 'column' || near === '')
        expect((await rowsOf(near)).orders.map(({ orderId }) => orderId)).toContain('1001');
  },
);

test('more times than an order can have are no codes, and reject it', async () => {
  const rows = Array.from(
    { length: 60 },
    (__, at) => `1001,1.00,2026-01-10 09:${String(at).padStart(2, '0')}:00,,`,
  );
  const { rejected } = await mapText(`${ITEMS}\n${rows.join('\n')}\n`, {
    layout: itemsLayout('line_items: true'),
    source: { timeZone: 'UTC', currency: 'EUR' },
  });
  expect(new Set(rejected.map(({ code, column }) => `${code} ${column}`))).toEqual(
    new Set(['conflicting_rows placed_at']),
  );
});
