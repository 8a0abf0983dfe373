import { describe, expect, test } from 'vitest';
import {
  addUp,
  formatAmounts,
  formatMoney,
  formatNumber,
  fromScaled,
  hasFittingDecimals,
  isMore,
  isSameAmount,
  maxDecimals,
  minorDigits,
  roundMoney,
  roundScaled,
  subtractMoney,
  sumMoney,
  toScaled,
  toUnits,
} from '../../src/core/money.ts';

describe('amounts of money', () => {
  test('have a sum only in one currency', () => {
    const [euros, cents] = [
      { amount: '1.5', currency: 'EUR' },
      { amount: '0.0001', currency: 'EUR' },
    ];
    expect(addUp([euros, cents])).toEqual({ amount: '1.5001', currency: 'EUR' });
    for (const other of ['USD', null])
      expect(() => addUp([euros, { amount: '0', currency: other }])).toThrow(
        `amounts in EUR and ${other ?? 'no currency'} have no sum`,
      );
    expect(() => addUp([])).toThrow('amounts in no currency and no currency have no sum');
  });

  test('without the name of their currency have its decimals', () => {
    expect(formatNumber({ amount: '1500.0000', currency: 'JPY' })).toBe('1,500');
    expect(formatNumber({ amount: '1500.0000', currency: 'KWD' })).toBe('1,500.000');
    expect(formatNumber({ amount: '1500.0000', currency: null })).toBe('1,500.00');
  });

  test.each([
    ['1234.5000', 'EUR', '1,234.50 EUR'],
    ['0.1000', 'USD', '0.10 USD'],
    ['-1234567.8912', 'EUR', '-1,234,567.8912 EUR'],
    ['1500.0000', 'JPY', '1,500 JPY'],
    ['1.5000', 'KWD', '1.500 KWD'],
    ['99999999999999.9999', 'EUR', '99,999,999,999,999.9999 EUR'],
    ['007', null, '7.00'],
    ['0', 'EUR', '0.00 EUR'],
    ['5', 'XXZ', '5.00 XXZ'],
  ])('(%s %s) are shown as %s', (amount, currency, shown) =>
    expect(formatMoney(amount, currency)).toBe(shown),
  );

  test('have exact sums where floats would not', () => {
    expect(sumMoney(['0.1', '0.2'])).toBe('0.3000');
    expect(sumMoney(['99999999999999.9999', '-0.0001'])).toBe('99999999999999.9998');
    expect(sumMoney(['1', '-1.5'])).toBe('-0.5000');
    expect(sumMoney([])).toBe('0.0000');
    expect(sumMoney(['1.1234567', '0.00000010', '1'])).toBe('2.1234568');
    expect(sumMoney(['1.00000000', '2'])).toBe('3.0000');
  });

  test('have an exact difference, which may be negative', () => {
    expect(subtractMoney('1', '1.5')).toBe('-0.5000');
    expect(subtractMoney('0.3', '0.1')).toBe('0.2000');
    expect(subtractMoney('-1', '-0.9999')).toBe('-0.0001');
    expect(subtractMoney('1', '0.99999')).toBe('0.00001');
  });

  test.each([
    ['2', '1.9999', true],
    ['0.0001', '0', true],
    ['-1', '-2', true],
    ['1', '1.0000', false],
    ['1', '2', false],
    ['-2', '-1', false],
    ['-0.0001', '0', false],
    ['0.00005', '0', true],
    ['1.00005', '1.00004', true],
    ['1.00004', '1.00005', false],
  ])('%s is more than %s: %s', (amount, limit, isLarger) => expect(isMore(amount, limit)).toBe(isLarger));

  test('are equal however they are written, and only if no digit differs', () => {
    expect(isSameAmount('10', '10.00000')).toBe(true);
    expect(isSameAmount('-0', '0.0')).toBe(true);
    expect(isSameAmount('10', '10.00001')).toBe(false);
  });

  test.each([
    ['-1.23450', -12_345n],
    ['7', 70_000n],
    ['1.123400000', 11_234n],
  ])('(%s) are read exactly', (amount, units) => expect(toUnits(amount)).toBe(units));

  test.each(['', '5-', '--5', '-', '+5', '.5', '5.', '1.12345e-7', '1.12345', '1,5', 'NaN', ' 5', '1.2.3'])(
    'are never read from "%s"',
    (text) => {
      expect(() => toUnits(text)).toThrow('an amount');
    },
  );

  test('of different currencies are never summed', () => {
    const amounts = [
      { currency: 'USD', amount: '1' },
      { currency: 'EUR', amount: '2.5' },
      { currency: 'USD', amount: '1.25' },
    ];
    expect(formatAmounts(amounts)).toBe('2.50 EUR, 2.25 USD');
  });
});

