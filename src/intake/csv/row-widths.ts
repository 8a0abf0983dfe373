import { FileHeld } from '../../core/held/file-held.ts';
import type { CsvRecord, LostRow, RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';
import { type Fault, ragged } from './check-record.ts';

/** The rows of a chunk that are passed on. */
export type Sorted = {
  readonly records: CsvRecord[];
  readonly rejected: RejectedRow[];
  readonly lost: LostRow[];
};

/**
 * Limits for the trial: while all rows are longer than the header, at most this many rows and bytes wait for
 * a row that differs. Shops that end rows with a delimiter do so in every row, so a difference among the
 * first thousand rows is sufficient.
 */
const TRIAL_ROWS = 1_000;
const TRIAL_BYTES = 1024 ** 2;
/** From this number on, cells beyond the header hold the file if they are more than half of its cells. */
const MAX_EXCESS_CELLS = 1_000_000;
/** A longer cell is not part of a number. */
const MAX_NUMBER_CHARS = 24;

/**
 * Distinguishes padded rows from rows whose cells have shifted. `1,249.00` without quotes becomes two cells,
 * and every later cell moves by one. If the last column is blank, the row then looks as if it ended with an
 * extra delimiter, and 1 is read instead of 1249.
 *
 * Therefore blank cells beyond the header count as padding only if every row has the same number of them, and
 * if no two neighbouring cells look like one split cell in every row. If the first row is not longer than the
 * header, no trial is needed. Otherwise rows wait, up to a limit. A row that differs rejects those that
 * waited. A row that differs later holds the file.
 */
export class RowWidths {
  readonly #headerWidth: number;
  /** Number of cells in all rows so far. `#excess` counts those beyond the header. */
  #cells = 0;
  #excess = 0;
  readonly #delimiter: string;
  /**
   * Number of cells in the first row. Rows with more have an extra cell, even if the header has unnamed
   * columns for it.
   */
  #firstWidth = 0;
  #state: 'unknown' | 'plain' | 'trial' | 'padded' = 'unknown';
  #waiting: CsvRecord[] = [];
  #waitingBytes = 0;
  /** Positions at which every row so far looks split. */
  #cuts: readonly number[] = [];

  constructor(headerWidth: number, delimiter: string) {
    this.#headerWidth = headerWidth;
    this.#delimiter = delimiter;
  }

  /**
   * Takes a row with all cells of its header, and possibly blank ones beyond.
   *
   * @throws FileHeld `uneven_rows`.
   */
  take(row: CsvRecord, bytes: number, to: Sorted): void {
    const width = row.cells.length;
    if (this.#state === 'plain' && width <= this.#firstWidth) to.records.push(row);
    else if (this.#state === 'padded') this.#takePadded(row, to);
    else if (this.#state === 'plain')
      reject(row, width > this.#headerWidth ? this.#headerWidth : this.#firstWidth, to);
    else this.#takeEarly(row, bytes, to);
  }

  /**
   * Counts the cells of any row, including blank ones. A row with a megabyte of delimiters has a million
   * cells, each of which costs as much as a dozen bytes of text.
   *
   * @throws FileHeld `rows_too_wide`.
   */
  count(cells: number, line: number): void {
    this.#cells += cells;
    if (cells <= this.#headerWidth) return;
    this.#excess += cells - this.#headerWidth;
    if (this.#excess < MAX_EXCESS_CELLS || this.#excess * 2 <= this.#cells) return;
    throw new FileHeld({
      code: 'rows_too_wide',
      message: `${this.#excess} of the first ${this.#cells} cells are beyond the ${plural(this.#headerWidth, 'column')} of the header; the row on line ${line} has ${cells} cells. Reading stopped there.`,
      help: 'These rows do not fit the header. Export the file again, or check that it was saved with one delimiter.',
    });
  }

  /** Ends the file. */
  finish(to: Sorted): void {
    if (this.#state === 'trial') this.#confirm(to);
  }

  #takeEarly(row: CsvRecord, bytes: number, to: Sorted): void {
    const width = row.cells.length;
    if (this.#state === 'unknown') {
      this.#firstWidth = width;
      this.#state = width > this.#headerWidth ? 'trial' : 'plain';
      this.#cuts = [...row.cells.keys()];
    }
    if (this.#state === 'trial' && width !== this.#firstWidth) {
      for (const waiting of this.#waiting) reject(waiting, this.#headerWidth, to);
      this.#waiting = [];
      this.#firstWidth = this.#headerWidth;
      this.#state = 'plain';
    }
    if (this.#state === 'plain') {
      this.take(row, bytes, to);
      return;
    }
    this.#waiting.push(row);
    this.#waitingBytes += bytes;
    this.#cuts = this.#cuts.filter((at) => looksCut(row.cells, at, this.#delimiter));
    if (this.#waiting.length >= TRIAL_ROWS || this.#waitingBytes >= TRIAL_BYTES) this.#confirm(to);
  }

  #confirm(to: Sorted): void {
    const isCut = this.#cuts.length > 0;
    for (const row of this.#waiting) {
      if (isCut) reject(row, this.#headerWidth, to);
      else to.records.push(row);
    }
    this.#waiting = [];
    if (isCut) this.#firstWidth = this.#headerWidth;
    this.#state = isCut ? 'plain' : 'padded';
  }

  #takePadded(row: CsvRecord, to: Sorted): void {
    const found = row.cells.length;
    if (found === this.#firstWidth) {
      to.records.push(row);
      return;
    }
    throw new FileHeld({
      code: 'uneven_rows',
      message: `The rows before line ${row.line} have ${this.#firstWidth} cells, ${this.#firstWidth - this.#headerWidth} more than the header; this one has ${found}. Cells of some rows have moved, and it is unclear which.`,
      help: 'A cell that contains the delimiter must be in quotes. Export the file again, with the same number of cells in every row.',
    });
  }
}

function reject({ cells, line, record }: CsvRecord, expected: number, to: Sorted): void {
  const fault: Fault = ragged(cells.length, expected);
  to.rejected.push({ ...fault, line, record });
  to.lost.push({ record, isHeader: false, cells });
}

/**
 * True if a cell and the next one look like one cell that was split at its delimiter: `1` and `249.00`, `45`
 * and `00`, `Doe` and ` Jane`.
 */
function looksCut(cells: readonly string[], at: number, delimiter: string): boolean {
  const one = cells[at] ?? '';
  const other = cells[at + 1] ?? '';
  if (one.trim() === '' || other.trim() === '') return false;
  if (other.startsWith(' ') && !one.startsWith(' ') && !cells[at + 2]?.startsWith(' ')) return true;
  // The first column identifies the order and is not a number. Numbers contain no delimiter but a comma.
  if (at === 0 || delimiter !== ',' || one.length > MAX_NUMBER_CHARS || other.length > MAX_NUMBER_CHARS)
    return false;
  const isThousands =
    /\d$/.test(one) && !/\d{4}$|[.,]/.test(one) && /^\d{3}(?:\.\d{1,4})?\D{0,4}$/.test(other);
  const isDecimals = /\d$/.test(one) && !/[,]/.test(one) && /^\d\d\D{0,4}$/.test(other);
  return isThousands || isDecimals;
}
