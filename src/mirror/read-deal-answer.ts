import { isObject } from '../model/text/exact-json.ts';
import { parseStorable } from '../model/text/storable-json.ts';
import {
  describeType,
  digest,
  firstOf,
  isRecord,
  type NotARecord,
  type ReadRecord,
  readId,
  readRecord,
} from './read-record.ts';
import { collaborationShape, dealShape } from './record-shapes.ts';
import { redact } from './redact.ts';

/** An answer of `get_deal_details` whose records are not read yet. */
export type OpenedAnswer = {
  /** All of it, redacted. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Digest of it: an equal one says that nothing has changed, and there is no need to read it. */
  readonly answerHash: string;
};

/** A deal as `get_deal_details` answers it. */
export type DealAnswer = {
  readonly deal: ReadRecord;
  /** Null when the answer has no list of them, which says nothing about them. */
  readonly collaborations: readonly ReadRecord[] | null;
  /** Collaborations that could not be taken for records. */
  readonly unreadable: readonly NotARecord[];
  readonly answerHash: string;
};

/** Why an answer is no deal; where it is about another one than was asked for, which: that deal is then known, too. */
export type NoDealAnswer = NotARecord & { readonly otherDealId?: string };

/** One of these makes an answer without `deal_info` a deal, and not some message. */
const MARKS = ['influencer_handle', 'brand_id', 'is_active'];

/** Parses an answer and takes out who a person is. */
export function openDealAnswer(text: string): OpenedAnswer | NotARecord {
  const parsed = parseStorable(text);
  if (parsed === null) return { reason: 'the answer is not JSON', raw: { characters: text.length } };
  const body = redact(parsed.value, dealShape.isAboutPerson);
  if (!isObject(body)) return { reason: `the answer is ${describeType(body)}, not an object`, raw: body };
  return { body, answerHash: digest(JSON.stringify(body)) };
}

/**
 * Reads an answer of `get_deal_details`: `deal_info` holds the record, or the body itself is the record.
 *
 * @param askedId the deal that was asked for; null when it was asked by handle.
 */
export function readDealAnswer(
  { body, answerHash }: OpenedAnswer,
  askedId: string | null,
): DealAnswer | NoDealAnswer {
  const record = Object.hasOwn(body, 'deal_info') ? body.deal_info : body;
  if (!isObject(record)) return { reason: `deal_info is ${describeType(record)}, not an object`, raw: body };
  if (readId(firstOf(record, dealShape.idFrom)) === null && firstOf(record, MARKS) === undefined)
    return { reason: 'the answer contains no deal', raw: body };

  const listName = findCollaborations(record) ?? null;
  const list = listName === null ? findListIn(body) : (record[listName] as readonly unknown[]);
  const own = listName === null ? record : without(record, listName);
  const deal = readRecord(dealShape, own, askedId);
  if (!isRecord(deal)) return deal;
  if (askedId !== null && deal.id !== askedId) {
    const reason = 'the answer is about another deal than the requested one';
    return { reason, raw: body, otherDealId: deal.id };
  }
  const read = list?.map((item) => readCollaboration(item, deal.id)) ?? null;
  return {
    deal,
    collaborations: read?.filter(isRecord) ?? null,
    unreadable: read?.filter((item): item is NotARecord => !isRecord(item)) ?? [],
    answerHash,
  };
}

/** A collaboration belongs to the deal whose answer it stands in, so the deal is part of what may change. */
function readCollaboration(item: unknown, dealId: string): ReadRecord | NotARecord {
  const read = readRecord(collaborationShape, item);
  if (!isRecord(read)) return read;
  return {
    ...read,
    fields: { ...read.fields, deal_id: dealId },
    rowHash: digest(`${dealId} ${read.rowHash}`),
  };
}

function findCollaborations(record: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(record).find((name) => /^collab/i.test(name) && Array.isArray(record[name]));
}

/** Beside `deal_info` instead of in it. */
function findListIn(body: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const name = findCollaborations(body);
  return name === undefined ? null : (body[name] as readonly unknown[]);
}

function without(record: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const { [name]: _left, ...others } = record;
  return others;
}
