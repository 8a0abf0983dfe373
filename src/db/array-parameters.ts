import { type RawBuilder, sql } from 'kysely';

/** OIDs of the types `uuid` and `jsonb`, from pg_type.dat. */
const UUID = 2950;
const JSONB = 3802;
/** `jsonb_send` begins each value with the version of the format, and continues with its text. */
const JSONB_VERSION = 1;
const UUID_BYTES = 16;
const HEADER_BYTES = 20;
const ELEMENT_BYTES = 4 + UUID_BYTES;

/**
 * Encodes a `uuid[]` as one parameter in the binary format of Postgres (`array_send`: dimensions, flags,
 * type, length, lower bound; then each element with its length). Postgres reads it several times faster than
 * text.
 *
 * @param uuids each of 32 hexadecimal digits, without hyphens.
 */
export function toUuidArrayParameter(uuids: readonly string[]): Buffer {
  if (uuids.length === 0) return Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UUID >> 8, UUID & 0xff]);
  const array = Buffer.alloc(HEADER_BYTES + uuids.length * ELEMENT_BYTES);
  for (const [place, value] of [1, 0, UUID, uuids.length, 1].entries()) array.writeInt32BE(value, 4 * place);
  let at = HEADER_BYTES;
  for (const uuid of uuids) {
    array.writeInt32BE(UUID_BYTES, at);
    array.write(uuid, at + 4, UUID_BYTES, 'hex');
    at += ELEMENT_BYTES;
  }
  return array;
}

/**
 * Encodes an array as one parameter. The values must need no quotes: digits, hexadecimal digits, letters.
 * Returns null if all values are null, so that an empty column is not sent.
 */
export function toArrayParameter(values: readonly (string | number | boolean | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  return `{${values.map((value) => value ?? 'null').join()}}`;
}

/**
 * Encodes JSON texts as a `jsonb[]` in the binary format of Postgres, like `toUuidArrayParameter`. As an array in
 * text, each quote of each text would need a backslash. Returns null if all values are null, so that an empty
 * column is not sent.
 *
 * @param texts without NUL, as `parseStorable` or `toJsonParameter` makes them.
 */
export function toJsonArrayParameter(texts: readonly (string | null)[]): Buffer | null {
  const present = texts.filter((text) => text !== null);
  if (present.length === 0) return null;
  const bytes = present.reduce((sum, text) => sum + 1 + Buffer.byteLength(text), 0);
  const array = Buffer.allocUnsafe(HEADER_BYTES + 4 * texts.length + bytes);
  const hasNulls = present.length < texts.length ? 1 : 0;
  for (const [place, value] of [1, hasNulls, JSONB, texts.length, 1].entries())
    array.writeInt32BE(value, 4 * place);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const written = text === null ? -1 : 1 + array.write(text, at + 5);
    if (written > 0) array[at + 4] = JSONB_VERSION;
    array.writeInt32BE(written, at);
    at += 4 + Math.max(0, written);
  }
  return array;
}

/** Characters that an element cannot contain as they are. */
const SPECIAL = /["\\\0]/;

/**
 * Encodes any texts as an array in one parameter. Postgres refuses NUL and lone surrogates in text, so a NUL is
 * dropped, and a lone surrogate becomes U+FFFD. Returns null if all values are null, so that an empty column is
 * not sent.
 */
export function toTextArrayParameter(values: readonly (string | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  const array = values.every(isPlain)
    ? `{"${values.join('","')}"}`
    : `{${values.map((value) => (value === null ? 'null' : quote(value))).join()}}`;
  return array.toWellFormed();
}

/** True if only quotes have to be added to an element. Joining such texts makes no text for each of them. */
function isPlain(value: string | null): boolean {
  return value !== null && !SPECIAL.test(value);
}

/** Quotes one element. Searching first is much cheaper than replacing in every text. */
function quote(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('\0', '').replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

/** SQL: any of these values, of which there may be none. `in` of the builder refuses an empty list. */
export function anyOf<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`;
}
