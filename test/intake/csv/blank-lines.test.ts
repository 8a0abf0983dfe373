import { expect, test } from 'vitest';
import { parseText, placesOf } from './parse-text.ts';

test('blank lines are counted as lines but yield no records', async () => {
  const parsed = await parseText('\n  \na,b\n\n1,2\n\n\r\n3,4\n\n\n');
  expect(parsed.header).toEqual(['a', 'b']);
  expect(placesOf(parsed)).toEqual([
    [5, 1, '1', '2'],
    [8, 2, '3', '4'],
  ]);
  expect(parsed.rejected).toEqual([]);
});

test('rows that contain only delimiters and blanks, as written by spreadsheets, yield no records', async () => {
  const parsed = await parseText('a,b,c\n1,2,3\n,,\n   \n , ,\n4,5,6\n,,,,,\n');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2', '3'],
    [6, 2, '4', '5', '6'],
  ]);
  expect(parsed.rejected).toEqual([]);
});
