import { hash } from 'node:crypto';
import { isObject, numberText } from '../core/json/exact-json.ts';
import type { Column, ColumnType, RecordShape } from './record-shapes.ts';

/** A field of a record that is not as expected. The record is stored anyway. */
export type Misfit = {
  readonly field: string;
  readonly kind: 'missing' | 'unreadable';
  readonly expected: string;
  readonly found: string;
};

/** A record in the form in which it is stored. */
export type ReadRecord = {
  readonly id: string;
  /** Columns as text. Columns without a value are omitted. */
  readonly fields: Readonly<Record<string, string>>;
  /** The whole record, redacted, as JSON text. */
  readonly raw: string;
  /** Digest of `raw`. */
  readonly rowHash: string;
  readonly misfits: readonly Misfit[];
};

export type NotARecord = { readonly reason: string; readonly raw: unknown };

/** Longer values are not ids, and would not fit into an index. */
const MAX_ID_LENGTH = 200;

/**
 * Reads one record of a listing or an answer.
 *
 * @param raw the output of `parseStorable` and then `redact`. Redacted fields are never read into columns.
 * @param knownId the id that was requested, for records that do not contain it.
 */
export function readRecord(
  shape: RecordShape,
  raw: unknown,
  knownId: string | null = null,
): ReadRecord | NotARecord {
  if (!isObject(raw)) return { reason: `it is ${describeType(raw)}, not an object`, raw };
  const ids = shape.idFrom.map((name) => readId(ownValue(raw, name)));
  const id =
    knownId !== null && ids.includes(knownId) ? knownId : (ids.find((own) => own !== null) ?? knownId);
  if (id === null) return { reason: `it has no ${shape.idFrom[0]}`, raw };
  const misfits: Misfit[] = [];
  const fields: Record<string, string> = {};
  for (const column of shape.columns) {
    const read = readColumn(column, raw, misfits);
    if (read !== null) fields[column.name] = read;
  }
  const text = JSON.stringify(raw);
  return { id, fields, raw: text, rowHash: digest(text), misfits };
}

export function isRecord(read: ReadRecord | NotARecord): read is ReadRecord {
  return 'id' in read;
}

/** Ids are opaque text. A number is stored as its digits. Null if the value is not an id. */
export function readId(value: unknown): string | null {
  const id = typeof value === 'string' ? value.trim() : numberText(value);
  return id === null || id === '' || id.length > MAX_ID_LENGTH ? null : id;
}

/** Returns the first of the fields that is present and not null. */
export function firstOf(record: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  for (const name of names) {
    const value = ownValue(record, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Equal texts have equal digests. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Describes the type of a value for people, without the value: `a list`, `text`, `nothing`. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'true or false' : 'a number';
}

function readColumn(
  column: Column,
  record: Readonly<Record<string, unknown>>,
  misfits: Misfit[],
): string | null {
  const value = firstOf(record, column.from);
  const field = column.from[0] ?? column.name;
  const expected = EXPECTED[column.type];
  if (value === undefined) {
    if (column.isPromised && !Object.hasOwn(record, field))
      misfits.push({ field, kind: 'missing', expected, found: 'nothing' });
    return null;
  }
  const read = readers[column.type](value);
  if (read === null) misfits.push({ field, kind: 'unreadable', expected, found: describeType(value) });
  return read;
}

const EXPECTED: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  id: 'an id',
  boolean: 'true or false',
  integer: 'a whole number',
  numeric: 'a number',
};

/** Allows enough digits for any count or amount. Postgres accepts far more. */
const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?$/;
const INTEGER = /^[+-]?\d{1,9}$/;

/**
 * A number may be sent as text and an id as a number. Both are accepted, and a change from one to the other
 * is reported as drift between versions.
 */
const readers: Readonly<Record<ColumnType, (value: unknown) => string | null>> = {
  text: (value) => (typeof value === 'string' ? value : numberText(value)),
  id: readId,
  boolean: (value) => (typeof value === 'boolean' ? String(value) : null),
  integer: (value) => matching(INTEGER, value),
  numeric: (value) => matching(NUMBER, value),
};

function matching(pattern: RegExp, value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : numberText(value);
  return text !== null && pattern.test(text) ? text : null;
}
