import { expect, test } from 'vitest';
import { cutPieces } from '../../../src/intake/csv/read-records.ts';
import { inPieces } from './parse-text.ts';

test.each([1, 3, 4, 5, 100])('pieces have a fixed size when %i bytes arrive at a time', async (arriving) => {
  const pieces: string[] = [];
  for await (const piece of cutPieces(inPieces('abcdefghijk', arriving), 4)) pieces.push(piece.toString());
  expect(pieces).toEqual(['abcd', 'efgh', 'ijk']);
});
