import { CompiledQuery, type Kysely } from 'kysely';
import type { DB } from './tables.ts';

/** Rows for `copyInto`, as `TextRows` or `BinaryRows` writes them. */
export class CopyRows {
  readonly bytes: Buffer;

  /** Creates the parameter. @param bytes rows in the format that the statement names. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/**
 * Executes `copy … from stdin` with these rows. Only for a server (`canCopy`): the embedded database does not read
 * from its client.
 */
export async function copyInto(db: Kysely<DB>, statement: string, rows: CopyRows): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement, [rows]));
}

/** Begins the rows: the signature, no flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const UUID_BYTES = 16;
const MINUS = 0x2d;
const ZERO = 0x30;
/** `numeric_send`: digits to the base of 10,000, and the bits of a negative number. */
const DIGITS_PER_GROUP = 4;
const NEGATIVE = 0x4000;
/** Postgres counts microseconds since 2000-01-01. */
const POSTGRES_EPOCH_MS = BigInt(Date.UTC(2000, 0, 1));

/**
 * Writes rows for `copy … from stdin (format binary)`, value by value in the order of the columns. Postgres reads
 * them faster than text, and no text is made for a row. Each value is the length of its bytes, and the bytes as the
 * `send` function of its type makes them.
 */
export class BinaryRows {
  readonly #columns: number;
  #bytes: Buffer;
  #length = 0;

  /** Creates rows. @param options.roomBytes an estimate of their size. */
  constructor(options: { readonly columns: number; readonly roomBytes: number }) {
    this.#columns = options.columns;
    this.#bytes = Buffer.allocUnsafe(HEADER.length + options.roomBytes);
    this.values(HEADER);
  }

  begin(): void {
    this.#writeInt16(this.#columns);
  }

  /** Encodes values that many rows have in common, for `values`. */
  static valuesOf(write: (values: BinaryRows) => void): Buffer {
    const values = new BinaryRows({ columns: 0, roomBytes: 1024 });
    write(values);
    return values.#bytes.subarray(HEADER.length, values.#length);
  }

  /** The rows so far, as a parameter. */
  toCopyRows(): CopyRows {
    this.#writeInt16(-1);
    return new CopyRows(this.#bytes.subarray(0, this.#length));
  }

  /** Writes bytes that were encoded before, such as `valuesOf` returns. */
  values(encoded: Buffer): void {
    const at = this.#take(encoded.length);
    encoded.copy(this.#bytes, at);
  }

  /** Writes an `uuid`. @param from where its bytes begin. */
  uuid(bytes: Buffer, from: number): void {
    this.#writeInt32(UUID_BYTES);
    const at = this.#take(UUID_BYTES);
    // A call out of JavaScript would take longer.
    for (let index = 0; index < UUID_BYTES; index += 1) this.#bytes[at + index] = bytes[from + index] ?? 0;
  }

  integer(value: number | null): void {
    if (value === null) {
      this.#writeNull();
      return;
    }
    this.#writeInt32(4);
    this.#writeInt32(value);
  }

  smallint(value: number): void {
    this.#writeInt32(2);
    this.#writeInt16(value);
  }

  bigint(value: string | null): void {
    if (value === null) {
      this.#writeNull();
      return;
    }
    this.#writeInt32(8);
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(BigInt(value), at);
  }

  /** Writes a `timestamptz`. @param ms milliseconds since 1970. */
  timestamptz(ms: number | null): void {
    this.bigint(ms === null ? null : String((BigInt(ms) - POSTGRES_EPOCH_MS) * 1000n));
  }

  boolean(value: boolean | null): void {
    if (value === null) {
      this.#writeNull();
      return;
    }
    this.#writeInt32(1);
    const at = this.#take(1);
    this.#bytes[at] = value ? 1 : 0;
  }

  /** Writes a `text`. @param value without NUL and lone surrogates, which Postgres refuses. */
  text(value: string | null): void {
    if (value === null) {
      this.#writeNull();
      return;
    }
    const bytes = Buffer.byteLength(value);
    this.#writeInt32(bytes);
    const at = this.#take(bytes);
    this.#bytes.write(value, at);
  }

  /** Writes a `numeric`. @param value an optional minus, digits and an optional fraction. */
  numeric(value: string | null): void {
    if (value === null) {
      this.#writeNull();
      return;
    }
    const begin = value.charCodeAt(0) === MINUS ? 1 : 0;
    const point = value.indexOf('.');
    const end = point === -1 ? value.length : point;
    const scale = point === -1 ? 0 : value.length - point - 1;
    const groups = Math.ceil((end - begin) / DIGITS_PER_GROUP);
    const fractionGroups = Math.ceil(scale / DIGITS_PER_GROUP);
    this.#writeInt32(8 + 2 * (groups + fractionGroups));
    this.#writeInt16(groups + fractionGroups);
    this.#writeInt16(groups - 1);
    this.#writeInt16(begin === 1 ? NEGATIVE : 0);
    this.#writeInt16(scale);
    const first = end - groups * DIGITS_PER_GROUP;
    let group = 0;
    for (let digit = 0; digit < (groups + fractionGroups) * DIGITS_PER_GROUP; ) {
      const place = first + digit;
      const at = place < end ? place : place + 1;
      // Places before the first digit and after the last one count as 0.
      group = 10 * group + (at < begin || at >= value.length ? 0 : value.charCodeAt(at) - ZERO);
      digit += 1;
      if (digit % DIGITS_PER_GROUP > 0) continue;
      this.#writeInt16(group);
      group = 0;
    }
  }

  #writeNull(): void {
    this.#writeInt32(-1);
  }

  #writeInt16(value: number): void {
    const at = this.#take(2);
    this.#bytes[at] = value >> 8;
    this.#bytes[at + 1] = value;
  }

  #writeInt32(value: number): void {
    const at = this.#take(4);
    this.#bytes[at] = value >> 24;
    this.#bytes[at + 1] = value >> 16;
    this.#bytes[at + 2] = value >> 8;
    this.#bytes[at + 3] = value;
  }

  /** Takes room for more bytes, for which `#bytes` may be replaced. @returns where they begin. */
  #take(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], Math.max(2 * this.#bytes.length, this.#length));
    return at;
  }
}

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
