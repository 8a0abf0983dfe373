import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleanText, foldWord, isBlank } from '../../../src/intake/values/clean-text.ts';
import { renderCsv } from '../../../src/render/csv.ts';

it('a text is blank if and only if cleaning removes all of it', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', ' ', "'", '=', '\t', '\u00a0', '\u200b', '\u200e', '\ufeff', '\u0000', '~'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
      const text = pieces.join('');
      expect(isBlank(text)).toBe(cleanText(text) === '');
    }),
  );
});

it.each(['=1+1', '\t=1', '\r-1', '\n@x', '  +1', '＝1', '－1', '＋1', '＠x', '\u200b=1', '\tplain', 'plain'])(
  'a formula is escaped, and keeps its meaning when it is read again: %j',
  (text) => {
    const guarded = renderCsv([[text]], { delimiter: ',', escapeFormulas: true });
    const cell = guarded.slice(0, -2).replace(/^"|"$/g, '');
    expect(cell.startsWith("'")).toBe(text !== 'plain');
    expect(cleanText(cell)).toBe(cleanText(text));
  },
);

it.each([
  ['', ''],
  ['plain text', 'plain text'],
  [' \t padded\u00a0', 'padded'],
  ['one\u200b\u0000two', 'one two'],
  ['Cafe\u0301', 'Café'],
  ["'=1+1", '=1+1'],
  ["'\u200b=1", '=1'],
  ["'\t=1", '=1'],
  ["'\t", "'"],
  ["'tis", "'tis"],
])('%j is stored as %j', (text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

it('words are compared without their case and the kind of their blanks', () => {
  expect(['Partially Refunded', ' PARTIALLY\t refunded ', 'partially\u00a0refunded'].map(foldWord)).toEqual(
    Array(3).fill('partially_refunded'),
  );
});
