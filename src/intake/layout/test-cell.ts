import { cleanText, foldWord, isBlank } from '../values/clean-text.ts';
import { remember } from '../values/remember.ts';
import { linearPattern } from './linear-pattern.ts';
import type { CellTest, ExclusionRule } from './to-layout.ts';

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

/**
 * Creates the function for a rule of exclusion: whether it excludes a row with this cell, or counts it. `unknown`: the
 * rule lists the words that count (`unless`), and this is none of them.
 */
export function exclusionTest(rule: ExclusionRule): (cell: string) => 'excluded' | 'counted' | 'unknown' {
  const test = cellTest(rule);
  const allowed = rule.unless && new Set(rule.unless.map(foldWord));
  return (cell) => (test(cell) ? 'excluded' : allowed?.has(foldWord(cell)) === false ? 'unknown' : 'counted');
}
