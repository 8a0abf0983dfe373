import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleanText, isBlank } from '../../src/map/clean-text.ts';

it('a text is blank exactly where cleaning leaves nothing of it', () => {
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
