import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { FileHeld } from '../../core/held/file-held.ts';
import type { RawRecord } from '../../core/record.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { recordChecker } from './check-record.ts';
import { findLineBreak, lineBreakAt } from './line-breaks.ts';
import type { ParseOptions } from './parse-options.ts';
import { type ReadRecord, RecordReader } from './records/record-reader.ts';

/** The records of one piece of the text. The first record of a file is its header. */
export type RecordBatch = {
  readonly records: readonly ReadRecord[];
  readonly delimiter: string;
  /** True if nothing follows. */
  readonly isLast: boolean;
  /** True if the text ends within the last of the records, whose last cell may continue. */
  readonly isOpenAtEnd: boolean;
  /** Returns the text of one of these records, without its line break. */
  readonly rawOf: (record: ReadRecord) => string;
};

/**
 * Size of a piece: large enough that the overhead for each piece is negligible, small enough that its records
 * take a few megabytes at most.
 */
const PIECE_BYTES = 64 * 1024;

/**
 * Maximum number of broken rows. Each costs as much as a hundred good ones, so all of them together take some
 * seconds.
 */
const MAX_BROKEN_ROWS = 20_000;

/**
 * Splits a text into records, starting with the header.
 *
 * @throws FileHeld `empty_file`, `header_too_long`, `unclosed_quote`, `record_too_long`, `broken_quotes`.
 */
export async function* readRecords(
  text: AsyncIterable<Uint8Array>,
  options: ParseOptions,
): AsyncGenerator<RecordBatch> {
  const pieces = cutPieces(text, options.batchBytes ?? PIECE_BYTES);
  try {
    const { place, rest } = await readHead(pieces, options);
    const { quote, maxRecordBytes, maxBrokenRows = MAX_BROKEN_ROWS } = options;
    const { delimiter, line } = place;
    const settings = { delimiter, quote, maxRecordBytes, maxBrokenRows, line };
    const reader = new RecordReader(settings);
    const rawOf = (record: ReadRecord): string => reader.rawOf(record);
    const within = { delimiter, isLast: false, isOpenAtEnd: false, rawOf };
    yield { records: await reader.read(rest), ...within };
    for await (const piece of pieces) {
      yield { records: await reader.read(piece), ...within };
      // Yield to the event loop. If reading is faster than parsing, answers of the database would otherwise
      // never be processed.
      await nextTurn();
    }
    const records = await reader.finish();
    yield { records, ...within, isLast: true, isOpenAtEnd: reader.isOpenAtEnd };
  } finally {
    await pieces.return(undefined); // Releases the source, even if the reader stops early.
  }
}

async function readHead(
  pieces: AsyncGenerator<Buffer>,
  options: ParseOptions,
): Promise<{ readonly place: HeaderPosition; readonly rest: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const next = await pieces.next();
    if (next.done !== true) head = Buffer.concat([head, next.value]);
    const place = findHeader(head, options, next.done === true);
    if (place === 'none') throw emptyFile(head.length);
    if (place !== null) return { place, rest: head.subarray(place.offset) };
    if (head.length > options.maxRecordBytes)
      throw new FileHeld({
        code: 'header_too_long',
        message: `No header row ends within the first ${options.maxRecordBytes} bytes.`,
        help: 'This does not look like delimited text. Check that this is the right kind of file.',
      });
  }
}

function emptyFile(bytes: number): FileHeld {
  return new FileHeld({
    code: 'empty_file',
    message: bytes === 0 ? 'The file is empty, without even a header.' : 'The file has no header row.',
    help: 'Export it again. An export without orders still has a header.',
  });
}

/**
 * Splits a stream of bytes into pieces of equal size (the last may be shorter), so that the result does not
 * depend on how the network split it.
 */
export async function* cutPieces(
  text: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of text) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (size + rest.length >= pieceBytes) {
      const taken = pieceBytes - size;
      yield parts.length === 0 ? rest.subarray(0, taken) : Buffer.concat([...parts, rest.subarray(0, taken)]);
      parts = [];
      size = 0;
      rest = rest.subarray(taken);
    }
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(parts);
}

/** The position of the header row, and the delimiter of its cells. */
type HeaderPosition = {
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
function findHeader(bytes: Buffer, options: ParseOptions, isEnd: boolean): HeaderPosition | 'none' | null {
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
    const isSkipped = named !== undefined || toSkip > 0 || /^[\s,;|"]*$/.test(text);
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

/**
 * Reads records again with their exact text, for a person who corrects them, because rows are not stored.
 * Stops after the last wanted record.
 *
 * @param wanted record numbers from `parseCsv` for the same text and options; 0 is the header.
 * @throws FileHeld like `parseCsv`.
 */
export async function* readRawRecords(
  text: AsyncIterable<Uint8Array>,
  options: ParseOptions,
  wanted: ReadonlySet<number>,
): AsyncGenerator<RawRecord> {
  let check: ReturnType<typeof recordChecker> | null = null;
  let number = 0;
  let left = wanted.size;
  if (left === 0) return;
  for await (const { records, rawOf, delimiter } of readRecords(text, options)) {
    for (const read of records) {
      const { cells, line } = read;
      if (check === null) check = recordChecker(cells ?? []);
      else if (cells === null || check(cells) !== 'blank') number += 1;
      else continue;
      if (!wanted.has(number)) continue;
      yield { record: number, line, raw: rawOf(read), cells, delimiter };
      left -= 1;
      if (left === 0) return;
    }
  }
}
