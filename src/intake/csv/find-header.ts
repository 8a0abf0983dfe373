import { parse } from 'csv-parse/sync';
import { foldHeader } from '../../core/text/fold.ts';
import { findLineBreak, lineBreakAt } from './line-breaks.ts';
import type { ParseOptions } from './parse-options.ts';

/** The position of the header row, and the delimiter of its cells. */
export type HeaderPosition = {
  readonly offset: number;
  /** Physical line, 1-based. */
  readonly line: number;
  readonly delimiter: string;
};

const QUOTE = 0x22;
const CANDIDATES = [',', ';', '\t', '|'] as const;
/** Maximum number of lines that are searched for a header. No real preamble is longer. */
const MAX_SEARCHED_LINES = 100;

/**
 * Finds the header. Skips a `sep=;` line (written by Excel, sets the delimiter), the layout's preamble, blank
 * lines and lines with nothing but delimiters. If the layout requires it, the header is found by its columns.
 *
 * @param bytes the beginning of the text.
 * @param isEnd true if the text ends there.
 * @returns null if more text is needed; `none` if the text ends before a header.
 */
export function findHeader(
  bytes: Buffer,
  options: ParseOptions,
  isEnd: boolean,
): HeaderPosition | 'none' | null {
  const { headerColumns = null } = options;
  let offset = 0;
  let line = 1;
  let separator: string | null = null;
  let toSkip = options.preambleLines;
  let first: HeaderPosition | null = null;
  for (;;) {
    const end = findLineBreak(bytes, offset);
    // A CR at the very end may be the first half of a CRLF.
    const isOpen =
      end === -1 || (end === bytes.length - 1 && lineBreakAt(bytes, end) === 1 && bytes[end] === 13);
    if (isOpen && !isEnd) return null;
    const text = bytes.toString('utf8', offset, end === -1 ? bytes.length : end);
    const named = line === 1 ? /^"?sep=(.)"?\s*$/i.exec(text)?.[1] : undefined;
    separator ??= named ?? null;
    const isSkipped = named !== undefined || toSkip > 0 || isBlankLine(text);
    if (!isSkipped) {
      // When searching, only one line is considered, so that a stray quote before the header cannot consume
      // it.
      const row = headerColumns === null ? bytes.subarray(offset) : Buffer.from(text);
      const delimiter = separator ?? delimiterOf(row, options, isEnd || headerColumns !== null);
      if (delimiter === null) return null;
      const place = { offset, line, delimiter };
      if (headerColumns === null || hasColumns(text, delimiter, headerColumns)) return place;
      first ??= place;
    }
    // If no header fits, return the first row, so that the missing columns are reported.
    if (end === -1) return first ?? 'none';
    if (first !== null && line >= MAX_SEARCHED_LINES) return first;
    if (named === undefined && toSkip > 0) toSkip -= 1;
    offset = end + lineBreakAt(bytes, end);
    line += 1;
  }
}

function isBlankLine(text: string): boolean {
  return /^[\s,;|"]*$/.test(text);
}

/**
 * True if a line contains one spelling from each list. A header whose cells span several lines is not found.
 */
function hasColumns(text: string, delimiter: string, columns: readonly (readonly string[])[]): boolean {
  const names = new Set(cellsOf(text, delimiter).map(foldHeader));
  return columns.every((spellings) => spellings.some((name) => names.has(foldHeader(name))));
}

function cellsOf(text: string, delimiter: string): readonly string[] {
  try {
    const [cells = []] = parse(text, { delimiter, to: 1, relax_quotes: true, relax_column_count: true });
    return cells;
  } catch {
    return []; // A quote is not closed on this line, so it is not a header that the search can find.
  }
}

/** Returns the delimiter of the first row of a text, or null if more text is needed. */
function delimiterOf(bytes: Buffer, { delimiter }: ParseOptions, isEnd: boolean): string | null {
  return delimiter === 'auto' ? guessDelimiter(bytes, isEnd) : delimiter;
}

/**
 * Returns the most frequent candidate outside quotes in the header row; a comma if there is none. Null if the
 * row does not end here.
 */
function guessDelimiter(bytes: Buffer, isEnd: boolean): string | null {
  const counts = new Map<number, number>(CANDIDATES.map((delimiter) => [delimiter.charCodeAt(0), 0]));
  let isQuoted = false;
  let at = 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (lineBreakAt(bytes, at) > 0) break;
    const count = counts.get(byte);
    if (count !== undefined) counts.set(byte, count + 1);
  }
  if (at === bytes.length && !isEnd) return null;
  const [best] = [...counts].sort(([, one], [, other]) => other - one);
  return String.fromCharCode(best?.[0] ?? 0x2c);
}
