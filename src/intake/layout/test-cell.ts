import { cleanText, foldWord, isBlank } from '../values/clean-text.ts';
import { remember } from '../values/remember.ts';
import { linearPattern } from './linear-pattern.ts';
import type { CellTest } from './to-layout.ts';

/** Creates the function for a cell test of a layout. */
export function cellTest({ equals, noneOf, notBlank, matches }: CellTest): (cell: string) => boolean {
  if (notBlank) return (cell) => !isBlank(cell);
  if (matches !== null) {
    const pattern = linearPattern(matches);
    return remember((cell) => pattern.test(cleanText(cell)));
  }
  const words = new Set((equals ?? noneOf ?? []).map(foldWord));
  return remember((cell) => words.has(foldWord(cell)) === (equals !== null));
}
