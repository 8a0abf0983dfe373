import { expect, test } from 'vitest';
import { faultsOf, parseText, placesOf } from './parse-text.ts';

test('NUL bytes within cells are kept, and a row of trailing NUL bytes is rejected', async () => {
  const parsed = await parseText('a,b\n1\u0000,"2\u0000"\n3,4\n\u0000\u0000\u0000\u0000');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1\u0000', '2\u0000'],
    [3, 2, '3', '4'],
  ]);
  expect(faultsOf(parsed)).toEqual([['ragged_row', 4, 3]]);
});
