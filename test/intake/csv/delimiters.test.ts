import { expect, test } from 'vitest';
import { parseText, placesOf } from './parse-text.ts';

test.each([[','], [';'], ['\t'], ['|']])('the delimiter %j is detected in the header', async (delimiter) => {
  const text = ['id', '"a,b;c"', 'total'].join(delimiter);
  const parsed = await parseText(`${text}\n${['1', '2', '3'].join(delimiter)}\n`);
  expect(parsed.header).toEqual(['id', 'a,b;c', 'total']);
  expect(placesOf(parsed)).toEqual([[2, 1, '1', '2', '3']]);
});

test('the delimiter of a layout is used without detection', async () => {
  const parsed = await parseText('a;b\n1;2\n', { delimiter: ',' });
  expect(parsed.header).toEqual(['a;b']);
});

test.each([['sep=;\r\n'], ['"sep=;"\n'], ['SEP=;\n']])(
  'the line %j before the header sets the delimiter',
  async (line) => {
    const parsed = await parseText(`${line}a,x;b\n1;2\n`);
    expect(parsed.header).toEqual(['a,x', 'b']);
    expect(placesOf(parsed)).toEqual([[3, 1, '1', '2']]);
  },
);
