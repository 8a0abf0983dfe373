import { expect, test } from 'vitest';
import { SHOPIFY_HEADER, shopifyRow } from '../../bench/write-shopify-export.ts';
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

test('line items fold into their order, and its total is never summed', async () => {
  const { orders } = await mapRows([first(1), item(1), item(1), first(2)]);
  expect(orders.map(({ groupKey, total, rowCount }) => [groupKey, total, rowCount])).toEqual([
    ['#1', '50.00', 3],
    ['#2', '50.00', 1],
  ]);
});

test('what later rows repeat (Created at, Vendor, Phone, Email) does no harm', async () => {
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

test('the first value that is not blank counts, also when it stands on a later row', async () => {
  const { orders } = await mapRows([item(1), first(1, { 'Discount Code': 'ADA10' })]);
  expect(orders).toMatchObject([{ groupKey: '#1', codes: ['ADA10'], line: 2, rowCount: 2 }]);
});

test('rows of one order that stand apart merge', async () => {
  const { orders, continuations } = await mapRows([first(1), first(2), item(1), first(3), item(2), item(1)]);
  expect(orders.map(({ groupKey, rowCount }) => [groupKey, rowCount])).toEqual([
    ['#1', 3],
    ['#2', 2],
    ['#3', 1],
  ]);
  expect(continuations).toEqual([]);
});

test('rows merge as long as fewer orders than a generation begin between them', async () => {
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

test('line items whose order has left the window come out as a continuation', async () => {
  const rows = [first(1), first(2), first(3), first(4), first(5), item(1), item(1)];
  const { orders, continuations, rowsRead } = await mapRows(rows, { generationOrders: 2 });
  expect(orders.map(({ groupKey }) => groupKey)).toEqual(['#1', '#2', '#3', '#4', '#5']);
  expect(continuations).toEqual([{ groupKey: '#1', line: 7, record: 6, rowCount: 2 }]);
  expect(rowsRead).toBe(7);
});

test('rows with values of their own come out as the order again when it has left the window', async () => {
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
  'rows of one order that contradict each other in %s reject the whole order, with all its rows',
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

test('two orders that claim one id are both rejected', async () => {
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

test('an order that is stated twice in the same words is one order', async () => {
  const { orders } = await mapRows([first(1), first(2), first(1)]);
  expect(orders.map(({ groupKey, rowCount }) => [groupKey, rowCount])).toEqual([
    ['#1', 2],
    ['#2', 1],
  ]);
});

test('a row that names no order is rejected', async () => {
  expect(onlyFault(await mapRows([first(1), item(1, { Name: ' ' })]))).toEqual([
    'missing_value',
    'Name',
    ' ',
  ]);
});

test('an order without its id is rejected where other orders of the file have one, rather than named by something else', async () => {
  expect(onlyFault(await mapRows([first(1, { Id: '' }), first(2)]))).toEqual(['missing_value', 'Id', null]);
});

test('different codes on rows of one order all count', async () => {
  const { orders } = await mapRows([
    first(1, { 'Discount Code': 'ADA10, BOB' }),
    item(1, { 'Discount Code': 'BOB, CLEO' }),
  ]);
  expect(orders[0]?.codes).toEqual(['ADA10', 'BOB', 'CLEO']);
});

test('where every order is one row, a repeated row must say the same', async () => {
  const header = 'order_id,order_revenue,placed_at\n';
  const same = await mapText(`${header}1,5,2026-04-10T10:00:00Z\n1,5,2026-04-10T10:00:00Z\n`);
  expect(same.orders).toMatchObject([{ orderId: '1', rowCount: 2 }]);
  const other = await mapText(`${header}1,5,2026-04-10T10:00:00Z\n1,5,2026-04-11T10:00:00Z\n`);
  expect(onlyFault(other)).toEqual(['conflicting_rows', 'placed_at', '2026-04-11T10:00:00Z']);
  expect(other.rejected[0]?.rowCount).toBe(2);
});
