import { expect, test } from 'vitest';
import { toParseOptions } from '../../../src/intake/csv/parse-options.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { holdReason, PARSE_OPTIONS, parseText } from './parse-text.ts';

const SHOPIFY = toParseOptions(loadLayout('shopify-orders'), PARSE_OPTIONS);
const HEADER = 'Name,Email,Financial Status,Total,Notes,Payment Method,Id,Tags';
const HERE = { ...SHOPIFY, ...PARSE_OPTIONS };

function row(number: number, notes = ''): string {
  return `#${number},k${number}@example.com,paid,${number}0.00,${notes},Card,610000000${number},`;
}

function textOf(...rows: readonly string[]): string {
  return [HEADER, ...rows, ''].join('\n');
}

test.each([
  ['some rows later', [row(1), row(2, '"call me'), row(3), row(4, 'thanks"'), row(5)], 4],
  ['in the next row', [row(1), row(2, '"call me'), row(3, 'thanks"'), row(5)], 4],
  [
    'in another column',
    [row(1), row(2, '"call me'), row(3), '#4,k4@example.com",paid,40.00,,Card,6100000004,'],
    4,
  ],
  [
    'behind a row that lacks its last cell',
    [row(1), row(2, '"call me'), row(3).slice(0, -1), row(4, 'thanks"'), row(5)],
    4,
  ],
  ['when the ids have one digit more', [row(8, '"call me'), row(9), row(10), row(11, 'thanks"')], 3],
])('a quote that is closed %s hides rows, and holds the file', async (_where, rows, line) => {
  const reason = await holdReason(parseText(textOf(...rows), HERE));
  expect(reason.code).toBe('swallowed_rows');
  expect(reason.message).toContain(`contains line ${line},`);
});

test('line breaks of Windows, and a text without one at its end, are no exception', async () => {
  const text = textOf(row(1), row(2, '"call me'), row(3), row(4, 'thanks"'))
    .trimEnd()
    .replaceAll('\n', '\r\n');
  expect((await holdReason(parseText(text, HERE))).code).toBe('swallowed_rows');
});

test('customers are found by their address', async () => {
  const options = { ...PARSE_OPTIONS, idColumns: ['Email'] };
  const text = 'Email,Consent,Note\na@example.com,no,"x\nb.b@example.org,yes,y\nc@example.com,yes,z"\n';
  expect((await holdReason(parseText(text, options))).code).toBe('swallowed_rows');
});

test.each([
  ['lines of keys and values', '"utm_campaign: mia\ngift: yes, please\nref: 12,13"'],
  ['an address', '"Mia Ek\n12, Long Lane, Upper Town, Sea County, 1234 AB, NL, Europe\nring twice"'],
  ['a table', '"1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,8\n#,a,b,c,d,e,f,g"'],
  ['blank lines', '"\n\n,,,,,,,\n\n"'],
  ['a short list of amounts', '"as ever\n#1, 10.00, thanks\n#2, 20.00, thanks\nMia"'],
  ['the name of another order', '"as in\n#1001, please, the same\n#1002"'],
])('notes with %s are no rows', async (_what, notes) => {
  const { records, rejected } = await parseText(textOf(row(1), row(2, notes), row(3)), HERE);
  expect(records).toHaveLength(3);
  expect(rejected).toEqual([]);
});

test('a record of a megabyte takes no longer than a moment', async () => {
  const notes = `"${'#7,a\n'.repeat(190_000)}"`;
  const { records } = await parseText(textOf(row(1), row(2, notes)), HERE);
  expect(records).toHaveLength(2);
});
