import type { Layout } from '../../model/layout.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import type { Fault } from '../fault.ts';
import { linearPattern } from '../layout/linear-pattern.ts';
import { cleanText } from '../values/clean-text.ts';
import { remember } from '../values/remember.ts';

/** Reads the discount codes of one cell. */
export type CodeSplitter = (cell: string) => readonly string[];

/** More different codes than this are no codes: an order that has more is refused. */
export const MAX_CODES = 50;

/**
 * Makes the reader of a layout's code cells: each code once, and one more than an order may have at most. What a pattern does not fit is
 * one code as it stands: a code is never overlooked. An e-mail address in a code is masked: no influencer owns such a code, since codes.csv may
 * not have one.
 */
export function codeSplitter({ split, pattern }: Layout['codes']): CodeSplitter {
  const search = pattern === null ? null : linearPattern(pattern);
  const read = (parts: Iterable<string>): readonly string[] => {
    const codes = new Set<string>();
    for (const part of parts) {
      const code = maskAddresses(cleanText(part));
      if (code !== '') codes.add(code);
      if (codes.size > MAX_CODES) break;
    }
    return [...codes];
  };
  // The same few codes stand in most rows.
  return remember((cell) => {
    if (cell === '') return [];
    const found = search === null ? [] : read(search.matches(cell));
    if (found.length > 0) return found;
    let parts = [cell];
    for (const separator of split) parts = parts.flatMap((part) => part.split(separator));
    return read(parts);
  });
}

export const TOO_MANY_CODES: Fault = {
  code: 'too_many_codes',
  reason: `The order names more than ${MAX_CODES} different codes.`,
  help: 'Check that the cells of its rows are in the right columns.',
};
