import { hash } from 'node:crypto';
import { isObject, numberText } from '../model/text/exact-json.ts';
import type { Column, ColumnType, RecordShape } from './record-shapes.ts';

/** Something in a record that is not as it should be; the record is stored all the same. */
export type Misfit = {
  readonly field: string;
  readonly kind: 'missing' | 'unreadable';
  readonly expected: string;
  readonly found: string;
};

/** A record as it is stored. */
export type ReadRecord = {
  readonly id: string;
  /** Columns as text, without those for which there is nothing to read. */
  readonly fields: Readonly<Record<string, string>>;
  /** All of it, redacted. */
  readonly raw: unknown;
  /** Digest of raw. */
  readonly rowHash: string;
  readonly misfits: readonly Misfit[];
};

export type NotARecord = { readonly reason: string; readonly raw: unknown };

/** Longer ones are no ids; they would not fit into an index either. */
const MAX_ID_LENGTH = 200;

/**
 * Reads one record of a listing or an answer.
 *
 * @param raw as `parseStorable` and then `redact` give it. What is redacted is in no column.
 * @param knownId the id that was asked for, for records that do not repeat it.
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
  return { id, fields, raw, rowHash: digest(JSON.stringify(raw)), misfits };
}

export function isRecord(read: ReadRecord | NotARecord): read is ReadRecord {
  return 'id' in read;
}

/** Ids are opaque text; a number is kept as its digits. Null: it is none. */
export function readId(value: unknown): string | null {
  const id = typeof value === 'string' ? value.trim() : numberText(value);
  return id === null || id === '' || id.length > MAX_ID_LENGTH ? null : id;
}

/** The first of the fields that the record has with something in it. */
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

/** Equal text, equal digest. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** `a list`, `text`, `nothing`: what a value is, for people, without the value. */
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

/** Digits enough for any count and amount; Postgres takes far more. */
const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?$/;
const INTEGER = /^[+-]?\d{1,9}$/;

/** A number may come as text and an id as a number: both are read, and a change from one to the other is noticed between versions. */
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
