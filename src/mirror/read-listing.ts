import { isObject } from '../core/text/exact-json.ts';
import { parseStorable } from '../core/text/storable-json.ts';
import { specifiedService } from '../service/description/schema.ts';
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
 * Keys under which lists have been observed, the most reliable first. If no key exists, any single list is accepted. The client has already read what the
 * description of a service says differently.
 */
const { keys: LIST_KEYS } = specifiedService.lists;

/**
 * Reads a list of records.
 *
 * @param list the list of one answer, or of all pages together.
 */
export function readListing(shape: RecordShape, list: FoundList): Listing {
  if (list.items === null) {
    return { records: [], unreadable: [{ reason: list.problem, raw: list.raw }], problem: list.problem };
  }
  const records = new Map<string, ReadRecord>();
  const unreadable: NotARecord[] = [];
  for (const item of list.items) {
    const read = readRecord(shape, redact(item, shape.isAboutPerson));
    if (isRecord(read)) records.set(read.id, read);
    else unreadable.push(read);
  }
  const problem =
    list.problem ??
    (unreadable.length > 0 ? `${unreadable.length} of ${list.items.length} items could not be read` : null);
  return { records: [...records.values()], unreadable, problem };
}

export type FoundList =
  | { readonly items: readonly unknown[]; readonly problem: string | null; readonly answer?: unknown }
  | { readonly items: null; readonly problem: string; readonly raw: unknown };

/**
 * Finds the list of an answer, whatever its key: a bare array, or an array under a key of the top level or one level
 * below. `findMore` determines whether it goes on.
 */
export function findList(text: string): FoundList {
  const parsed = parseStorable(text);
  // The text is not stored, because it may come from a proxy.
  if (parsed === null)
    return { items: null, problem: 'the answer is not JSON', raw: { characters: text.length } };
  const { value } = parsed;
  if (Array.isArray(value)) return toFound(value, value);
  const raw = redact(value, true);
  if (!isObject(value))
    return { items: null, problem: `the answer is ${describeType(value)}, not a list`, raw };
  const found = listIn(value) ?? listInOnly(value);
  if (found === null) return { items: null, problem: 'the answer contains no list', raw };
  return toFound(found, value);
}

function toFound(items: readonly unknown[], answer: unknown): FoundList {
  return { items, problem: items.length === 0 ? EMPTY : null, answer };
}

/** A list without any brand or dealflow may be the result of a fault. */
const EMPTY = 'the list is empty';

function listIn(record: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const named = LIST_KEYS.map((key) => record[key]).find(Array.isArray);
  if (named !== undefined) return named;
  const lists = Object.values(record).filter(Array.isArray);
  return lists.length === 1 ? (lists[0] ?? null) : null;
}

/** Finds the list in an answer such as `{data: {brands: […]}}`. */
function listInOnly(record: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const inner = Object.values(record).filter(isObject);
  return inner.length === 1 && inner[0] !== undefined ? listIn(inner[0]) : null;
}
