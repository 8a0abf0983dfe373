import type { CsvRecord, RejectedRow } from '../model/record.ts';
import type { Fault } from './check-record.ts';

/** More rows than this are no footer. */
const MAX_ROWS = 100;

/**
 * Sets aside the rows after the last order that say something about the file: `45,record(s) downloaded`. They are known by the text that
 * their first or second filled cell begins with, and by nothing but blank rows coming after them: where an order does, they are rejected,
 * because something was taken for a footer that is none.
 */
export class FooterRows {
  readonly #beginnings: readonly string[];
  #waiting: CsvRecord[] = [];

  constructor(beginnings: readonly string[]) {
    this.#beginnings = beginnings.map((text) => text.toLowerCase());
  }

  /** @returns whether the row is set aside. */
  take(row: CsvRecord): boolean {
    if (this.#beginnings.length === 0 || this.#waiting.length >= MAX_ROWS) return false;
    const filled = row.cells.filter((cell) => cell.trim() !== '').slice(0, 2);
    const isFooter = filled.some((cell) =>
      this.#beginnings.some((text) => cell.trim().toLowerCase().startsWith(text)),
    );
    if (isFooter) this.#waiting.push(row);
    return isFooter;
  }

  /** A row that is none has come: those that were set aside are rejected. */
  giveUp(rejected: RejectedRow[]): void {
    for (const { line, record } of this.#waiting) rejected.push({ ...FOOTER_WITHIN, line, record });
    this.#waiting = [];
  }
}

const FOOTER_WITHIN: Fault = {
  code: 'footer_within',
  column: null,
  value: null,
  reason: "This row starts like the layout's footer, but orders follow it.",
  help: 'If files were joined, remove the row. If it is an order, change the footer of the layout.',
  rowCount: 1,
};
