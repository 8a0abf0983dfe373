import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseId } from '../../../src/intake/values/parse-id.ts';

test.each([
  ['#1001', '#1001'],
  ['00041', '00041'],
  ['12345678901234567890', '12345678901234567890'],
  ["'9013808660771", '9013808660771'],
  [' 7 ', '7'],
  ['Cafe\u0301-1', 'Café-1'],
  ['1E5', '1E5'],
  ['2024E-17', '2024E-17'],
  ['order 7', 'order 7'],
  ['NULL-7', 'NULL-7'],
  ['none-of-us', 'none-of-us'],
  ['-1', '-1'],
  ['0', '0'],
])('%j is read as the ID %j', (text, id) => {
  expect(parseId(text)).toBe(id);
});

test.each([
  '1.23E+12',
  '1,23E+12',
  '6.101E12',
  '9E+11',
  '5000000000001.0',
  '5000000000001,00',
  '########',
  "'1.23E+12",
])('%j is an ID damaged by a spreadsheet, and is rejected with a remedy', (text) => {
  expect(parseId(text)).toMatchObject({
    code: 'spreadsheet_damage',
    help: expect.stringContaining('as it was exported'),
  });
});

test.each([
  ['', 'missing_value'],
  ['   ', 'missing_value'],
  ["'", 'missing_value'],
  ['1\u0000', 'control_character'],
  ['1\n2', 'control_character'],
  ['1\ufffd', 'control_character'],
  ['x'.repeat(201), 'id_too_long'],
])('%j is not an ID: %s', (text, code) => {
  expect(parseId(text)).toMatchObject({ code });
});

test.each([
  ...['null', 'NULL', 'None', 'undefined', 'NaN', 'n/a', '\\N'],
  ...['#N/A', '#REF!', '#NAME?', '-', '--', '—', '?', '="-"'],
])('%j is what programs write where there is no id, and is rejected', (text) => {
  expect(parseId(text)).toMatchObject({ code: 'no_value' });
});

test('digits of any length stay exact', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,40}$/), (id) => {
      expect(parseId(id)).toBe(id);
    }),
  );
});