describe('the decimals of a currency', () => {
  test.each([
    ['EUR', 2],
    ['JPY', 0],
    ['jpy', 0],
    ['kwd', 3],
    ['KWD', 3],
    ['XXZ', 2],
    [null, 2],
  ])('%s has %s', (currency, digits) => expect(minorDigits(currency)).toBe(digits));

  test.each([
    ['10', 'JPY', true],
    ['10.00', 'JPY', true],
    ['10.10', 'JPY', false],
    ['10', 'EUR', true],
    ['10.5', 'EUR', true],
    ['10.05', 'EUR', true],
    ['10.0500', 'EUR', true],
    ['10.005', 'EUR', false],
    ['10.0501', 'EUR', false],
    ['10.123', 'KWD', true],
    ['10.1234', 'KWD', false],
  ])('allow %s %s: %s', (amount, currency, fits) => expect(hasFittingDecimals(amount, currency)).toBe(fits));

  test('are as many in an amount as ISO 4217 has, also if people no longer write them', () => {
    expect(['EUR', 'HUF', 'JPY', 'KWD', 'XXZ'].map(maxDecimals)).toEqual([2, 2, 0, 3, 2]);
  });

  test.runIf(process.versions.cldr === '48.0')('are those that the runtime knows', () => {
    for (const currency of Intl.supportedValuesOf('currency')) {
      const { maximumFractionDigits } = new Intl.NumberFormat('en', {
        style: 'currency',
        currency,
      }).resolvedOptions();
      expect([currency, minorDigits(currency)]).toEqual([currency, maximumFractionDigits]);
    }
  });
});

describe('rounding', () => {
  test.each([
    ['72.6970', 'EUR', '72.7000'],
    ['-0.5845', 'EUR', '-0.5800'],
    ['0.0050', 'EUR', '0.0100'],
    ['-0.0050', 'EUR', '-0.0100'],
    ['-0.0049', 'EUR', '0.0000'],
    ['1234.5000', 'JPY', '1235.0000'],
    ['1.2345', 'KWD', '1.2350'],
    ['9.9995', null, '10.0000'],
    ['0.00499999', 'EUR', '0.0000'],
    ['0.00500001', 'EUR', '0.0100'],
  ])('gives a computed amount (%s %s) the decimals of its currency', (amount, currency, rounded) => {
    expect(roundMoney(amount, currency)).toBe(rounded);
  });

  test.each([
    [125n, 2, 1, 13n],
    [-125n, 2, 1, -13n],
    [124n, 2, 1, 12n],
    [-124n, 2, 1, -12n],
    [99_950n, 4, 0, 10n],
    [7n, 3, 3, 7n],
  ])(
    'takes halves of a scaled number (%s, %s to %s decimals) away from zero',
    (scaled, from, to, rounded) => {
      expect(roundScaled(scaled, { from, to })).toBe(rounded);
    },
  );

  test.each([
    ['1.5', 4, 15_000n, '1.5000'],
    ['-0.05', 2, -5n, '-0.05'],
    ['-1.29', 1, -12n, '-1.2'],
    ['7', 0, 7n, '7'],
    ['-12.9', 0, -12n, '-12'],
    ['0', 3, 0n, '0.000'],
  ])('is never done by scaling: %s with %s decimals drops the others', (amount, decimals, scaled, text) => {
    expect(toScaled(amount, decimals)).toBe(scaled);
    expect(fromScaled(scaled, decimals)).toBe(text);
  });
});
