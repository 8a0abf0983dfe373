/*
 * A fast scanner for plain records. Nearly every record of nearly every export is plain: its cells have no quotes, or
 * quotes as in RFC 4180, and it ends with a line break. csv-parse copies each byte of it into a buffer and converts each
 * buffer to text. This scanner is much faster:
 *
 * - One loop reads each byte once. For a byte of text it does one table look-up, and remembers only whether all bytes
 *   are ASCII.
 * - The bytes are decoded once, as Latin-1, which is only a copy. A short ASCII cell is sliced from that text, without a
 *   call out of JavaScript. Other cells are decoded separately as UTF-8, because V8 would turn a long slice into a view
 *   that keeps the whole text in memory.
 * - Most cells are blank. A record starts as a copy of a row of blank cells, so blank cells cost nothing more.
 *
 * csv-parse reads every other record from its beginning: one with a quote within a bare cell, with something other than
 * a delimiter or a line break after a closing quote, without a line break at its end, or too long to be scanned again
 * with each piece. So only csv-parse decides what is wrong with a record. `RecordReader` then resumes with the scanner.
 *
 * test/intake/csv/record-scanner.long.test.ts compares the scanner with csv-parse on random texts and every fixture.
 */

const LF = 10;
const CR = 13;
const QUOTE = 0x22;
/** V8 copies a substring up to this length. A longer one would keep the whole text in memory. */
const MAX_COPIED_CHARS = 12;
/**
 * An incomplete record is scanned again with the next piece. From this length on, csv-parse reads it, because
 * it remembers its position.
 */
const MAX_OPEN_BYTES = 256 * 1024;

/** Reads plain records of a text, one at a time. */
export class RecordScanner {
  readonly #delimiter: number;
  /** 1 for each byte that ends a bare cell or is not allowed in it: delimiter, line break, quote. */
  readonly #isSpecial: Uint8Array;
  readonly #hasQuotes: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  /** The bytes decoded as Latin-1. */
  #text = '';
  /** A row of blank cells with the length of the previous record. */
  #blank: readonly string[] = [];
  /**
   * The last record: its cells, the offset after its line break, and the number of line breaks in it,
   * including that one.
   */
  cells: string[] = [];
  end = 0;
  lineBreaks = 0;

  private constructor(delimiter: number, hasQuotes: boolean) {
    this.#delimiter = delimiter;
    this.#hasQuotes = hasQuotes;
    this.#isSpecial = new Uint8Array(256);
    for (const byte of [delimiter, LF, CR]) this.#isSpecial[byte] = 1;
    if (hasQuotes) this.#isSpecial[QUOTE] = 1;
  }

  /**
   * Creates a scanner. @returns null if only csv-parse can read the text: a `sep=` line may name any
   * character.
   */
  static create(delimiter: string, quote: '"' | null): RecordScanner | null {
    const byte = delimiter.charCodeAt(0);
    const isUsual = delimiter.length === 1 && byte < 0x80 && ![LF, CR, QUOTE].includes(byte);
    return isUsual ? new RecordScanner(byte, quote !== null) : null;
  }

  open(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
  }

  /**
   * Reads the record at an offset. There must be no line break at that offset.
   *
   * @returns `open` if the record is incomplete; `odd` if csv-parse must read it.
   */
  read(offset: number): 'record' | 'open' | 'odd' {
    const bytes = this.#bytes;
    const { length } = bytes;
    const isSpecial = this.#isSpecial;
    const cells = this.#blank.slice();
    let at = offset;
    let count = 0;
    let lineBreaks = 1;
    for (;;) {
      if (at === length) return this.#stopOpen(offset);
      let byte = bytes[at] ?? 0;
      const isQuoted = byte === QUOTE && this.#hasQuotes;
      const start = isQuoted ? at + 1 : at;
      let end = start;
      let bits = 0;
      let isDoubled = false;
      if (isQuoted) {
        for (at = start; ; at += 1) {
          if (at === length) return this.#stopOpen(offset);
          byte = bytes[at] ?? 0;
          bits |= byte;
          if (byte === QUOTE) {
            end = at;
            at += 1;
            if (at === length) return this.#stopOpen(offset);
            byte = bytes[at] ?? 0;
            if (byte !== QUOTE) break;
            isDoubled = true;
          } else if (byte === CR || (byte === LF && bytes[at - 1] !== CR)) lineBreaks += 1;
        }
        if (isSpecial[byte] === 0) return 'odd';
      } else {
        while (isSpecial[byte] === 0) {
          bits |= byte;
          at += 1;
          if (at === length) return this.#stopOpen(offset);
          byte = bytes[at] ?? 0;
        }
        if (byte === QUOTE && this.#hasQuotes) return 'odd';
        end = at;
      }
      if (end > start) {
        const isCopied = bits < 0x80 && end - start <= MAX_COPIED_CHARS;
        const cell = isCopied ? this.#text.slice(start, end) : bytes.toString('utf8', start, end);
        cells[count] = isDoubled ? cell.replaceAll('""', '"') : cell;
      } else if (count >= cells.length) cells[count] = '';
      count += 1;
      at += 1;
      if (byte === this.#delimiter) continue;
      // A CR at the very end may be the first half of a CRLF.
      if (byte === CR && at === length) return this.#stopOpen(offset);
      this.end = byte === CR && bytes[at] === LF ? at + 1 : at;
      break;
    }
    if (count !== this.#blank.length) this.#blank = Array.from({ length: count }, () => '');
    if (count < cells.length) cells.length = count;
    this.cells = cells;
    this.lineBreaks = lineBreaks;
    return 'record';
  }

  #stopOpen(offset: number): 'open' | 'odd' {
    return this.#bytes.length - offset > MAX_OPEN_BYTES ? 'odd' : 'open';
  }
}
