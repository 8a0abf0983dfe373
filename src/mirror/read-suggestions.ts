import { isObject } from '../core/json/exact-json.ts';
import { digest, firstOf, type NotARecord, readId } from './read-record.ts';
import type { FoundList } from './read-records.ts';

/**
 * The deals and handles in an answer of `autocomplete`. Its shape is not documented: it may contain records
 * with ids, or bare handles.
 */
export type Suggestions = {
  readonly deals: readonly { readonly dealId: string; readonly handle: string | null }[];
  /** Handles of items that name no deal. */
  readonly handles: readonly string[];
  /** Number of items. Shows whether the answer is cut off. */
  readonly size: number;
  /** The answer says itself that it is cut off, and not how to ask for the rest. */
  readonly saysMore: boolean;
  /** Digest of the named deals and handles, independent of their order. */
  readonly answerHash: string;
};

export function readSuggestions(list: FoundList): Suggestions | NotARecord {
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
    saysMore: list.problem !== null && list.items.length > 0,
    answerHash: digest(named.sort().join('\n')),
  };
}

const HANDLES = ['influencer_handle', 'handle', 'username', 'value', 'label'];
