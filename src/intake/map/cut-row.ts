import { FileHeld } from '../../core/held/file-held.ts';
import type { OpenRow } from '../../core/record.ts';
import { cleanText } from '../values/clean-text.ts';

/** Which columns of a file are read, by their index. */
export type ReadColumns = {
  readonly isRead: (index: number) => boolean;
  /** True for a column of currency codes. */
  readonly isCurrency: (index: number) => boolean;
};

/**
 * Returns true if the text of a file ends without a line break in a column that is read, or before one: its last cell
 * may be the beginning of another value. Of 10.30, 10 is left; of 120 clicks, 12; of jane@example.com, jane@example.co.
 *
 * @param width number of columns of the header.
 */
export function mayBeCut(
  { lastAt, text }: OpenRow,
  width: number,
  { isRead, isCurrency }: ReadColumns,
): boolean {
  // A currency code has three letters, and is not the beginning of a longer one.
  const isWhole = isCurrency(lastAt) && cleanText(text).length === 3;
  for (let at = isWhole ? lastAt + 1 : lastAt; at < width; at += 1) if (isRead(at)) return true;
  return false;
}

/**
 * Holds a file whose last row may be cut. Of orders, only the one in that row is held instead (`OrderWindow`).
 *
 * @throws FileHeld `may_be_cut`.
 */
export function requireWhole(
  open: OpenRow | null,
  { width, columns }: { width: number; columns: ReadColumns },
): void {
  if (open === null || !mayBeCut(open, width, columns)) return;
  throw new FileHeld({
    code: 'may_be_cut',
    message: `The file ends on line ${open.line} without a line break, so that row may be cut: its last cell may be the beginning of another value, and rows may be missing.`,
    help: 'Export the file again. If nothing is missing, add a line break at its end. If the program that writes these files never ends them with one, set ends_without_line_break: true in the layout.',
  });
}
