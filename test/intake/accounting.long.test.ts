import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderBatch } from '../../src/core/order.ts';
import { propertyRuns } from '../support/property-runs.ts';
import {
  ALL_ENGINES,
  continuation,
  currentOrders,
  openShop,
  order,
  rejection,
  useDatabase,
} from './story.ts';

/** A row of a file: an order (with content a or b), a continuation row of an order, or a bad row. */
const row = fc.record({
  kind: fc.constantFrom('order', 'order', 'order', 'continuation', 'bad'),
  id: fc.integer({ min: 1, max: 6 }),
  total: fc.constantFrom('1.00', '2.50'),
  rowCount: fc.integer({ min: 1, max: 3 }),
});
const file = fc.array(row, { maxLength: 14 });
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

function toBatch(rows: readonly Row[]): Partial<OrderBatch> {
  return {
    orders: rows
      .filter(({ kind }) => kind === 'order')
      .map(({ id, total, rowCount }) => order(`${id}`, { total, rowCount })),
    continuations: rows
      .filter(({ kind }) => kind === 'continuation')
      .map(({ id, rowCount }) => continuation(`${id}`, rowCount)),
    rejected: rows.filter(({ kind }) => kind === 'bad').map(({ rowCount }) => rejection(rowCount)),
  };
}

/** Cuts the rows at the given positions. */
function cut(rows: readonly Row[], at: readonly number[]): Partial<OrderBatch>[] {
  const places = [...new Set(at.map((place) => place % (rows.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => toBatch(rows.slice(from, places[index] ?? rows.length)));
}

describe.each(ALL_ENGINES)('the accounting of rows on %s', (engine) => {
  const database = useDatabase(engine);
  const numRuns = propertyRuns(engine === 'a Postgres server' ? 20 : 9);

  test.each([{ sums: false }, { sums: true }])(
    'covers every row and yields the same orders, whatever the files contain and however they are split: %o',
    async ({ sums }) => {
      const cuts = fc.array(fc.nat(100), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(file, { minLength: 1, maxLength: 3 }),
          cuts,
          cuts,
          async (files, oneCut, otherCut) => {
            const one = await openShop(database());
            const other = await openShop(database());
            for (const rows of files) {
              const rowsRead = rows.reduce((sum, { rowCount }) => sum + rowCount, 0);
              const sealed = await one.read(cut(rows, oneCut), { sums });
              expect(sealed.kind).toBe('sealed');
              if (sealed.kind === 'sealed') expect(sealed.orderRows + sealed.rejectedRows).toBe(rowsRead);
              const { kind: _kind, ...totals } = sealed;
              expect(await other.read(cut(rows, otherCut), { sums })).toMatchObject(totals);
            }
            expect(await currentOrders(other)).toEqual(await currentOrders(one));
            if (sums) expect(await currentOrders(one)).toEqual(expectedSums(files));
            else expect(await currentOrders(one)).toEqual(expectedOrders(files));
          },
        ),
        { numRuns },
      );
    },
  );
});

/**
 * Computes the rule independently: the last file that states an order without contradicting itself decides.
 */
function expectedOrders(files: readonly (readonly Row[])[]): string[] {
  const current = new Map<number, string>();
  for (const rows of files) {
    for (const [id, totals] of statedBy(rows))
      if (new Set(totals).size === 1) current.set(id, totals[0] ?? '');
  }
  return said(current);
}

/** Computes the rule independently: the last file that states an order decides, with the sum of its parts. */
function expectedSums(files: readonly (readonly Row[])[]): string[] {
  const current = new Map<number, string>();
  for (const rows of files) {
    for (const [id, totals] of statedBy(rows))
      current.set(id, `${totals.reduce((sum, total) => sum + Number(total), 0)}`);
  }
  return said(current);
}

function statedBy(rows: readonly Row[]): Map<number, string[]> {
  const stated = new Map<number, string[]>();
  for (const { kind, id, total } of rows) {
    if (kind === 'order') stated.set(id, [...(stated.get(id) ?? []), total]);
  }
  return stated;
}

function said(current: ReadonlyMap<number, string>): string[] {
  return [...current].sort(([a], [b]) => a - b).map(([id, total]) => `${id} ${Number(total)}`);
}
