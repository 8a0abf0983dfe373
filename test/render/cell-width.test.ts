import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { cellWidth, NARROW } from '../../src/render/text.ts';

it.each([
  ['2026-11-23 order', 16],
  ['Zoë', 3],
  ['東京', 4],
  ['👩‍👩‍👧 ok', 5],
  ['\u001b[32mok\u001b[39m', 2],
])('%j takes %i cells', (text, cells) => {
  expect(cellWidth(text)).toBe(cells);
});

it('text that needs no library is measured as the library does', () => {
  const letters = Array.from({ length: 0x2200 }, (_, code) => String.fromCharCode(code));
  const narrow = letters.filter((letter) => NARROW.test(letter));
  expect(narrow.length).toBeGreaterThan(500);
  expect(narrow.filter((letter) => stringWidth(letter) !== 1)).toEqual([]);
  expect(stringWidth(narrow.join(''))).toBe(narrow.length);
});
