import { expect, test } from 'vitest';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { loadLayout, loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { resolveHeader } from '../../../src/intake/layout/resolve-header.ts';

const GENERIC = loadLayout('generic');
const SHOPIFY = loadLayout('shopify-orders');

function held(
  header: readonly string[],
  layout = GENERIC,
  others = loadLayouts(),
): { code: string; message: string; help: string } {
  try {
    resolveHeader(header, layout, () => others);
  } catch (error) {
    if (error instanceof FileHeld) return error.reason;
    throw error;
  }
  throw new Error('the header fits');
}

test('case, blanks, no-break spaces, quotes and invisible characters of a header are ignored', () => {
  const { fields } = resolveHeader(
    ['\ufeffORDER_ID', ' "Order_Revenue" ', 'dis\u200bcount_codes', 'Placed_At\u00a0'],
    GENERIC,
  );
  expect(fields.order_id).toMatchObject([{ index: 0 }]);
  expect(fields.total).toMatchObject([{ index: 1 }]);
  expect(fields.placed_at).toMatchObject([{ index: 3 }]);
});

test('the error for a header without a required column names it and a similar one', () => {
  const reason = held(['order_id', 'order revenu', 'discount_codes']);
  expect(reason.code).toBe('header_mismatch');
  expect(reason.message).toContain('"order_revenue" (there is "order revenu")');
  expect(reason.message).toContain('3 columns');
});

test('the error suggests the layout that matches', () => {
  const reason = held(['Sale Date', 'Order ID', 'Order Total', 'Currency', 'Coupon Code'], SHOPIFY);
  expect(reason.help).toContain('etsy-orders');
});

test('the error for a file without a header row contains none of its values', () => {
  const reason = held(['#1001', 'ada@example.com', 'Ada Example', '50.00'], SHOPIFY);
  expect(reason.code).toBe('header_mismatch');
  expect(JSON.stringify(reason)).not.toMatch(/ada|Ada|1001|50\.00/);
});

test('NUL bytes in a header are reported as UTF-16', () => {
  expect(held(['o\u0000r\u0000d\u0000e\u0000r\u0000', '\u0000x']).help).toContain('utf-16le');
});

test('a duplicate column holds the file only if it is required', () => {
  expect(held(['order_id', 'order_revenue', 'order_revenue ']).code).toBe('ambiguous_header');
  expect(() => resolveHeader(['order_id', 'order_revenue', 'note', 'note'], GENERIC)).not.toThrow();
});

test('the first known spelling of the ID column applies to the whole file', () => {
  const header = ['Name', 'Id', 'Financial Status', 'Currency', 'Total', 'Discount Code', 'Created at'];
  expect(resolveHeader(header, SHOPIFY).fields.order_id).toEqual([{ index: 1, name: 'Id' }]);
});

test('a single column such as Email matches no layout, so none is suggested', () => {
  const reason = held(['Email', 'Nickname'], SHOPIFY);
  expect(reason.code).toBe('header_mismatch');
  expect(reason.help).not.toContain('It fits the layout');
});

test('of two matching layouts, the one with the larger signature is suggested', () => {
  const small = { ...GENERIC, name: 'small', signature: [['order_id', 'order_revenue']] };
  const large = { ...GENERIC, name: 'large', signature: [['order_id', 'order_revenue', 'shop_mark']] };
  const header = ['order_id', 'order_revenue', 'shop_mark'];
  for (const others of [
    [small, large],
    [large, small],
  ])
    expect(held(header, SHOPIFY, others).help).toContain('the layout large:');
});

test('a file that matches another export better is held although it has every required column', () => {
  const ours = { ...GENERIC, name: 'ours', signature: [['order_id', 'order_revenue', 'our_mark']] };
  const theirs = { ...GENERIC, name: 'theirs', signature: [['order_id', 'their_mark']] };
  const header = ['order_id', 'order_revenue', 'their_mark'];
  const reason = held(header, ours, [theirs]);
  expect(reason.code).toBe('header_mismatch');
  expect(reason.help).toContain('the layout theirs');
  expect(() => resolveHeader([...header, 'our_mark'], ours, () => [theirs])).not.toThrow();
  expect(() => resolveHeader(header, { ...ours, signature: [] }, () => [theirs])).not.toThrow();
  expect(() => resolveHeader(['order_id', 'order_revenue'], ours, () => [theirs])).not.toThrow();
});

test('the error for a missing column names the columns of the file that other layouts read for the same field', () => {
  const reason = held(
    ['Name', 'Financial Status', 'Grand Total (Base)', 'Currency', 'Coupon Code', 'Created at'],
    SHOPIFY,
  );
  expect(reason.message).toContain('"Total" (there is "Grand Total (Base)")');
  expect(reason.message).toContain('"Discount Code" or "Note Attributes" (there is "Coupon Code")');
});
