import { expect, test } from 'vitest';
import type { ReadFor } from '../../../src/core/layout.ts';
import { foldHeader } from '../../../src/core/text/fold.ts';
import { changeOfColumns, decidingColumns } from '../../../src/intake/layout/earlier-columns.ts';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { loadLayout, loadLayouts } from '../../../src/intake/layout/load-layout.ts';

const uri = 'file:///x/orders-1.csv';

/** Says why a file is held, if an earlier file of its source has another header. */
function heldFor(
  layout: string,
  {
    before,
    now,
    readFor = 'orders',
    missingColumns = {},
  }: {
    readonly before: readonly string[];
    readonly now: readonly string[];
    readonly readFor?: ReadFor;
    readonly missingColumns?: Readonly<Record<string, string>>;
  },
): string | null {
  const earlier = [{ uri, header: before }];
  const options = { layout: loadLayout(layout), source: { missingColumns }, readFor, earlier };
  return changeOfColumns(now, options)?.reason.message ?? null;
}

const CASES = (['orders', 'customers'] as const).flatMap((readFor) =>
  loadLayouts()
    .filter((layout) => layoutFor(layout, readFor) !== null)
    .flatMap((layout) =>
      decidingColumns(layout, readFor).flatMap((columns) =>
        columns.length === 0 ? [] : [{ layout: layout.name, readFor, columns }],
      ),
    ),
);

test.each(CASES)(
  '$layout, read for $readFor: a file without $columns.0 is held if an earlier one has it',
  (one) => {
    const { layout, readFor, columns } = one;
    for (const name of columns) {
      const given = { before: ['Id', name], now: ['Id'], readFor };
      expect(heldFor(layout, given)).toContain(`which an earlier file of this source has (orders-1.csv)`);
      expect(heldFor(layout, { ...given, now: ['Id', ` ${foldHeader(name).toUpperCase()}`] })).toBeNull();
      expect(heldFor(layout, { ...given, missingColumns: { [name]: 'Not there.' } })).toBeNull();
      expect(heldFor(layout, { ...given, before: ['Id'] })).toBeNull();
    }
  },
);

test('two spellings of a column are one, unless an earlier file has both', () => {
  const now = ['order_id', 'order_status'];
  expect(heldFor('generic', { before: ['order_id', 'status'], now })).toBeNull();
  expect(heldFor('generic', { before: ['order_id', 'status', 'order_status'], now })).toContain(
    'lacks "status"',
  );
});

test('a column that no earlier file has, and that may say that an order does not count, holds the file', () => {
  const before = ['Name', 'Id', 'Total'];
  const now = [...before, 'Cancelled by', 'Colour'];
  const held = heldFor('shopify-orders', { before, now });
  expect(held).toContain('The file has "Cancelled by", which may say that an order does not count');
  expect(heldFor('shopify-orders', { before: now, now })).toBeNull();
  expect(heldFor('shopify-orders', { before, now, missingColumns: { 'cancelled by': 'A name' } })).toBeNull();
});
