import { expect, test } from 'vitest';
import { faultsOf, parseText, placesOf } from './parse-text.ts';

test('a header repeated in the middle, as in concatenated files, is a rejected row', async () => {
  const parsed = await parseText('id,total\n1,2\nid,total\n3,4\nid,5\n');
  expect(faultsOf(parsed)).toEqual([['repeated_header', 3, 2]]);
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2'],
    [4, 3, '3', '4'],
    [5, 4, 'id', '5'],
  ]);
});
