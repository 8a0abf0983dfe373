import { isObject } from '../model/text/exact-json.ts';
import { findList } from './read-listing.ts';
import { digest, firstOf, type NotARecord, readId } from './read-record.ts';

/** What an answer of `autocomplete` names. Its shape is not shown: records with ids, or bare handles. */
export type Suggestions = {
  readonly deals: readonly { readonly dealId: string; readonly handle: string | null }[];
  /** Of items that name no deal. */
  readonly handles: readonly string[];
  /** How many items: tells whether the answer is cut off. */
  readonly size: number;
  /** Digest of what it names, in any order. */
  readonly answerHash: string;
};

export function readSuggestions(text: string): Suggestions | NotARecord {
  const list = findList(text);
  if (list.items === null) return { reason: list.problem, raw: list.raw };
  const deals = new Map<string, string | null>();
  const handles = new Set<string>();
  for (const item of list.items) {
    const dealId = isObject(item) ? readId(firstOf(item, ['deal_id', 'id'])) : null;
    const handle = readId(isObject(item) ? firstOf(item, HANDLES) : item);
    if (dealId !== null) deals.set(dealId, handle);
    else if (handle !== null) handles.add(handle);
  }
  const named = [
    ...[...deals.keys()].map((id) => `deal ${id}`),
    ...[...handles].map((name) => `handle ${name}`),
  ];
  return {
    deals: [...deals].map(([dealId, handle]) => ({ dealId, handle })),
    handles: [...handles],
    size: list.items.length,
    answerHash: digest(named.sort().join('\n')),
  };
}

const HANDLES = ['influencer_handle', 'handle', 'username', 'value', 'label'];

/** Handles are the same with and without `@`, in any case. */
export function foldHandle(handle: string): string {
  return handle.trim().replace(/^@/, '').toLowerCase();
}
