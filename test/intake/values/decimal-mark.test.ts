import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import type { Layout, MoneyFormat } from '../../../src/intake/layout/to-layout.ts';
import { watchMarks } from '../../../src/intake/values/decimal-mark.ts';
import { mapText } from '../orders/map/map-text.ts';

const GENERIC = loadLayout('generic');
const withMoney = (money: MoneyFormat): Layout => ({ ...GENERIC, money });
const POINT = withMoney({ decimal: '.', thousands: ',', symbols: true });
const COMMA = withMoney({ decimal: ',', thousands: '.', symbols: true });
const SUMMED: Layout = {
  ...POINT,
  grouping: { ...POINT.grouping, lineItems: true, sum: { total: { plus: ['order_revenue'], minus: [] } } },
};

/** Returns the amounts of a file and the codes of its rejected rows, or the reason why it is held. */
async function read(
  layout: Layout,
  amounts: readonly string[],
  { currency = 'EUR', decimalMark = null as '.' | ',' | null } = {},
) {
  const source = { name: 'shop', timeZone: 'UTC', currency: null, decimalMark };
  const marks = watchMarks(layout, source);
  const rows = amounts.map((amount, index) => `${index + 1};${amount};${currency}`);
  const { orders, rejected } = await mapText(`order_id;order_revenue;currency\n${rows.join('\n')}\n`, {
    layout: { ...layout, delimiter: ';' },
    source,
    marks,
  });
  try {
    marks?.require();
  } catch (error) {
    if (error instanceof FileHeld) return error.reason;
    throw error;
  }
  return [...orders.map(({ total }) => total), ...rejected.map(({ code }) => code)];
}

const UNKNOWN = { code: 'decimal_mark_unknown' };

test.each([
  ['the format that people agreed on', GENERIC],
  ['a point and separators', POINT],
  ['sums of items', SUMMED],
])('amounts that look like thousands hold the file: %s', async (_, layout) => {
  expect(await read(layout, ['12', '1.000', '1.250', '3.100'])).toMatchObject({
    ...UNKNOWN,
    message: expect.stringMatching(/3 amounts.*line 3\): as 1000, or as 1 and decimals/),
    help: expect.stringContaining('decimal_mark under sources.shop'),
  });
});

test('and so does a layout with a decimal comma, for the other mark', async () => {
  expect(await read(COMMA, ['1,000', '2,500'])).toMatchObject(UNKNOWN);
  expect(await read(COMMA, ['1.000', '2.500'])).toEqual(['1000.00', '2500.00']);
  expect(await read(COMMA, ['1,000,-', '1.250,-'])).toEqual(['1250.00', 'bad_money']);
});

test('the setting of the source decides, whatever the layout says', async () => {
  const amounts = ['1.250', '12'];
  expect(await read(POINT, amounts, { decimalMark: '.' })).toEqual(['1.25', '12.00']);
  expect(await read(POINT, amounts, { decimalMark: ',' })).toEqual(['1250.00', '12.00']);
  expect(await read(GENERIC, amounts, { decimalMark: ',' })).toEqual(['1250.00', '12.00']);
  expect(await read(COMMA, ['1,250', '1.250,50'], { decimalMark: ',' })).toEqual(['1.25', '1250.50']);
  expect(await read(COMMA, ['1,250'], { decimalMark: '.' })).toEqual(['1250.00']);
});

test('amounts with two decimals do not explain one with three in a currency that has two', async () => {
  expect(await read(POINT, ['12.50', '1.250'])).toMatchObject(UNKNOWN);
  expect(await read(POINT, ['12.50', '-1.250'])).toMatchObject(UNKNOWN);
  expect(await read(POINT, ['12.50', '€ 1.250'])).toMatchObject(UNKNOWN);
  expect(await read(POINT, ['1,250.00', '1.125'])).toMatchObject(UNKNOWN);
});

test('three decimals that cannot be thousands show the mark', async () => {
  expect(await read(POINT, ['0.500', '1.250'])).toEqual(['0.50', '1.25']);
  expect(await read(POINT, ['1234.500', '1.250'])).toEqual(['1234.50', '1.25']);
});

test('a currency with three decimals can have either; others have none in a group of three', async () => {
  expect(await read(POINT, ['1.250'], { currency: 'KWD' })).toMatchObject(UNKNOWN);
  expect(await read(POINT, ['1,250'], { currency: 'KWD' })).toMatchObject(UNKNOWN);
  expect(await read(SUMMED, ['1,250'], { currency: 'KWD' })).toMatchObject(UNKNOWN);
  expect(await read(POINT, ['1,250'])).toEqual(['1250.00']);
  expect(await read(POINT, ['1.000'], { currency: 'JPY' })).toMatchObject(UNKNOWN);
});

test('another amount shows the mark of a currency with three decimals, and not that of one with two', async () => {
  const kuwait = { currency: 'KWD' };
  expect(await read(POINT, ['12.50', '1.250', '1,250'], kuwait)).toEqual(['12.50', '1.25', '1250.00']);
  expect(await read(POINT, ['1,250.500', '1.250'], kuwait)).toEqual(['1250.50', '1.25']);
  expect(await read(COMMA, ['0,750', '1,250'], kuwait)).toEqual(['0.75', '1.25']);
  expect(await read(POINT, ['1.250', '7'], kuwait)).toMatchObject({
    message: expect.stringContaining('No amount of the file shows which mark is before the decimals.'),
  });
  expect(await read(POINT, ['12.50', '1.250'])).toMatchObject({
    message: expect.stringContaining('No amount of the file has three decimals for certain, as 0.500 has.'),
  });
});

test('of a summing layout without a column of currencies, that of the source decides', () => {
  const marks = watchMarks(SUMMED, { name: 'shop', decimalMark: null, currency: 'KWD' });
  marks?.see('1,250', 2, null);
  expect(() => marks?.require()).toThrow(FileHeld);
});

test('a file as nearly all are is read as before', async () => {
  expect(await read(POINT, ['12.50', '1,250.00', '7', '10.0000', '0.00'])).toEqual([
    '12.50',
    '1250.00',
    '7.00',
    '10.00',
    '0.00',
  ]);
  expect(await read(COMMA, ['12,50', '1.250,00', '7'])).toEqual(['12.50', '1250.00', '7.00']);
});

test('no amount of a currency with two decimals is ever read as a thousandth of what it says', async () => {
  const amount = fc.integer({ min: 1, max: 999_999 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(amount, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(POINT, GENERIC),
      async (list, layout) => {
        const written = list.map((one) => String(one).replace(/\B(?=(\d{3})+$)/g, '.'));
        const result = await read(layout, written);
        if (Array.isArray(result)) expect(result).toEqual(list.map((one) => `${one}.00`));
        else expect(result).toMatchObject(UNKNOWN);
      },
    ),
    { numRuns: 100 },
  );
});
