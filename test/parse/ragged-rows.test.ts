import { expect, test } from 'vitest';
import { faultsOf, parseText, placesOf } from './parse-text.ts';

test('a row with more or fewer cells than the header is rejected with both counts, and the rest goes on', async () => {
  const parsed = await parseText('a,b,c\n1,2,3\n1,2\n1,2,3,4\n4,5,6\n');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2', '3'],
    [5, 4, '4', '5', '6'],
  ]);
  expect(faultsOf(parsed)).toEqual([
    ['ragged_row', 3, 2],
    ['ragged_row', 4, 3],
  ]);
  expect(parsed.rejected.map((row) => row.reason)).toEqual([
    'The row has 2 cells, the header has 3.',
    'The row has 4 cells, the header has 3.',
  ]);
  expect(parsed.rejected[0]).toMatchObject({ column: null, value: null, rowCount: 1 });
});

test('a delimiter at the end of rows does no harm, with or without one in the header', async () => {
  expect(placesOf(await parseText('a,b\n1,2,\n3,4\n'))).toEqual([
    [2, 1, '1', '2', ''],
    [3, 2, '3', '4'],
  ]);
  expect(placesOf(await parseText('a,b,\n1,2,\n3,4\n'))).toEqual([
    [2, 1, '1', '2', ''],
    [3, 2, '3', '4'],
  ]);
});

test('a last row that was cut off is rejected', async () => {
  expect(faultsOf(await parseText('a,b,c\n1,2,3\n4,5'))).toEqual([['ragged_row', 3, 2]]);
});
