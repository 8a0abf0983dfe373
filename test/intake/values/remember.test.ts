import { expect, it } from 'vitest';
import { remember } from '../../../src/intake/values/remember.ts';

/** Counts for how many of some texts a result is computed. */
function computed(texts: readonly string[]): number {
  let count = 0;
  const result = remember((text) => {
    count += 1;
    return text === 'none' ? null : text.toUpperCase();
  });
  for (const text of texts) expect(result(text)).toBe(text === 'none' ? null : text.toUpperCase());
  return count;
}

it('what a column repeats is computed once', () => {
  expect(computed(['paid', 'refunded', 'paid', 'paid', 'refunded'])).toBe(2);
});

it('neither many different words nor long ones are kept, so that no file fills the memory', () => {
  const words = Array.from({ length: 512 }, (_, index) => `word ${index}`);
  expect(computed([...words, 'word 0', 'word 511'])).toBe(512);
  expect(computed([...words, 'one more', 'word 511'])).toBe(514);
  const [longest, tooLong] = ['x'.repeat(100), 'x'.repeat(101)];
  expect(computed([longest, longest])).toBe(1);
  expect(computed([tooLong, tooLong])).toBe(2);
});

it('a column of ids, which hardly ever repeats one, is not cached', () => {
  const ids = Array.from({ length: 513 }, (_, index) => `#${index}`);
  expect(computed([...ids, 'again', 'again'])).toBe(515);
  const words = Array.from({ length: 514 }, () => 'paid');
  expect(computed([...words, ...ids, 'again', 'again'])).toBe(515);
});
