import { describe, expect, test } from 'vitest';
import {
  addUp,
  formatAmounts,
  formatMoney,
  formatNumber,
  minorDigits,
  roundMoney,
  sumMoney,
} from '../../src/model/money.ts';

describe('amounts of money', () => {
  test('have a sum only in one currency', () => {
    const [euros, cents] = [
      { amount: '1.5', currency: 'EUR' },
      { amount: '0.0001', currency: 'EUR' },
    ];
    expect(addUp([euros, cents])).toEqual({ amount: '1.5001', currency: 'EUR' });
    for (const other of ['USD', null])
      expect(() => addUp([euros, { amount: '0', currency: other }])).toThrow('have no sum');
    expect(() => addUp([])).toThrow('have no sum');
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
  });

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
    ['KWD', 3],
    ['XXZ', 2],
    [null, 2],
  ])('%s has %s', (currency, digits) => expect(minorDigits(currency)).toBe(digits));

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
  ])('gives a computed amount (%s %s) the decimals of its currency', (amount, currency, rounded) => {
    expect(roundMoney(amount, currency)).toBe(rounded);
  });
});
