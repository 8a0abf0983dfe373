import type { CsvRecord } from '../../core/record.ts';
import type { Fault } from './check-record.ts';
import type { Sorted } from './row-widths.ts';

/** Maximum number of rows in a footer. */
const MAX_ROWS = 100;

/**
 * Sets aside the rows after the last order that describe the file: `45,record(s) downloaded`. A footer row is
 * recognised by the beginning of its first or second filled cell, and only blank rows may follow. If an order
 * follows, the rows set aside are rejected, because they were mistaken for a footer.
 */
export class FooterRows {
  readonly #beginnings: readonly string[];
  #waiting: CsvRecord[] = [];

  constructor(beginnings: readonly string[]) {
    this.#beginnings = beginnings.map((text) => text.toLowerCase());
  }

  /** Checks a row. @returns true if the row was set aside. */
  take(row: CsvRecord): boolean {
    if (this.#beginnings.length === 0 || this.#waiting.length >= MAX_ROWS) return false;
    const filled = row.cells.filter((cell) => cell.trim() !== '').slice(0, 2);
    const isFooter = filled.some((cell) =>
      this.#beginnings.some((text) => cell.trim().toLowerCase().startsWith(text)),
    );
    if (isFooter) this.#waiting.push(row);
    return isFooter;
  }

  /** Rejects the rows set aside, because another row follows. */
  giveUp(to: Sorted): void {
    for (const { line, record, cells } of this.#waiting) {
      to.rejected.push({ ...FOOTER_WITHIN, line, record });
      to.lost.push({ record, isHeader: false, cells });
    }
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
