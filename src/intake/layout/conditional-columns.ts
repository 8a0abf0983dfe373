import { FileHeld } from '../../core/held/file-held.ts';
import type { ConditionalColumn } from '../../core/layout.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { cellTest } from './test-cell.ts';

/** A header with the columns that a layout derives, and the function that adds them to rows. */
export type ExtendedHeader = {
  readonly names: readonly string[];
  /** Null if rows stay unchanged. */
  readonly extend: ((cells: readonly string[]) => readonly string[]) | null;
};

type Made = {
  readonly name: string;
  readonly from: number;
  readonly testAt: number;
  readonly test: (cell: string) => boolean;
};

/**
 * Adds the conditional columns whose original columns exist in the file. They are placed after the last
 * column of the file, so that the other parts of a layout find them by name like any column. If there are
 * none, rows stay unchanged.
 *
 * @throws FileHeld `ambiguous_header` if the file already has a column with that name.
 */
export function extendHeader(
  header: readonly string[],
  columns: readonly ConditionalColumn[],
): ExtendedHeader {
  const places = new Map(header.map((name, index) => [foldHeader(name), index] as const).reverse());
  const find = (spellings: readonly string[]): number | null =>
    spellings.map((name) => places.get(foldHeader(name))).find((at) => at !== undefined) ?? null;
  const made = columns.flatMap(({ name, columns: spellings, when }): Made[] => {
    const from = find(spellings);
    const testAt = find(when.columns);
    return from === null || testAt === null ? [] : [{ name, from, testAt, test: cellTest(when) }];
  });
  const taken = made.find(({ name }) => places.has(foldHeader(name)));
  if (taken !== undefined) throw nameTaken(taken.name);
  if (made.length === 0) return { names: header, extend: null };
  return { names: [...header, ...made.map(({ name }) => name)], extend: extender(header.length, made) };
}

function extender(width: number, made: readonly Made[]): (cells: readonly string[]) => readonly string[] {
  return (cells) => {
    const extended = cells.slice(0, width);
    while (extended.length < width) extended.push('');
    for (const { from, testAt, test } of made)
      extended.push(test(cells[testAt] ?? '') ? (cells[from] ?? '') : '');
    return extended;
  };
}

function nameTaken(name: string): FileHeld {
  return new FileHeld({
    code: 'ambiguous_header',
    message: `The file has a column "${name}", and the layout adds one of the same name under conditional_columns.`,
    help: 'Give the conditional column of the layout another name.',
  });
}
