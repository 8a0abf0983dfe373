import { CopyRows } from './copy-rows.ts';

/** Characters that the text format of COPY escapes. NUL is dropped, because Postgres refuses it in text. */
const SPECIAL = /[\\\t\n\r\0]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '',
};
const NULL = '\\N';

const LINE_FEED = 10;
const FIRST_BYTES = 64 * 1_024;
/** UTF-8 takes at most this many bytes for a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** Writes rows for `copy … from stdin` in the text format. */
export class TextRows {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  /**
   * Adds a row.
   *
   * @param cells texts of `toCopyCell`. A lone surrogate in them becomes U+FFFD, because Postgres refuses it.
   */
  add(cells: readonly string[]): void {
    const row = cells.join('\t');
    this.#reserve(row.length * MAX_UNIT_BYTES + 1);
    this.#length += this.#bytes.write(row, this.#length);
    this.#bytes[this.#length] = LINE_FEED;
    this.#length += 1;
  }

  /** The rows so far, as a parameter. */
  toCopyRows(): CopyRows {
    return new CopyRows(this.#bytes.subarray(0, this.#length));
  }

  #reserve(count: number): void {
    const least = this.#length + count;
    if (least > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], Math.max(2 * this.#bytes.length, least));
  }
}

/** Encodes one value. */
export function toCopyCell(value: string | number | null): string {
  if (value === null) return NULL;
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\t\n\r\0]/g, (one) => ESCAPES[one] ?? '') : value;
}
