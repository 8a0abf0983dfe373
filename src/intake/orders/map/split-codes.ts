import { saysNoValue } from '../../../core/text/fold.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { linearPattern } from '../../layout/linear-pattern.ts';
import type { Layout } from '../../layout/to-layout.ts';
import type { Fault } from '../../map/fault.ts';
import { cleanText } from '../../values/clean-text.ts';
import { remember } from '../../values/remember.ts';

/** Returns the discount codes of one cell. */
export type CodeSplitter = (cell: string) => readonly string[];

/** Maximum number of different codes. An order with more is rejected, because they cannot all be codes. */
export const MAX_CODES = 50;

/**
 * Creates the splitter for a layout. It returns each code once, and at most one more than an order may have.
 * What the pattern finds may be a list, too. A cell that it does not match is read without it, so that no code is
 * missed. A first match without its group says that the cell may have none. A list as JSON writes it has an item for
 * each code. `null` or `N/A` is no code, and an e-mail address in a code is masked. No influencer owns such a code,
 * because codes.csv may not contain one.
 */
export function codeSplitter({ split, pattern }: Layout['codes']): CodeSplitter {
  const search = pattern === null ? null : linearPattern(pattern);
  const read = (lists: Iterable<string>): readonly string[] => {
    const codes = new Set<string>();
    for (const list of lists) {
      const parts = split.reduce((all, separator) => all.flatMap((part) => part.split(separator)), [list]);
      for (const part of parts) {
        const code = maskAddresses(cleanText(part));
        if (code !== '' && !saysNoValue(code)) codes.add(code);
        if (codes.size > MAX_CODES) return [...codes];
      }
    }
    return [...codes];
  };
  // Cached, because the same few codes occur in most rows.
  return remember((written) => {
    const cell = unquoted(written).trim();
    if (cell === '') return [];
    const found = search === null ? [] : read(search.matches(cell));
    if (found.length > 0) return found;
    const [first = null] = search === null ? [] : search.matches(cell);
    return first === '' ? [] : read(itemsOf(cell) ?? [cell]);
  });
}

/** The texts of a list as JSON writes it, or Python: `["A10","B20"]`, `['A10', 'B20']`. Null for any other cell. */
export function itemsOf(cell: string): readonly string[] | null {
  if (!cell.startsWith('[') || !cell.endsWith(']')) return null;
  try {
    const list: unknown = JSON.parse(cell.includes('"') ? cell : cell.replaceAll("'", '"'));
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null;
  } catch {
    return null;
  }
}

/** Removes the marks of spreadsheets and exports for text, which are never part of a code: `="MIA10"` and `'MIA10`. */
function unquoted(cell: string): string {
  const text = cell.trim();
  const isQuoted = text.length > 3 && text.startsWith('="') && text.endsWith('"');
  const content = isQuoted ? text.slice(2, -1) : cell;
  return content.replace(/^\s*'(?=[\p{L}\p{N}])/u, '');
}

export const TOO_MANY_CODES: Fault = {
  code: 'too_many_codes',
  reason: `The order names more than ${MAX_CODES} different codes.`,
  help: 'Check that the cells of its rows are in the right columns.',
};
