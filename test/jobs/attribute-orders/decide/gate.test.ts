import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { decideOrders } from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import type { AttributionRules } from '../../../../jobs/attribute-orders/decide/decisions.ts';
import { gateOf, revenueOf } from '../../../../jobs/attribute-orders/decide/gate.ts';
import { loadCodes } from '../../../../src/codes/load-codes.ts';
import { FileHeld } from '../../../../src/core/held/file-held.ts';
import type { StagedOrder } from '../../../../src/core/order.ts';
import { foldHeader } from '../../../../src/core/text/fold.ts';
import { exportedAtMs } from '../../../../src/core/time/exported-at.ts';
import { layoutFor } from '../../../../src/intake/layout/layout-for.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { statusRules } from '../../../../src/intake/layout/status-rules.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { mapText } from '../../../intake/orders/map/map-text.ts';
import { openShop, order, useDatabase } from '../../../intake/story.ts';
import { type ExampleRow, exampleRow } from '../../../support/example-row.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { HEADER } from './story.ts';

const LAYOUTS = loadLayouts().filter((layout) => layoutFor(layout, 'orders') !== null);
const database = useDatabase('a Postgres server');

/** The job's settings that the gate depends on. Each is tried alone, and all at their most generous. */
const SETTINGS = [
  {},
  { revenue: 'subtotal' },
  { revenue: 'total_less_refunds' },
  { creditsDrafts: true },
  { creditsRenewals: false },
  { start: { day: '2020-01-01', timeZone: 'UTC' } },
  { hasTerms: true },
  { revenue: 'total_less_refunds', creditsDrafts: true, creditsRenewals: true },
] as const;

type Variation = { readonly what: string; readonly change: (example: ExampleRow) => ExampleRow };
type Changed = { readonly what: string; readonly change: (order: StagedOrder) => StagedOrder };

/** What may be wrong with the cells of a file, in all columns of a field that the example of a layout has. */
function variationsOf(layout: Layout, example: ExampleRow): readonly Variation[] {
  const columnsOf = (field: keyof Layout['columns']): readonly string[] =>
    (layout.columns[field] ?? []).filter((name) =>
      example.header.some((one) => foldHeader(one) === foldHeader(name)),
    );
  const cells = (field: keyof Layout['columns'], words: readonly string[]): readonly Variation[] => {
    const columns = columnsOf(field);
    return columns.length === 0
      ? []
      : words.map((word) => ({
          what: `${field} ${JSON.stringify(word)}`,
          change: (row: ExampleRow) => columns.reduce((changed, column) => changed.with(column, word), row),
        }));
  };
  // Some formats have a column of statuses that says nothing unless it says that the order was cancelled.
  const blanks = layout.lacks.includes('status') ? [] : ['', ' ', '\u200b'];
  return [
    ...cells('status', [...blanks, '-', 'mystery', 'partially_refunded']),
    ...cells('cancelled_at', ['2026-05-15T10:00:00+02:00', 'yes']),
    ...cells('currency', ['XXX', '$', 'EURO']),
    ...cells('refunded', ['-1.00', '100.00', '150.00', 'some']),
    ...cells('total', [
      '',
      '0',
      '0.00',
      '-5.00',
      '¥1000',
      'kr 10.00',
      'R$ 10.00',
      'zł 10',
      'nothing',
      '1.23E+5',
    ]),
  ];
}

