import { expect, test } from 'vitest';
import { parseText, placesOf } from './parse-text.ts';

test('LF, CR and CRLF can be mixed, and each counts as one line', async () => {
  const parsed = await parseText('a,b\r\n1,2\n3,4\r5,6\r\n7,8');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2'],
    [3, 2, '3', '4'],
    [4, 3, '5', '6'],
    [5, 4, '7', '8'],
  ]);
});

test('a file with CR only is read line by line', async () => {
  const parsed = await parseText('a,b\r1,2\r3,4\r');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2'],
    [3, 2, '3', '4'],
  ]);
});

test('a quoted line break belongs to its cell and counts as a line', async () => {
  const parsed = await parseText('a,b\n"one\ntwo\r\nthree\rfour",2\n3,4\n');
  expect(placesOf(parsed)).toEqual([
    [2, 1, 'one\ntwo\r\nthree\rfour', '2'],
    [6, 2, '3', '4'],
  ]);
});

test.each([1, 2, 3, 5, 64])(
  'a CRLF split across pieces of %i bytes is one line break',
  async (batchBytes) => {
    const parsed = await parseText('a,b\r\n\r\n1,2\r\n"x\r\ny",4\r\n\r\n5,6\r\n', { batchBytes });
    expect(placesOf(parsed)).toEqual([
      [3, 1, '1', '2'],
      [4, 2, 'x\r\ny', '4'],
      [7, 3, '5', '6'],
    ]);
  },
);
