import { type CsvError, type Parser, parse } from 'csv-parse';
import { FileHeld } from '../../../core/held/file-held.ts';
import { findLineBreak, LineBreakCounter, lineBreakAt } from '../line-breaks.ts';
import { RecordScanner } from './record-scanner.ts';

/** One record with its position in the text. */
export type ReadRecord = {
  /** Null if its quoting is broken. The record then is one physical line. */
  readonly cells: readonly string[] | null;
  /** Physical line on which it begins. */
  readonly line: number;
  /** Position in the reader's window; see `rawOf`. */
  readonly start: number;
  readonly end: number;
  readonly lines: number;
};

type Settings = {
  readonly delimiter: string;
  readonly quote: '"' | null;
  readonly maxRecordBytes: number;
  /** The file is held at this number of rows with broken quotes, however many rows are good. */
  readonly maxBrokenRows: number;
  /** Physical line on which the text begins. */
  readonly line: number;
};

const CR = 13;
/** From this number on, rows with broken quotes hold the file if they are more than half of its rows. */
const MIN_BROKEN_FOR_SHARE = 1_000;

/**
 * Splits a text into records, and determines the physical line and the bytes of each. A record with broken
 * quoting is treated as one line, and reading resumes on the next line, so that a stray quote cannot consume
 * good rows.
 *
 * The scanner reads plain records. csv-parse reads from the first other record on; after that record, the
 * scanner resumes with the next piece.
 *
 * A new csv-parse parser costs as much as parsing a hundred rows. Therefore the number of broken rows is
 * limited: a file with nothing else would keep the process busy for hours.
 *
 * The reader keeps the bytes from the beginning of the open record on, so its memory is limited to one record
 * and one piece.
 */
export class RecordReader {
  readonly #settings: Settings;
  readonly #scanner: RecordScanner | null;
  /** Null while the scanner reads. */
  #parser: CollectingParser | null = null;
  #window: Buffer = Buffer.alloc(0);
  #breaks = new LineBreakCounter(this.#window);
  /**
   * Offsets into the window: of the next record, and of the parser's first byte, which may be before the
   * window.
   */
  #begin = 0;
  #parserBegin = 0;
  #line: number;
  /** True if the open record has broken quoting and the end of its line has not arrived yet. */
  #isSkipping = false;
  #found = 0;
  #broken = 0;

  /** Creates a reader. @param options.isScanned false: csv-parse reads every record, as tests compare. */
  constructor(settings: Settings, options: { readonly isScanned?: boolean } = {}) {
    this.#settings = settings;
    this.#scanner =
      options.isScanned === false ? null : RecordScanner.create(settings.delimiter, settings.quote);
    this.#line = settings.line;
  }

