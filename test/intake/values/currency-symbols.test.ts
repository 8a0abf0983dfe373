import { describe, expect, test } from 'vitest';
import { maxDecimals } from '../../../src/core/money.ts';
import type { MoneyFormat } from '../../../src/intake/layout/to-layout.ts';
import { currenciesOfName, SYMBOLS } from '../../../src/intake/values/currency-symbols.ts';
import { currencyParser, isCurrency } from '../../../src/intake/values/parse-currency.ts';
import { parseMoneyIn, readMoney, statedCurrency } from '../../../src/intake/values/parse-money.ts';

const POINT: MoneyFormat = { decimal: '.', thousands: ',', symbols: true };
const CURRENCIES = Intl.supportedValuesOf('currency').filter(isCurrency);

describe('the symbol next to an amount', () => {
  test.each([...SYMBOLS])(
    '%s is accepted beside each currency that it can mean, and beside no other',
    (symbol, means) => {
      expect(means.filter((currency) => !CURRENCIES.includes(currency))).toEqual([]);
      for (const text of [
        `${symbol}10`,
        `${symbol} 10`,
        `10${symbol}`,
        `10 ${symbol}`,
        `-${symbol} 10`,
        `${symbol.toLowerCase()} 10`,
      ]) {
        const accepted = CURRENCIES.filter(
          (currency) => typeof parseMoneyIn(currency, text, POINT) === 'string',
        );
        expect([text, accepted]).toEqual([text, [...means].sort()]);
        expect(statedCurrency(text)).toBe(means.length === 1 ? means[0] : null);
      }
    },
  );

  test.each(CURRENCIES)('%s is the code of one currency, also with its symbol', (code) => {
    for (const text of [`${code} 10`, `${code}10`, `10 ${code}`, `10${code}`]) {
      expect(readMoney(text, POINT)).toEqual({ amount: '10.00', currencies: [code] });
      expect(
        CURRENCIES.filter((currency) => typeof parseMoneyIn(currency, text, POINT) === 'string'),
      ).toEqual([code]);
    }
    for (const [symbol, means] of [...SYMBOLS].filter(([one]) => /^\p{Sc}$/u.test(one)))
      for (const text of [
        `${code}${symbol}10`,
        `${code} ${symbol} 10`,
        `${symbol}10 ${code}`,
        `${code} 10${symbol}`,
      ]) {
        const money = readMoney(text, POINT);
        expect([text, 'currencies' in money ? money.currencies : null]).toEqual([
          text,
          means.includes(code) ? [code] : null,
        ]);
      }
  });

  test.each([
    '£',
    '¥',
    'kr',
    'kr.',
    'R$',
    'zł',
    '$',
    'US$',
    '₹',
    '₩',
    '฿',
    '₺',
    '₽',
    'Kč',
    'Ft',
    'lei',
    'RM',
    'Rp',
    'Rs.',
    'Fr.',
    'GBP',
    'USD$',
  ])('%s is never a euro', (symbol) => {
    expect(parseMoneyIn('EUR', `${symbol} 10.00`, POINT)).toMatchObject({ code: 'other_currency' });
  });

  test.each([
    'MIA10',
    'free 10',
    '¤10',
    '10 %',
    '₿10',
    'USD€10',
    'EUR 10 USD',
    '$10 €',
    'XXX 10',
    'XTS 10',
    '~10',
    'a10b',
  ])('%j names no currency, and is no amount', (text) => {
    expect(readMoney(text, POINT)).toMatchObject({ code: 'bad_money' });
    expect(statedCurrency('MIA10')).toBeNull();
  });
});

describe('the decimals of an amount', () => {
  test.each(CURRENCIES)('are at most those of its currency, in %s', (currency) => {
    const digits = maxDecimals(currency);
    const fitting = `1234${digits === 0 ? '' : `.${'1'.repeat(digits)}`}`;
    expect(typeof parseMoneyIn(currency, fitting, POINT)).toBe('string');
    for (const zeros of ['0', '00', '000000']) {
      const text = digits === 0 ? `${fitting}.${zeros}` : `${fitting}${zeros}`;
      expect([text, typeof parseMoneyIn(currency, text, POINT)]).toEqual([text, 'string']);
    }
    const longer = `1234.${'0'.repeat(digits)}1`;
    expect(parseMoneyIn(currency, longer, POINT)).toMatchObject({ code: 'too_many_decimals' });
  });

  test.each([
    ['JPY', '1200.00'],
    ['JPY', '1,200'],
    ['EUR', '10.0000'],
    ['EUR', '10.5'],
    ['KWD', '12.345'],
    // Written without decimals today, but ISO 4217 still has them.
    ['HUF', '199.90'],
  ])('%s %s is an amount', (currency, text) => {
    expect(typeof parseMoneyIn(currency, text, POINT)).toBe('string');
  });

  test.each([
    ['JPY', '10.50'],
    ['EUR', '10.005'],
    ['EUR', '10.0001'],
    ['ISK', '0.01'],
    ['KWD', '12.3456'],
  ])('%s %s is not an amount', (currency, text) => {
    expect(parseMoneyIn(currency, text, POINT)).toMatchObject({
      code: 'too_many_decimals',
      reason: expect.stringContaining(currency),
    });
  });
});

test('a currency is read in any case, a blank cell is the currency of the source, and what is none is rejected', () => {
  const [read, readWithout] = [currencyParser('CHF'), currencyParser(null)];
  expect([' eur ', 'USD', '', '  '].map(read)).toEqual(['EUR', 'USD', 'CHF', 'CHF']);
  for (const text of ['EURO', 'GBp', 'ZAc', '€', 'XXX', 'xts'])
    expect(read(text)).toMatchObject({ code: 'bad_currency' });
  expect(readWithout('')).toMatchObject({ code: 'missing_value' });
});

test.each([
  ['Total (EUR)', ['EUR']],
  ['Total (in EUR)', ['EUR']],
  ['EUR total', ['EUR']],
  ['Total EUR incl. VAT', ['EUR']],
  ['total_eur', ['EUR']],
  ['Betrag in €', ['EUR']],
  ['Kwota [zł]', ['PLN']],
  ['Total (kr.)', ['SEK', 'NOK', 'DKK', 'ISK']],
  ['Total', []],
  ['TOTAL NET', []],
  ['Total (incl. tax)', []],
  ['Tax on top', []],
  ['Totale top seller', []],
])('a column named %s states amounts in %j', (name, currencies) => {
  expect(currenciesOfName(name)).toEqual(currencies);
});
