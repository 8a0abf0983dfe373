import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addExact, exactText, readNumberText } from '../../src/sandbox/exact.ts';

function sumOf(...texts: readonly string[]): string {
  const sum = { units: 0n, scale: 0 };
  for (const text of texts) addExact(sum, text);
  return exactText(sum);
}

test.each([
  [['0.1', '0.2'], '0.3'],
  [['1249.00'], '1249.00'],
  [['-0.5', '0.25'], '-0.25'],
  [['1e3', '1.5E-2'], '1000.015'],
  [['99999999999999.9999', '0.0001'], '100000000000000.0000'],
  [['1e999999999', '1'], '1'],
])('addExact adds %j to %s', (texts, sum) => {
  expect(sumOf(...texts)).toBe(sum);
});

test('addExact adds decimal amounts like whole numbers of cents', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 })), (cents) => {
      const total = cents.reduce((sum, cent) => sum + cent, 0);
      const texts = cents.map((cent) => (cent / 100).toFixed(2));
      expect(Math.round(Number(sumOf(...texts)) * 100)).toBe(total + 0);
    }),
  );
});

test.each([
  ['{"order_revenue":1249.00}', '1249.00'],
  ['{ "order_revenue" \n:\t -0.10e+1 }', '-0.10e+1'],
  ['{"order_notes":"\\"order_revenue\\": 7","order_revenue":1.50}', '1.50'],
  ['{"order_notes":"order_revenue","order_revenue":1.50}', '1.50'],
  ['{"a":{"order_revenue":7.00},"order_revenue":1.50}', '1.50'],
  ['{"order_revenue":1.50,"a":{"order_revenue":7.00}}', '1.50'],
  ['{"order_revenue":7.00,"order_revenue":1.50}', '1.50'],
  ['{"order\\u005frevenue":1.50}', '1.50'],
  ['{"a":"order_revenue"}', null],
  ['{"a":["order_revenue"],"b":[{"order_revenue":1}]}', null],
])('readNumberText reads the number verbatim from %s', (json, text) => {
  expect(readNumberText(json, 'order_revenue')).toBe(text);
});

test('readNumberText reads the same number as the JSON parser from any object', () => {
  const object = fc.dictionary(
    fc.oneof(fc.constant('order_revenue'), fc.string()),
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
      fc.constant('"order_revenue":1'),
      fc.jsonValue(),
    ),
  );
  fc.assert(
    fc.property(object, (value) => {
      const json = JSON.stringify(value);
      const revenue: unknown = (JSON.parse(json) as Record<string, unknown>).order_revenue;
      const text = readNumberText(json, 'order_revenue');
      expect(text === null ? null : Number(text)).toBe(typeof revenue === 'number' ? revenue : null);
    }),
  );
});
