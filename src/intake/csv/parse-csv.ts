import { FileHeld } from '../../core/held/file-held.ts';
import type { CsvChunk, CsvRecord, FooterRow, OpenRow } from '../../core/record.ts';
import { footerRow } from '../map/fault.ts';
import { BAD_QUOTING, type Fault, REPEATED_HEADER, recordChecker } from './check-record.ts';
import type { ParseOptions } from './parse-options.ts';
import { readRecords } from './read-records.ts';
import { RowWidths, type Sorted } from './row-widths.ts';
import { idPositions, type SwallowedRows, swallowedRows } from './swallowed-rows.ts';

/**
 * Parses delimited text as a stream: some hundred records at a time, each with its number and the physical
 * line on which it begins. Blank lines, blank rows, descriptions below the header and the layout's footer are
 * not records. A row that cannot be read is rejected, and parsing continues.
 *
 * @param text valid UTF-8 without a byte order mark, split anywhere.
 * @returns at least one chunk, even for a file with only a header.
 * @throws FileHeld `empty_file`, `header_too_long`, `header_damaged`, `unclosed_quote`, `record_too_long`,
 * `broken_quotes`, `uneven_rows`, `rows_too_wide`, `swallowed_rows`, `second_table`.
 */
export async function* parseCsv(
  text: AsyncIterable<Uint8Array>,
  options: ParseOptions,
): AsyncGenerator<CsvChunk> {
  let header: readonly string[] | null = null;
  let check: ReturnType<typeof recordChecker> | null = null;
  let widths: RowWidths | null = null;
  let swallowed: SwallowedRows | null = null;
  let footer: FooterRows | null = null;
  let descriptions = options.belowHeader ?? [];
  let number = 0;
  for await (const batch of readRecords(text, options)) {
    const to: Sorted = { records: [], rejected: [], lost: [] };
    let open: OpenRow | null = null;
    const isFirst = header === null && batch.records.length > 0;
    for (const { cells, line, start, end, lines } of batch.records) {
      open = null;
      if (check === null || widths === null) {
        header = cells ?? throwDamagedHeader(line);
        check = recordChecker(header);
        widths = new RowWidths(header.length, batch.delimiter);
        swallowed = swallowedRows(header, batch.delimiter, options.idColumns ?? []);
        if (options.footer !== undefined && options.footer.length > 0)
          footer = new FooterRows(options.footer, idPositions(header, options.idColumns ?? []));
        continue;
      }
      if (cells !== null) widths.count(cells.length, line);
      if (lines > 1 && cells !== null) swallowed?.check(cells, line);
      const outcome = cells === null ? BAD_QUOTING : check(cells);
      if (outcome === 'blank') continue;
      number += 1;
      if (descriptions.length > 0) {
        if (cells !== null && beginsWith(cells, descriptions)) continue;
        descriptions = [];
      }
      if (footer !== null) {
        if (cells !== null && footer.take({ cells, line, record: number })) continue;
        footer.giveUp(to);
      }
      if (batch.isOpenAtEnd && cells !== null)
        open = { record: number, line, lastAt: cells.length - 1, text: cells.at(-1) ?? '' };
      // Its rows may lower what the rows above say, so that no order of the file is known.
      if (outcome === 'second_table')
        throw new FileHeld({
          code: 'second_table',
          message: `Another table begins on line ${line}: names of the header are there in other columns. It may say what was refunded or cancelled, so nothing of this file is read.`,
          help: 'Export each table as a file of its own. If the other table does not matter, remove it.',
        });
      if (outcome !== 'good') {
        to.rejected.push({ ...outcome, line, record: number });
        to.lost.push({ record: number, isHeader: outcome === REPEATED_HEADER, cells });
      } else if (cells !== null) {
        widths.take({ cells, line, record: number }, end - start, to);
      }
    }
    if (batch.isLast) widths?.finish(to);
    const ended = batch.isLast && footer !== null ? footer.rows() : [];
    const isWorthIt = isFirst || to.records.length + to.rejected.length + ended.length > 0;
    if (header !== null && isWorthIt)
      yield { header, ...to, open, ...(ended.length === 0 ? {} : { footer: ended }) };
  }
}

/** True if the first filled cell of a row begins with one of these texts. */
function beginsWith(cells: readonly string[], texts: readonly string[]): boolean {
  const first =
    cells
      .find((cell) => cell.trim() !== '')
      ?.trim()
      .toLowerCase() ?? '';
  return texts.some((text) => first.startsWith(text.toLowerCase()));
}

function throwDamagedHeader(line: number): never {
  throw new FileHeld({
    code: 'header_damaged',
    message: `The quotes in the header row on line ${line} are unreadable.`,
    help: 'Correct the header row, or export the file again.',
  });
}

/** Maximum number of rows in a footer. */
const MAX_ROWS = 100;

/**
 * Sets aside the rows after the last order that describe the file: `45,record(s) downloaded`. A footer row begins with
 * one of the layout's texts, or with a number of rows and the text, and only blank rows may follow. A row that could be
 * an order is none, whatever it begins with. If an order follows, the rows set aside are rejected, because they were
 * mistaken for a footer.
 */
class FooterRows {
  readonly #beginnings: readonly string[];
  /** Positions of the columns that identify a row. */
  readonly #ids: readonly number[];
  #waiting: CsvRecord[] = [];

  constructor(beginnings: readonly string[], ids: readonly number[]) {
    this.#beginnings = beginnings.map((text) => text.toLowerCase());
    this.#ids = ids;
  }

  /** Checks a row. @returns true if the row was set aside. */
  take(row: CsvRecord): boolean {
    const { cells } = row;
    const first = cells.findIndex(isFilled);
    const hasCount = /^\s*\d+\s*$/.test(cells[first] ?? '');
    const at = hasCount ? cells.findIndex((cell, index) => index > first && isFilled(cell)) : first;
    const label = cells[at]?.trim().toLowerCase() ?? '';
    const rest = this.#behindBeginning(label) ?? this.#behindBeginning(label.replace(/^\d+ +/, ''));
    if (rest === null || this.#waiting.length >= MAX_ROWS) return false;
    const filled = cells.filter(isFilled).length;
    const couldBeOrder = this.#ids.some((id) => {
      if (!isFilled(cells[id] ?? '')) return false;
      if (id === at) return /\d/.test(rest) && filled > 1;
      return id !== first || filled > 2;
    });
    if (!couldBeOrder) this.#waiting.push(row);
    return !couldBeOrder;
  }

  /** The rows set aside so far. */
  rows(): readonly FooterRow[] {
    return this.#waiting.map(({ line, cells }) => footerRow(line, cells, 'label'));
  }

  /** What follows the beginning of a footer in a text. Null: it begins otherwise; `Summer` does not begin with `Sum`. */
  #behindBeginning(text: string): string | null {
    for (const beginning of this.#beginnings) {
      if (!text.startsWith(beginning)) continue;
      const rest = text.slice(beginning.length);
      if (!/[\p{L}\p{N}]$/u.test(beginning) || !/^[\p{L}\p{M}\p{N}_-]/u.test(rest)) return rest;
    }
    return null;
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

function isFilled(cell: string): boolean {
  return cell !== '' && cell.trim() !== '';
}

const FOOTER_WITHIN: Fault = {
  code: 'footer_within',
  column: null,
  value: null,
  reason: "This row starts like the layout's footer, but orders follow it.",
  help: 'If files were joined, remove the row. If it is an order, change the footer of the layout.',
  rowCount: 1,
};
