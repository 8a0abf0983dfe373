import { FileHeld } from '../../core/held/file-held.ts';
import { foldHeader } from '../../core/text/fold.ts';

/** Finds rows of the file within a cell. */
export type SwallowedRows = {
  /**
   * Checks a record that spans several lines.
   *
   * @throws FileHeld `swallowed_rows`.
   */
  check(cells: readonly string[], line: number): void;
};

/** The positions of the columns that identify a row, by their spellings. */
export function idPositions(header: readonly string[], idColumns: readonly string[]): readonly number[] {
  const names = new Set(idColumns.map(foldHeader));
  return header.flatMap((name, index) => (names.has(foldHeader(name)) ? [index] : []));
}

/**
 * A quote that is not closed in its own row is closed by the next one that is not doubled, maybe some rows later. The
 * record is then formally valid, but its cells are those of two rows, and the rows between are text of a cell. So a
 * file is held if a line within a cell looks like a row: it has as many delimiters as the header, and a text that
 * looks like the ids of the file in a column of ids. A row that lacks its last cells has fewer, and an amount or a time
 * where the record has one. If the quote is closed in the very next row, no whole row is in
 * the cell. Its two lines are then the end of one row and the beginning of another, with as many delimiters as these
 * would have. Notes and addresses of several lines have neither.
 *
 * @param idColumns spellings of the columns that identify a row.
 */
export function swallowedRows(
  header: readonly string[],
  delimiter: string,
  idColumns: readonly string[],
): SwallowedRows {
  const ids = idPositions(header, idColumns);
  const width = header.length;
  return {
    check(cells, line) {
      const own = ids.flatMap((at) => formOf(cells[at] ?? '') ?? []);
      const isId = (text: string): boolean => {
        const form = formOf(text);
        return form !== null && own.some((one) => isAlike(one, form));
      };
      let breaks = 0;
      for (const [column, cell] of cells.entries()) {
        if (!/[\r\n]/.test(cell)) continue;
        const found = findRow(cell.split(LINE_BREAK), {
          isRow: (text) => {
            const count = countOf(text, delimiter);
            const isShort = count < width - 1 && count >= MIN_SHORT;
            if (count !== width - 1 && !isShort) return false;
            const parts = text.split(delimiter);
            return hasId(parts, ids, isId) && (!isShort || hasValueOf(parts, cells));
          },
          isEnd: (text) => countOf(text, delimiter) === width - 1 - column,
          // After this line, as many cells follow as the record still has.
          isBeginning: (text) =>
            countOf(text, delimiter) === column + width - cells.length &&
            (hasId(text.split(delimiter), ids, isId) || hasId(cells, ids, isId, column + 1)),
        });
        if (found !== null && width > 1 && ids.length > 0)
          throw new FileHeld({
            code: 'swallowed_rows',
            message: `A quoted cell of the row on line ${line} contains line ${line + breaks + found}, which looks like a row of its own. A quote that is not closed in its own row hides the rows after it, and mixes the cells of two rows.`,
            help: 'Close or double the quote, or export the file again with each quote inside a cell doubled ("5"" pipe"). If the cell is right, replace the line breaks in it.',
          });
        breaks += cell.split(LINE_BREAK).length - 1;
      }
    },
  };
}

const LINE_BREAK = /\r\n|\n|\r/;

type LineTests = Readonly<Record<'isRow' | 'isEnd' | 'isBeginning', (text: string) => boolean>>;

/** Returns the index of the line on which a row begins; null if none does. */
function findRow(lines: readonly string[], { isRow, isEnd, isBeginning }: LineTests): number | null {
  const last = lines.length - 1;
  for (let at = 1; at < last; at += 1) if (isRow(lines[at] ?? '')) return at;
  return last === 1 && isEnd(lines[0] ?? '') && isBeginning(lines[last] ?? '') ? last : null;
}

function hasId(
  cells: readonly string[],
  ids: readonly number[],
  isId: (text: string) => boolean,
  from = 0,
): boolean {
  return ids.some((at) => at >= from && at < cells.length && isId(cells[at] ?? ''));
}

/** A line with fewer delimiters is no row that lacks its last cells. */
const MIN_SHORT = 2;
const AMOUNT = /^[^\d]{0,4}\d[\d.,' ]*[.,]\d{2}[^\d]{0,4}$/;
const TIME = /^\d{4}-\d\d-\d\d|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b/;

/** True if the cells have an amount or a time in a column in which the record has one, too. */
function hasValueOf(cells: readonly string[], record: readonly string[]): boolean {
  return cells.some((cell, at) =>
    [AMOUNT, TIME].some((form) => form.test(cell.trim()) && form.test((record[at] ?? '').trim())),
  );
}

function countOf(text: string, delimiter: string): number {
  let count = 0;
  for (let at = text.indexOf(delimiter); at !== -1; at = text.indexOf(delimiter, at + delimiter.length))
    count += 1;
  return count;
}

/** An id is shorter. A longer text is not looked at. */
const MAX_ID_CHARS = 200;

/** `#9` and 5 for `#1001`, `a-9` and 6 for `x7k-12`, `@` for an address. */
type Form = { readonly signs: string; readonly length: number };

/** Returns the form of an id. Null for a text without a digit, which may be any word. */
function formOf(text: string): Form | null {
  const id = text.trim();
  if (id.length > MAX_ID_CHARS || !/[\d@]/.test(id)) return null;
  const signs = id.replace(/[\p{L}\p{N}]+/gu, (run) => (/^\d+$/.test(run) ? '9' : 'a'));
  return { signs: id.includes('@') ? '@' : signs, length: id.length };
}

/** True if two texts may be ids of one file. Addresses have any length; after `#999` comes `#1000`. */
function isAlike(one: Form, other: Form): boolean {
  return one.signs === other.signs && (one.signs === '@' || Math.abs(one.length - other.length) <= 1);
}