  /**
   * Reads a piece of the text.
   *
   * @returns the records that end within this piece.
   * @throws FileHeld `unclosed_quote`, `record_too_long`, `broken_quotes`.
   */
  async read(piece: Buffer): Promise<ReadRecord[]> {
    const open = this.#window.subarray(this.#begin);
    this.#window = open.length === 0 ? piece : Buffer.concat([open, piece]);
    this.#breaks = new LineBreakCounter(this.#window);
    this.#scanner?.open(this.#window);
    this.#parserBegin -= this.#begin;
    this.#begin = 0;
    const records: ReadRecord[] = [];
    let error = this.#parser === null ? null : await this.#parse(this.#parser, piece, records);
    for (;;) {
      if ((error !== null || this.#isSkipping) && !this.#skipBadLine(records, false)) break;
      if (this.#parser !== null || this.#scan(records) === 'open') break;
      error = await this.#parse(this.#beginParser(), this.#window.subarray(this.#begin), records);
    }
    this.#skipBlankLines(false);
    this.#checkLength(this.#begin, this.#window.length);
    const isPastRecord = this.#begin > this.#parserBegin;
    if (isPastRecord && this.#scanner !== null) this.#parser = null;
    return records;
  }

  /** Ends the text. @returns and throws like `read`. */
  async finish(): Promise<ReadRecord[]> {
    const records: ReadRecord[] = [];
    let error = this.#parser === null ? null : await this.#finishParser(this.#parser, records);
    while (error !== null || this.#parser === null) {
      if (error?.code === 'CSV_QUOTE_NOT_CLOSED') throw this.#hold(this.#window.length);
      if (error !== null || this.#isSkipping) this.#skipBadLine(records, true);
      this.#scan(records);
      this.#skipBlankLines(true);
      if (this.#begin === this.#window.length) break;
      const parser = this.#beginParser();
      error = await this.#parse(parser, this.#window.subarray(this.#begin), records);
      error ??= await this.#finishParser(parser, records);
    }
    return records;
  }

  /**
   * True if the text ends within a record, whose last cell may continue. Only after `finish`. A closing quote ends a
   * cell.
   */
  get isOpenAtEnd(): boolean {
    const last = this.#window.at(-1);
    return last !== undefined && !isLineBreak(last) && !(last === QUOTE && this.#settings.quote !== null);
  }

  /**
   * Returns the text of a record, without its line break. Only for records of the last `read` or `finish`.
   */
  rawOf(record: ReadRecord): string {
    let { end } = record;
    if (this.#window[end - 1] === 10) end -= 1;
    if (this.#window[end - 1] === CR) end -= 1;
    return this.#window.toString('utf8', record.start, Math.max(record.start, end));
  }

  /**
   * Reads plain records. @returns why it stopped: `open` if the next record is incomplete, `odd` if csv-parse
   * must read it.
   */
  #scan(records: ReadRecord[]): 'open' | 'odd' {
    const scanner = this.#scanner;
    for (;;) {
      this.#skipBlankLines(false);
      const start = this.#begin;
      if (start === this.#window.length) return 'open';
      if (scanner === null) return 'odd';
      const found = scanner.read(start);
      if (found !== 'record') return found;
      const { cells, end, lineBreaks } = scanner;
      this.#checkLength(start, end);
      records.push({ cells, line: this.#line, start, end, lines: lineBreaks });
      this.#found += 1;
      this.#line += lineBreaks;
      this.#begin = end;
    }
  }

  /** Creates a parser that starts at the next record. */
  #beginParser(): CollectingParser {
    this.#parser = new CollectingParser(this.#settings.delimiter, this.#settings.quote);
    this.#parserBegin = this.#begin;
    return this.#parser;
  }

  /**
   * Parses bytes. @returns the error of the record after the last one that was read, or null if all bytes
   * were consumed.
   */
  async #parse(parser: CollectingParser, bytes: Buffer, records: ReadRecord[]): Promise<CsvError | null> {
    const error = await parser.feed(bytes);
    this.#collect(parser, records);
    return error;
  }

  async #finishParser(parser: CollectingParser, records: ReadRecord[]): Promise<CsvError | null> {
    const error = await parser.finish();
    this.#collect(parser, records);
    return error;
  }

  /** Takes the parser's records and determines the position of each. */
  #collect({ records: found, ends }: CollectingParser, records: ReadRecord[]): void {
    for (let index = 0; index < found.length; index += 1) {
      const cells = found[index] ?? null;
      const end = this.#parserBegin + (ends[index] ?? 0);
      this.#skipBlankLines(true);
      const start = this.#begin;
      this.#checkLength(start, end);
      const breaks = this.#breaks.count(start, end);
      const lines = isLineBreak(this.#window[end - 1]) ? breaks : breaks + 1;
      records.push({ cells, line: this.#line, start, end, lines });
      this.#found += 1;
      this.#line += breaks;
      this.#begin = end;
    }
    found.length = 0;
    ends.length = 0;
  }

  /**
   * Turns the open line into a rejected record, and drops the parser. @returns false if the line does not end
   * here.
   */
  #skipBadLine(records: ReadRecord[], isEnd: boolean): boolean {
    this.#parser = null;
    this.#skipBlankLines(isEnd);
    const start = this.#begin;
    const lineEnd = findLineBreak(this.#window, start);
    const mayBeHalf = lineEnd === this.#window.length - 1 && this.#window[lineEnd] === CR;
    this.#isSkipping = !isEnd && (lineEnd === -1 || mayBeHalf);
    if (this.#isSkipping) return false;
    const end = lineEnd === -1 ? this.#window.length : lineEnd + lineBreakAt(this.#window, lineEnd);
    this.#checkLength(start, end);
    records.push({ cells: null, line: this.#line, start, end, lines: 1 });
    this.#countBroken();
    this.#line += 1;
    this.#begin = end;
    return true;
  }

  /**
   * Skips line breaks. @param isWhole true if the byte after the window is known not to be the second half of
   * a CRLF.
   */
  #skipBlankLines(isWhole: boolean): void {
    for (;;) {
      const length = lineBreakAt(this.#window, this.#begin);
      if (length === 0) return;
      const mayBeHalf = this.#begin === this.#window.length - 1 && this.#window[this.#begin] === CR;
      if (mayBeHalf && !isWhole) return;
      this.#begin += length;
      this.#line += 1;
    }
  }

  #checkLength(start: number, end: number): void {
    if (end - start > this.#settings.maxRecordBytes) throw this.#hold(end);
  }

  #countBroken(): void {
    this.#found += 1;
    this.#broken += 1;
    const isMost = this.#broken >= MIN_BROKEN_FOR_SHARE && this.#broken * 2 > this.#found;
    if (!isMost && this.#broken < this.#settings.maxBrokenRows) return;
    throw new FileHeld({
      code: 'broken_quotes',
      message: `${this.#broken} of the first ${this.#found} rows have unreadable quotes, the last of them on line ${this.#line}. Reading stopped there.`,
      help: 'Export the file again with each quote inside a cell doubled ("5"" pipe"). If quotes have no meaning in this format, set quote: none in its layout.',
    });
  }

  #hold(end: number): Error {
    this.#skipBlankLines(true);
    return holdOpenRecord(this.#window.subarray(this.#begin, end), { ...this.#settings, line: this.#line });
  }
}

const QUOTE = 0x22;

function isLineBreak(byte: number | undefined): boolean {
  return byte === CR || byte === 10;
}

/**
 * Creates the hold for a record that does not end, usually because of a quote that is never closed.
 *
 * @param bytes from the beginning of the record to the end of what was read.
 * @param line physical line on which the record begins.
 */
function holdOpenRecord(
  bytes: Buffer,
  { line, quote, maxRecordBytes }: { line: number; quote: '"' | null; maxRecordBytes: number },
): FileHeld {
  const opening = quote === null ? -1 : findOpenQuote(bytes);
  if (opening === -1) {
    return new FileHeld({
      code: 'record_too_long',
      message: `The record on line ${line} is longer than ${maxRecordBytes} bytes.`,
      help: "Check the file there. If such a record is correct, raise the source's limits.max_record_bytes.",
    });
  }
  const quoteLine = line + new LineBreakCounter(bytes).count(0, opening);
  return new FileHeld({
    code: 'unclosed_quote',
    message: `The quote that opens on line ${quoteLine} is never closed, so the rows after it cannot be read.`,
    help: 'The file was cut off, or the cell contains a single " that must be doubled. Correct it, or export the file again.',
  });
}

/** Finds the quote that opens the cell in which the bytes end; -1 if they end outside quotes. */
function findOpenQuote(bytes: Buffer): number {
  let opening = -1;
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    if (opening === -1) opening = at;
    else if (bytes[at + 1] === QUOTE) at += 1;
    else opening = -1;
  }
  return opening;
}

/**
 * A parser of csv-parse that hands over its records piece by piece, through its `on_record`. Reading them one
 * by one from its stream costs more than a tenth of the parsing time.
 *
 * For each row whose width differs from the first, csv-parse creates and discards an error with a copy of the
 * row: 36 µs a row. Only files with a delimiter that has no scanner pay for that, since the scanner resumes
 * after each piece.
 */
class CollectingParser {
  readonly records: (readonly string[])[] = [];
  /** For each record, the number of bytes from the parser's start to its end, including its line break. */
  readonly ends: number[] = [];
  readonly #parser: Parser;

  constructor(delimiter: string, quote: '"' | null) {
    this.#parser = parse({
      delimiter,
      quote,
      escape: quote,
      // Listed explicitly, so that they may be mixed. By default, csv-parse uses the first one it finds for
      // the whole text.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: readonly string[], { bytes }) => {
        this.records.push(record);
        this.ends.push(bytes);
        return null; // The stream keeps nothing.
      },
    });
    // The callbacks below report errors. Without a listener, an error would also end the process.
    this.#parser.on('error', () => {});
  }

  /**
   * Parses more bytes. @returns the error of the record after the last one collected, or null if all bytes
   * were consumed.
   */
  feed(bytes: Uint8Array): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.#parser.write(bytes, (error) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }

  /** Ends the text. @returns like `feed`. */
  finish(): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.#parser.end((error?: Error | null) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }
}
