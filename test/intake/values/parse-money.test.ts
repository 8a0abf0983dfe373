import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromUnits, toUnits } from '../../../src/core/money.ts';
import type { MoneyFormat } from '../../../src/intake/layout/to-layout.ts';
import { isPlain, isZero, parseMoney, statedCurrency } from '../../../src/intake/values/parse-money.ts';

const POINT: MoneyFormat = { decimal: '.', thousands: ',', symbols: true };
const COMMA: MoneyFormat = { decimal: ',', thousands: '.', symbols: true };
const BARE: MoneyFormat = { decimal: '.', thousands: null, symbols: false };

test.each([
  ['45.00', BARE, '45.00'],
  ['45', BARE, '45.00'],
  ['45.5', BARE, '45.50'],
  ['0', BARE, '0.00'],
  ['-0.00', BARE, '0.00'],
  ['-5.25', BARE, '-5.25'],
  ['007.10', BARE, '7.10'],
  ['36.3900', BARE, '36.39'],
  ['36.3901', BARE, '36.3901'],
  ['36.390000', BARE, '36.39'],
  ["'45.00", BARE, '45.00'],
  [' 45.00 ', BARE, '45.00'],
  ['12345678901234.9999', BARE, '12345678901234.9999'],
  ['৳2,999', POINT, '2999.00'],
  ['$1,249.00', POINT, '1249.00'],
  ['-$1,249.00', POINT, '-1249.00'],
  ['$-1,249.00', POINT, '-1249.00'],
  ['US$ 5.00', POINT, '5.00'],
  ['USD 5.00', POINT, '5.00'],
  ['5.00 USD', POINT, '5.00'],
  ['₹1,23,456.50', POINT, '123456.50'],
  ['\u2212 5.00', POINT, '-5.00'],
  ['1.249,00', COMMA, '1249.00'],
  ['12,-', COMMA, '12.00'],
  ['-1.250,-- €', COMMA, '-1250.00'],
  ['Fr. 12.\u2013', POINT, '12.00'],
  ['1.249,00 €', COMMA, '1249.00'],
  ['€ 45,5', COMMA, '45.50'],
  ['1\u00a0249,00', { ...COMMA, thousands: ' ' } as const, '1249.00'],
  ['1\u202f249,00\u00a0kr', { ...COMMA, thousands: ' ' } as const, '1249.00'],
  ["1'249.00", { ...POINT, thousands: "'" } as const, '1249.00'],
  ['+5.25', BARE, '5.25'],
  ['- 5.25', BARE, '-5.25'],
  ['+€5.25', POINT, '5.25'],
  ['€ - 5.25', POINT, '-5.25'],
  ['="45.00"', BARE, '45.00'],
  [`${' '.repeat(195)}45.00`, BARE, '45.00'],
])('%j is an amount', (text, format, amount) => {
  expect(parseMoney(text, format)).toBe(amount);
});

test.each([
  ['1.249,00', POINT],
  ['45,00', POINT],
  ['1,24.00', POINT],
  ['1,249.00', BARE],
  ['$5.00', BARE],
  ['45,00', BARE],
  ['1.24.00', COMMA],
  ['45.00', COMMA],
  ['', BARE],
  ['.5', BARE],
  ['5.', BARE],
  ['--5', BARE],
  ['5-', BARE],
  ['(5.00)', POINT],
  ['free', POINT],
  ['NaN', BARE],
  ['0x10', BARE],
  ['1e3x', BARE],
  ['12 34', BARE],
  ['12,-', POINT],
  ['12,-5', COMMA],
  ['-€-5.00', POINT],
  ['5.00.00', BARE],
  ['5.0a', BARE],
  [`${' '.repeat(196)}45.00`, BARE],
])('%j is not an amount of such a layout', (text, format) => {
  expect(parseMoney(text, format)).toMatchObject({ code: 'bad_money' });
});

test.each(['1.23E+12', '1,23E+12', '5e-7', '-4E+10'])('%j is an amount damaged by a spreadsheet', (text) => {
  expect(parseMoney(text, POINT)).toMatchObject({ code: 'spreadsheet_damage' });
});

test.each(['0.12345', '123456789012345.00'])(
  '%j has too many digits and is rejected instead of rounded',
  (text) => {
    expect(parseMoney(text, BARE)).toMatchObject({ code: 'bad_money' });
  },
);

test.each([
  ['45.00', true],
  ['0.50', true],
  ['10.05', true],
  ['12345678901234.99', true],
  ['123456789012345.99', false],
  ['00.50', false],
  ['05.00', false],
  ['.50', false],
  ['5.5', false],
  ['5.500', false],
  ['500', false],
  ['5,00', false],
  ['5:.00', false],
  ['/5.00', false],
  ['5.0:', false],
  ['5.0/', false],
  ['-5.00', false],
])('%s needs no parsing: %s', (text, plain) => {
  expect(isPlain(text)).toBe(plain);
});

test.each([
  ['0', true],
  ['-0,00', true],
  ['$0.00', true],
  ['0.01', false],
  ['', false],
  ['free', false],
])('%j is zero: %s', (text, zero) => {
  expect(isZero(text)).toBe(zero);
});

test.each([
  ['AU $3,013.00', 'AUD'],
  ['12.00 USD', 'USD'],
  ['-€5', 'EUR'],
  ['+ €5', 'EUR'],
  ['$ 12.00 USD', 'USD'],
  ['$5', null],
  ['5.00', null],
  [`€${' '.repeat(198)}5`, 'EUR'],
  [`€${' '.repeat(199)}5`, null],
])('%s states the currency %s', (text, currency) => {
  expect(statedCurrency(text)).toBe(currency);
});

const units = fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n });

test('every amount with up to 14 digits and 4 decimals stays exact in any notation', () => {
  fc.assert(
    fc.property(units, fc.constantFrom(POINT, COMMA, BARE), fc.boolean(), (amount, format, isGrouped) => {
      const [whole = '', decimals = ''] = fromUnits(amount).replace('-', '').split('.');
      const grouped = whole.replace(/\B(?=(\d{3})+$)/g, isGrouped ? (format.thousands ?? '') : '');
      const parsed = parseMoney(`${amount < 0n ? '-' : ''}${grouped}${format.decimal}${decimals}`, format);
      expect(parsed).toBe(fromUnits(amount));
      expect(typeof parsed === 'string' && toUnits(parsed)).toBe(amount);
    }),
  );
});
