import { isObject } from '../core/json/exact-json.ts';
import { parseStorable } from '../core/json/storable-json.ts';
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
  /** The whole answer, redacted. */
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * Digest of `body`. If it equals the digest of the published answer, nothing has changed and the answer
   * need not be read.
   */
  readonly answerHash: string;
};

/** A deal as returned by `get_deal_details`. */
export type DealAnswer = {
  readonly deal: ReadRecord;
  /** Null if the answer contains no list of collaborations. Then nothing is known about them. */
  readonly collaborations: readonly ReadRecord[] | null;
  /** Collaborations that are not valid records. */
  readonly unreadable: readonly NotARecord[];
  readonly answerHash: string;
};

/**
 * Why an answer contains no usable deal. If the answer is about another deal than the requested one,
 * `otherDealId` names that deal, which is then known too.
 */
export type NoDealAnswer = NotARecord & { readonly otherDealId?: string };

/** If an answer without `deal_info` has one of these fields, it is a deal and not a message. */
const MARKS = ['influencer_handle', 'brand_id', 'is_active'];

/** Parses an answer and redacts personal data. */
export function openDealAnswer(text: string): OpenedAnswer | NotARecord {
  const parsed = parseStorable(text);
  if (parsed === null) return { reason: 'the answer is not JSON', raw: { characters: text.length } };
  const body = redact(parsed.value, dealShape.isAboutPerson);
  if (!isObject(body)) return { reason: `the answer is ${describeType(body)}, not an object`, raw: body };
  return { body, answerHash: digest(JSON.stringify(body)) };
}

/**
 * Reads an answer of `get_deal_details`. The record is either in `deal_info` or the body itself.
 *
 * @param askedId the id of the requested deal. Null if it was requested by handle.
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

/**
 * A collaboration belongs to the deal whose answer contains it. A change of the deal is a change of the
 * collaboration, so the deal is part of the digest.
 */
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

/** Finds a list of collaborations next to `deal_info` instead of in it. */
function findListIn(body: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const name = findCollaborations(body);
  return name === undefined ? null : (body[name] as readonly unknown[]);
}

function without(record: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const { [name]: _left, ...others } = record;
  return others;
}
