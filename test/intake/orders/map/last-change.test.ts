import { describe, expect, test } from 'vitest';
import { mapText } from './map-text.ts';

const source = { timeZone: 'UTC', currency: 'EUR', age: 'column' } as const;
const HEADER = 'order_id,order_revenue,status,updated_at';

/** What is staged of an order whose rows stand in one file. */
async function staged(rows: readonly string[], modifiedAt: Date | null = null) {
  const mapped = await mapText(`${[HEADER, ...rows].join('\n')}\n`, { source, modifiedAt });
  expect(mapped.rowsRead).toBe(rows.length);
  const said = mapped.orders.map(({ orderId, total, status, changedAt, rowCount }) =>
    [orderId, total, status, changedAt, rowCount].join(' '),
  );
  return [...said, ...mapped.rejected.map(({ code }) => code)];
}

describe('an order that a file states several times, with the times of its last change,', () => {
  test.each([
    [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,2026-04-10 08:00:00']],
    [['1,8,paid,2026-04-10 08:00:00', '1,10,paid,2026-04-10 09:00:00']],
    // 11:00 in Amsterdam is the same time.
    [['1,10,paid,2026-04-10 09:00:00', '1,10,paid,2026-04-10T11:00:00+02:00']],
  ])('has the newest state, wherever it stands', async (rows) => {
    expect(await staged(rows)).toEqual(['1 10.00 paid 2026-04-10T09:00:00Z 2']);
  });

  test('keeps the rows of each state together', async () => {
    expect(
      await staged([
        '1,10,paid,2026-04-10 09:00:00',
        '2,5,paid,2026-04-10 09:00:00',
        '1,8,cancelled,2026-04-10 08:00:00',
        '1,10,paid,2026-04-10 09:00:00',
      ]),
    ).toEqual(['1 10.00 paid 2026-04-10T09:00:00Z 3', '2 5.00 paid 2026-04-10T09:00:00Z 1']);
  });

  test.each([
    [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,2026-04-10T11:00:00+02:00']],
    [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,yesterday']],
    // The newest state of it cannot be read.
    [['1,10,paid,2026-04-10 09:00:00', '1,8 or so,paid,2026-04-10 10:00:00']],
  ])('is rejected if its newest state is unknown', async (rows) => {
    expect(await staged(rows)).toEqual([expect.any(String), expect.any(String)]);
  });
});

test.each([
  [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,2026-04-10 09:00:00'], '2026-04-10T09:00:00Z'],
  [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,2026-04-10T11:00:00+02:00'], '2026-04-10T09:00:00Z'],
  // Another state of the order is newer than the rows that contradict each other.
  [
    ['1,10,paid,2026-04-10 09:00:00', '1,8,paid,2026-04-10 09:00:00', '1,5,paid,2026-04-10 10:00:00'],
    '2026-04-10T10:00:00Z',
  ],
  [['1,10,paid,yesterday', '1,8,paid,yesterday'], 'infinity'],
  [['1,10,paid,2026-04-10 09:00:00', '1,8,paid,yesterday'], 'infinity'],
  // The cells of a row with a fault may be in the wrong columns.
  [['1,8 or so,paid,2026-04-10 10:00:00'], null],
  [['1,10,paid,2026-04-10 09:00:00', '1,8 or so,paid,2026-04-10 08:00:00'], 'infinity'],
])('rows that contradict each other say when their order changed: %j', async (rows, changedAt) => {
  const { rejected } = await mapText(`${[HEADER, ...rows].join('\n')}\n`, { source });
  expect(new Set(rejected.map((one) => one.changedAt))).toEqual(new Set([changedAt]));
});

/** Rows of one order: when it was placed, and when it last changed. */
async function placed(rows: readonly (readonly [placedAt: string, changedAt: string])[]) {
  const lines = rows.map(([at, changed], index) => `1,1${index},paid,${changed},${at}`);
  const mapped = await mapText(`${[`${HEADER},placed_at`, ...lines].join('\n')}\n`, { source });
  return [...mapped.orders.map(({ placedAt }) => placedAt), ...mapped.rejected.map(({ code }) => code)];
}

describe('states of one order id in a file', () => {
  const [one, blank, other] = [
    ['2025-01-01 09:00:00', '2025-01-01 10:00:00'],
    ['', '2025-06-01 10:00:00'],
    ['2026-01-01 09:00:00', '2026-01-01 10:00:00'],
  ] as const;
  const near = ['2025-01-02 09:00:00', '2025-01-02 10:00:00'] as const;

  test.each([
    [[one, blank, other]],
    [[blank, one, other]],
    [[other, one, blank]],
    // Each is within the hours of the first one, and the last two are not.
    [[near, ['2025-01-04 08:00:00', blank[1]], ['2024-12-31 10:00:00', other[1]]]],
  ] as const)('are two orders if any two say that they were placed at different times', async (rows) => {
    expect(new Set(await placed(rows))).toEqual(new Set(['conflicting_rows']));
  });

  test.each([[[one, blank]], [[blank, one]], [[one, near, blank]]] as const)(
    'say when it was placed if one of them does',
    async (rows) => {
      expect(await placed(rows)).toEqual([`${(rows.length > 2 ? near : one)[0].replace(' ', 'T')}Z`]);
    },
  );
});

test.each(['', 'yesterday', '2026-02-31', '2099-04-10 09:00:00'])(
  'a row whose time is "%s" may be newer than any other',
  async (cell) => {
    expect(await staged([`1,10,paid,${cell}`])).toEqual(['1 10.00 paid infinity 1']);
  },
);

test.each([
  ['2026-04-11 10:00:00', '2026-04-11T10:00:00Z'],
  ['2026-05-10 09:00:00', 'infinity'],
])('a row that says %s in a file that was stored on April 10 changed at %s', async (cell, changedAt) => {
  const stored = new Date('2026-04-10T10:00:00Z');
  expect(await staged([`1,10,paid,${cell}`], stored)).toEqual([`1 10.00 paid ${changedAt} 1`]);
});

test('the column is read only if the source goes by it, and then a file must have it', async () => {
  const text = 'order_id,order_revenue,status\n1,10,paid\n';
  await expect(mapText(text, { source })).rejects.toThrow('it lacks "changed_at"');
  const { orders } = await mapText(text, { source: { ...source, age: 'name' } });
  expect(orders).toMatchObject([{ orderId: '1', changedAt: null }]);
});

test('an order whose amounts add up is as new as its newest row', async () => {
  const text = [
    'amazon-order-id\torder-status\tpurchase-date\tcurrency\titem-price\torder-item-id\titem-status\tlast-updated-date',
    'A1\tShipped\t2026-04-10T09:00:00+00:00\tEUR\t10.00\t1\tShipped\t2026-04-10T10:00:00+00:00',
    'A1\tShipped\t2026-04-10T09:00:00+00:00\tEUR\t5.00\t2\tShipped\t2026-04-10T11:00:00+00:00',
    '',
  ].join('\n');
  const { orders } = await mapText(text, {
    layout: 'amazon-orders',
    source: { ...source, currency: null },
    reduced: true,
  });
  expect(orders).toMatchObject([{ orderId: 'A1', total: '15.00', changedAt: '2026-04-10T11:00:00Z' }]);
});