/** What may be wrong with an order once it is read, whatever the layout. */
const CHANGED: readonly Changed[] = [
  { what: 'no time', change: (order) => ({ ...order, placedAt: null, paidAt: null }) },
  {
    what: 'a time after the code ended',
    change: (order) => ({ ...order, placedAt: null, paidAt: '2026-08-01T00:00:00Z' }),
  },
  {
    what: 'a time after the export',
    change: (order) => ({ ...order, placedAt: '2029-01-01T00:00:00Z', paidAt: null }),
  },
  { what: 'a payment after the export', change: (order) => ({ ...order, paidAt: '2029-01-01T00:00:00Z' }) },
  { what: 'not whole', change: (order) => ({ ...order, doubt: 'incomplete' }) },
  { what: 'an unknown word that may exclude', change: (order) => ({ ...order, exclusion: 'unknown_test' }) },
  { what: 'a test', change: (order) => ({ ...order, exclusion: 'test' }) },
  { what: 'cancelled', change: (order) => ({ ...order, cancelledAt: '2026-05-15T10:00:00Z' }) },
  { what: 'no amount', change: (order) => ({ ...order, total: null, subtotal: null }) },
  { what: 'an amount below zero', change: (order) => ({ ...order, total: '-5.00', subtotal: '-5.00' }) },
  { what: 'a refund below zero', change: (order) => ({ ...order, refunded: '-1.00' }) },
  { what: 'a refund above the total', change: (order) => ({ ...order, refunded: '1000.00' }) },
  { what: 'all refunded', change: (order) => ({ ...order, refunded: order.total ?? '100.00' }) },
  {
    what: 'a partial refund without its amount',
    change: (order) => ({ ...order, status: 'partially_refunded', refunded: null }),
  },
  { what: 'another brand', change: (order) => ({ ...order, brandId: '777' }) },
  { what: 'an unknown status', change: (order) => ({ ...order, status: 'mystery' }) },
  { what: 'a blank status', change: (order) => ({ ...order, status: '' }) },
  {
    what: 'an id that looks like another',
    change: (order) => ({ ...order, orderId: '0700123', groupKey: '0700123' }),
  },
];

/** What the order alone does not show: when its code was valid, which comes before what holds it … */
const BY_THE_CODE: Readonly<Record<string, string>> = {
  'no time': 'held unknown_time',
  'a time after the code ended': 'unattributed code_expired',
};
/** … and the other orders of the source, which come after it. */
const BY_OTHER_ORDERS: Readonly<Record<string, string>> = {
  'an id that looks like another': 'held similar_id',
};

/** The cases of a layout as orders with ids of their own, after the example itself. Rows that are rejected and files that are held credit nothing. */
async function ordersOf(
  layout: Layout,
): Promise<{
  readonly whats: readonly string[];
  readonly orders: readonly StagedOrder[];
  readonly refused: number;
}> {
  const example = exampleRow(layout);
  const read = async (row: ExampleRow): Promise<StagedOrder | null> => {
    try {
      return (await mapText(row.text(), { layout, source: row.source })).orders[0] ?? null;
    } catch (error) {
      if (error instanceof FileHeld) return null;
      throw error;
    }
  };
  const plain = await read(example);
  if (plain === null) throw new Error(`the example of ${layout.name} is not read`);
  const whats: string[] = ['the example'];
  const orders: StagedOrder[] = [{ ...plain, codes: ['MIA10'], orderId: '700123', groupKey: '700123' }];
  let refused = 0;
  const add = (what: string, order: StagedOrder | null, ownId = false): void => {
    if (order === null) {
      refused += 1;
      return;
    }
    whats.push(what);
    const id = ownId ? order.orderId : `case-${whats.length}`;
    orders.push({
      ...order,
      codes: ['MIA10'],
      orderId: id,
      groupKey: id,
      contentHash: `${layout.name} ${what}`,
    });
  };
  for (const { what, change } of variationsOf(layout, example)) add(what, await read(change(example)));
  for (const { what, change } of CHANGED) {
    const order = change(plain);
    const isOfId = order.orderId !== plain.orderId;
    // A format without statuses has none that is unknown.
    if (what.includes('status') && layout.status.credited === null) continue;
    add(what, order, isOfId);
  }
  return { whats, orders, refused };
}

