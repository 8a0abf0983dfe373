import { parse } from 'csv-parse/sync';
import { foldHeader } from '../model/text/fold.ts';
import { findLineBreak, lineBreakAt } from './line-breaks.ts';
import type { ParseOptions } from './parse-options.ts';

/** Where the header row begins and what separates its cells. */
export type HeaderPlace = {
  readonly offset: number;
  /** Physical line, 1-based. */
  readonly line: number;
  readonly delimiter: string;
};

const QUOTE = 0x22;
const CANDIDATES = [',', ';', '\t', '|'] as const;
/** Where a header is searched for: a longer preamble is no preamble. */
const MAX_SEARCHED_LINES = 100;

/**
 * Skips what stands before the header: a `sep=;` line (written by Excel, names the delimiter), the layout's preamble, blank lines and lines
 * that have nothing but delimiters. Where the layout says so, the header is searched for by its columns.
 *
 * @param bytes the beginning of the text.
 * @param isEnd whether that is all of it.
 * @returns null when more text is needed; `none` when the text ends before a header.
 */
export function findHeader(
  bytes: Buffer,
  options: ParseOptions,
  isEnd: boolean,
): HeaderPlace | 'none' | null {
  const { headerColumns = null } = options;
  let offset = 0;
  let line = 1;
  let separator: string | null = null;
  let toSkip = options.preambleLines;
  let first: HeaderPlace | null = null;
  for (;;) {
    const end = findLineBreak(bytes, offset);
    // A CR at the very end may be half of a CRLF.
    const isOpen =
      end === -1 || (end === bytes.length - 1 && lineBreakAt(bytes, end) === 1 && bytes[end] === 13);
    if (isOpen && !isEnd) return null;
    const text = bytes.toString('utf8', offset, end === -1 ? bytes.length : end);
    const named = line === 1 ? /^"?sep=(.)"?\s*$/i.exec(text)?.[1] : undefined;
    separator ??= named ?? null;
    const isSkipped = named !== undefined || toSkip > 0 || isBlankLine(text);
    if (!isSkipped) {
      // A header that is searched for is one line, so that a stray quote before it cannot swallow it.
      const row = headerColumns === null ? bytes.subarray(offset) : Buffer.from(text);
      const delimiter = separator ?? delimiterOf(row, options, isEnd || headerColumns !== null);
      if (delimiter === null) return null;
      const place = { offset, line, delimiter };
      if (headerColumns === null || hasColumns(text, delimiter, headerColumns)) return place;
      first ??= place;
    }
    // Without a header that fits, the first row stands for it: what it lacks is then told.
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

/** Whether a line has, for each list of spellings, one of them. A header whose cells go over several lines is not found. */
function hasColumns(text: string, delimiter: string, columns: readonly (readonly string[])[]): boolean {
  const names = new Set(cellsOf(text, delimiter).map(foldHeader));
  return columns.every((spellings) => spellings.some((name) => names.has(foldHeader(name))));
}

function cellsOf(text: string, delimiter: string): readonly string[] {
  try {
    const [cells = []] = parse(text, { delimiter, to: 1, relax_quotes: true, relax_column_count: true });
    return cells;
  } catch {
    return []; // A quote that this line does not close: no header that could be searched for.
  }
}

/** The delimiter of the first row of a text; null when more text is needed to tell. */
function delimiterOf(bytes: Buffer, { delimiter }: ParseOptions, isEnd: boolean): string | null {
  return delimiter === 'auto' ? guessDelimiter(bytes, isEnd) : delimiter;
}

/** Whichever the header row has most of, outside quotes; a comma when it has none. Null when the row does not end here. */
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
