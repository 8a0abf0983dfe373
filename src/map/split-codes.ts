import type { Layout } from '../model/layout.ts';
import { maskAddresses } from '../model/mask-addresses.ts';
import { cleanText } from './clean-text.ts';

/** Reads the discount codes of one cell. */
export type CodeSplitter = (cell: string) => readonly string[];

/**
 * Makes the reader of a layout's code cells. What a pattern does not fit is one code as it stands: a code is never overlooked. An e-mail
 * address in a code is masked: nobody owns such a code, since codes.csv may not have one.
 */
export function codeSplitter({ split, pattern }: Layout['codes']): CodeSplitter {
  const search = pattern === null ? null : new RegExp(pattern, 'giu');
  return (cell) => {
    if (cell === '') return [];
    const found = search === null ? [] : [...cell.matchAll(search)].map((match) => match[1] ?? match[0]);
    let parts = found.length > 0 ? found : [cell];
    if (found.length === 0)
      for (const separator of split) parts = parts.flatMap((part) => part.split(separator));
    return parts.map((part) => maskAddresses(cleanText(part))).filter((code) => code !== '');
  };
}
