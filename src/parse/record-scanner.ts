/*
 * Nearly every record of nearly every export is plain: cells without quotes, or in quotes as RFC 4180 has them, and a line break at the
 * end. csv-parse copies each byte of it into a buffer and makes a text of each buffer; this file reads it in a small part of the time:
 *
 * - One loop looks at each byte once. A byte of text costs one look into a table; all it leaves behind is whether it is ASCII.
 * - The bytes are decoded once, as Latin-1, which is no more than a copy. A short cell of ASCII is cut out of that text, without a call out of
 *   JavaScript. Other cells are decoded one by one, as UTF-8: V8 would make a long one a view that keeps the whole text in memory.
 * - Most cells are blank. A record begins as a copy of a row of blank cells, so that they cost nothing more.
 *
 * Everything else is left to csv-parse, from the beginning of the record on: a quote within a bare cell, anything but a delimiter or a line
 * break behind a closing quote, a last line that no line break ends, and a record that is too long to begin anew with each piece. So
 * csv-parse alone decides what is wrong with a record. `RecordReader` goes on with the scanner behind it.
 *
 * test/parse/record-scanner.test.ts holds the scanner against csv-parse with random texts and every fixture.
 */

const LF = 10;
const CR = 13;
const QUOTE = 0x22;
/** V8 copies up to so many characters of a text; more would be a view of it. */
const MAX_COPIED_CHARS = 12;
/** A record that is not whole is read anew with the next piece: from this length on, csv-parse reads it, which remembers where it was. */
const MAX_OPEN_BYTES = 256 * 1024;

/** Reads plain records of a text, one at a time. */
export class RecordScanner {
  readonly #delimiter: number;
  /** Whether a byte ends or forbids a bare cell: delimiter, line break, quote. */
  readonly #isSpecial: Uint8Array;
  readonly #hasQuotes: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  /** The same as Latin-1. */
  #text = '';
  /** As many blank cells as the record before had. */
  #blank: readonly string[] = [];
  /** Of the record that was read: its cells, the offset behind its line break, and the line breaks in it, that one included. */
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

  /** @returns null where only csv-parse will do: a `sep=` line may name any character. */
  static create(delimiter: string, quote: '"' | null): RecordScanner | null {
    const byte = delimiter.charCodeAt(0);
    const isUsual = delimiter.length === 1 && byte < 0x80 && ![LF, CR, QUOTE].includes(byte);
    return isUsual ? new RecordScanner(byte, quote !== null) : null;
  }

  /** Gives it the bytes to read records of. */
  open(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
  }

  /**
   * Reads the record that begins at an offset, where no line break stands.
   *
   * @returns `open`: it does not end here, as far as can be told; `odd`: csv-parse must read it.
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
      // A CR at the very end may be half of a CRLF.
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
