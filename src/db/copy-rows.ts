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

/**
 * Rows for `copy … from stdin`, in the text format. The statement has them as its only parameter, within a comment,
 * because COPY has no parameters. Only for a server (`canCopy`): the embedded database does not read from its client.
 */
export class CopyRows {
  #buffer: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  /**
   * Adds a row.
   *
   * @param cells texts of `toCopyCell`. A lone surrogate in them becomes U+FFFD, because Postgres refuses it.
   */
  add(cells: readonly string[]): void {
    const row = cells.join('\t');
    this.#reserve(row.length * MAX_UNIT_BYTES + 1);
    this.#length += this.#buffer.write(row, this.#length);
    this.#buffer[this.#length] = LINE_FEED;
    this.#length += 1;
  }

  /** The rows until now. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Decodes the rows. A cell that is null was null. */
  read(): (string | null)[][] {
    const rows = this.bytes().toString().split('\n');
    // The last row ends with a line feed too.
    rows.pop();
    return rows.map((row) => row.split('\t').map(readCopyCell));
  }

  #reserve(count: number): void {
    const least = this.#length + count;
    if (least <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(least, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Encodes one value. */
export function toCopyCell(value: string | number | null): string {
  if (value === null) return NULL;
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\t\n\r\0]/g, (one) => ESCAPES[one] ?? '') : value;
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\', t: '\t', n: '\n', r: '\r' };

function readCopyCell(cell: string): string | null {
  if (cell === NULL) return null;
  return cell.includes('\\') ? cell.replace(/\\(.)/g, (_, one: string) => ESCAPED[one] ?? one) : cell;
}
