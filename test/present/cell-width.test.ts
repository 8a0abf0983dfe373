import { expect, it } from 'vitest';
import { cellWidth } from '../../src/present/text.ts';

it.each([
  ['2026-11-23 order', 16],
  ['Zoë', 3],
  ['東京', 4],
  ['👩‍👩‍👧 ok', 5],
  ['\u001b[32mok\u001b[39m', 2],
])('%j takes %i cells', (text, cells) => {
  expect(cellWidth(text)).toBe(cells);
});