test('nothing unknown, missing or in another spelling is credited, whatever the layout and the settings of the job, and a preview gives the same answer', async () => {
  const path = join(makeTestFolder(), 'codes.csv');
  writeFileSync(path, `${HEADER}\nMIA10,,mia,D1,,2020-01-01,2026-07-01\n`);
  const db = database();
  const wrong: string[] = [];
  let combinations = 0;
  let previewed = 0;
  for (const [place, layout] of LAYOUTS.entries()) {
    const shop = await openShop(db);
    const { whats, orders, refused } = await ordersOf(layout);
    combinations += refused * SETTINGS.length;
    await shop.read({ orders, rowsRead: orders.reduce((sum, { rowCount }) => sum + rowCount, 0) });
    const brandId = String(4819 + place);
    const linkParameters: readonly string[] = [];
    const { hash } = await loadCodes(db, { job: shop.source, path, timeZone: null, brandId, linkParameters });
    const statuses = statusRules(layout, {}, null);
    for (const settings of SETTINGS) {
      const rules: Omit<AttributionRules, 'job' | 'sources' | 'period' | 'rulesHash'> = {
        brandId,
        revenue: 'total',
        creditsDrafts: false,
        creditsRenewals: true,
        attribution: 'code',
        start: null,
        hasTerms: false,
        elsewhere: [],
        isBrandShared: false,
        ...settings,
      };
      const sources = [{ source: shop.source, orderPlatform: layout.name, ownOrders: false, ...statuses }];
      await decideOrders(db, { ...rules, job: shop.source, codesHash: hash, sources });
      const gate = gateOf({ ...rules, needsTime: rules.start !== null || rules.hasTerms });
      const { rows } = await sql<{ order_id: string; outcome: string; reason: string | null }>`
        select order_id, outcome, reason from intake.attributions where job = ${shop.source}`.execute(db);
      const outcomes = new Map(rows.map((row) => [row.order_id, row]));
      for (const [index, what] of whats.entries()) {
        combinations += 1;
        const { outcome, reason } = outcomes.get(orders[index]?.orderId ?? '') ?? {
          outcome: 'missing',
          reason: null,
        };
        const isExample = index === 0;
        // An export without a subtotal cannot be credited by it.
        const isExpected = isExample && !('revenue' in settings && settings.revenue === 'subtotal');
        if (isExpected && outcome !== 'attributed')
          wrong.push(`${layout.name}: ${what}: ${outcome} ${reason}`);
        if (!isExample && outcome === 'attributed')
          wrong.push(`${layout.name} ${JSON.stringify(settings)}: ${what}: credited`);
        const order = orders[index];
        const stop =
          order === undefined ? null : gate.judge(order, { statuses, exportedAtMs: exportedAtMs(null) });
        const passed = BY_OTHER_ORDERS[what] ?? 'attributed null';
        const answer = stop === null ? passed : `${stop.outcome} ${stop.reason}`;
        const preview = stop?.outcome === 'excluded' ? answer : (BY_THE_CODE[what] ?? answer);
        previewed += 1;
        if (preview !== `${outcome} ${reason}`)
          wrong.push(
            `${layout.name} ${JSON.stringify(settings)}: ${what}: ${outcome} ${reason}, previewed as ${preview}`,
          );
      }
    }
  }
  process.stdout.write(
    `${combinations} combinations of layout, setting and input, ${previewed} of them compared with a preview; of the others, the row is rejected or the file held\n`,
  );
  expect(combinations).toBeGreaterThan(4_000);
  expect(previewed).toBeGreaterThan(3_500);
  expect(wrong).toEqual([]);
});

test('a preview knows the amount by each rule, and holds an order that names a brand while that of the job is not known', () => {
  const paid = order('1', { total: '10.00', subtotal: '8.00', refunded: '2.50' });
  const amounts = (['total', 'subtotal', 'total_less_refunds'] as const).map((revenue) =>
    revenueOf(paid, revenue),
  );
  expect(amounts.map(Number)).toEqual([10, 8, 7.5]);
  expect(revenueOf({ ...paid, refunded: null }, 'total_less_refunds')).toBe('10.0000');
  expect(revenueOf({ ...paid, refunded: '11.00' }, 'total_less_refunds')).toBeNull();
  const judge = (brandId: string | null, named: string | null) =>
    gateOf({
      brandId,
      revenue: 'total',
      creditsDrafts: false,
      creditsRenewals: true,
      needsTime: false,
    }).judge(
      { ...paid, brandId: named },
      {
        statuses: { credited: 'any', notCredited: [], mayLackColumn: false },
        exportedAtMs: exportedAtMs(null),
      },
    );
  expect([judge(null, null), judge('1', '1'), judge('1', null)]).toEqual([null, null, null]);
  expect(judge(null, '1')).toEqual({ outcome: 'held', reason: 'unknown_brand' });
  expect(judge('2', '1')).toEqual({ outcome: 'excluded', reason: 'other_brand' });
});
