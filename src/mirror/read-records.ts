import { isObject } from '../core/json/exact-json.ts';
import { parseStorable } from '../core/json/storable-json.ts';
import { plural } from '../core/text/plural.ts';
import { describeType, isRecord, type NotARecord, type ReadRecord, readRecord } from './read-record.ts';
import type { RecordShape } from './record-shapes.ts';
import { redact } from './redact.ts';

/** The result of reading an answer with a list. */
export type Listing = {
  readonly records: readonly ReadRecord[];
  /** Items, or the whole answer, that are not valid records. */
  readonly unreadable: readonly NotARecord[];
  /** Why the list may be incomplete, so that missing records may still exist. Null if it is complete. */
  readonly problem: string | null;
};

/**
 * Reads a list of records.
 *
 * @param list the list of one answer, or of all pages together.
 */
export function readRecords(shape: RecordShape, list: FoundList): Listing {
  if (list.items === null) {
    return { records: [], unreadable: [{ reason: list.problem, raw: list.raw }], problem: list.problem };
  }
  const records = new Map<string, ReadRecord>();
  const unreadable: NotARecord[] = [];
  const contradicted = new Set<string>();
  for (const item of list.items) {
    const raw = redact(item, shape.isAboutPerson);
    const read = readRecord(shape, raw);
    if (!isRecord(read)) unreadable.push(read);
    else if ((records.get(read.id) ?? read).rowHash === read.rowHash) records.set(read.id, read);
    else {
      contradicted.add(read.id);
      unreadable.push({ reason: 'it is listed twice, with different values', raw });
    }
  }
  for (const id of contradicted) records.delete(id);
  const problem =
    list.problem ??
    (unreadable.length > 0
      ? `${unreadable.length} of ${plural(list.items.length, 'item')} could not be read`
      : null);
  return { records: [...records.values()], unreadable, problem };
}

export type FoundList =
  | { readonly items: readonly unknown[]; readonly problem: string | null }
  | { readonly items: null; readonly problem: string; readonly raw: unknown };

/** A list without any brand or dealflow may be the result of a fault. */
const EMPTY = 'the list is empty';

/**
 * Reads the items of a list as values that can be stored, or says why an answer has none.
 *
 * @param items what the client found in the answer, and in its further pages. Omitted: nothing.
 */
export function findList(text: string, items?: readonly unknown[]): FoundList {
  const parsed = parseStorable(items === undefined ? text : JSON.stringify(items));
  // The text is not stored, because it may come from a proxy.
  if (parsed === null)
    return { items: null, problem: 'the answer is not JSON', raw: { characters: text.length } };
  const { value } = parsed;
  if (Array.isArray(value)) return { items: value, problem: value.length === 0 ? EMPTY : null };
  const problem = isObject(value)
    ? 'the answer contains no list'
    : `the answer is ${describeType(value)}, not a list`;
  return { items: null, problem, raw: redact(value, true) };
}
