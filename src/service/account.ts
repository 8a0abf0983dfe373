import { ApiError } from './api-error.ts';
import { type CallInput, call, callWithList } from './call.ts';
import type { Client } from './client.ts';
import type { OperationName } from './contract.ts';

/** The account and the user to which an API key belongs. */
export type Account = { readonly accountId: string; readonly userId: string };

/** A brand or dealflow as the service lists it. An id is opaque text, even if the service sends a number. */
export type NamedRecord = {
  readonly id: string;
  readonly name: string | null;
  /** Everything the service sent, unknown fields included. */
  readonly raw: Readonly<Record<string, unknown>>;
};

export type DealRecord = {
  readonly id: string | null;
  readonly influencerHandle: string | null;
  readonly brandId: string | null;
  readonly isActive: boolean | null;
  readonly raw: Readonly<Record<string, unknown>>;
};

/** `You are logged in - <account_id> - <user_id>`. An id may contain a hyphen, but not one between spaces. */
const LOGGED_IN = /^You are logged in\s+-\s+(\S.*?)\s+-\s+(\S.*)$/i;
/** Longer than any message that contains two ids. */
const MAX_CHARS = 1_000;

/**
 * Asks the service to which account and user the key belongs (`GET /v1/account/hello`).
 *
 * @throws ApiError if the call fails, or if the answer names no account.
 */
export async function hello(client: Client): Promise<Account> {
  const { message } = await call(client, 'account_hello');
  const match = LOGGED_IN.exec(message.slice(0, MAX_CHARS).trim());
  const [, accountId, userId] = match ?? [];
  if (accountId !== undefined && userId !== undefined) return { accountId, userId };
  throw new ApiError({
    operation: 'account_hello',
    status: 200,
    text: 'the answer does not say to which account the key belongs',
    fate: 'not_processed',
    safe: 'Nothing was changed. Check the base address: it may not be the service.',
  });
}

/**
 * Lists all brands of the account.
 * @throws ApiError, also if the list is not whole.
 */
export async function searchBrands(client: Client): Promise<readonly NamedRecord[]> {
  return wholeList(client, 'search_brands');
}

/**
 * Lists all dealflows of the account.
 * @throws ApiError, also if the list is not whole.
 */
export async function searchDealflows(client: Client): Promise<readonly NamedRecord[]> {
  return wholeList(client, 'search_dealflows');
}

/**
 * Finds deals whose influencer's name or handle contains the text. Records are returned as received.
 * @throws ApiError
 */
export async function autocomplete(
  client: Client,
  text: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await listOf(client, 'autocomplete', { query: { q: text } })).records;
}

/**
 * Reads one deal with its collaborations, by its id (or page address) or by its influencer. Not every service
 * names collaborations.
 *
 * @throws ApiError with status 404 if there is no such deal.
 */
export async function getDealDetails(
  client: Client,
  which: { readonly dealId?: string; readonly influencerHandle?: string },
): Promise<DealRecord> {
  const answer = await call(client, 'get_deal_details', {
    query: {
      ...(which.dealId === undefined ? {} : { deal_id: which.dealId }),
      ...(which.influencerHandle === undefined ? {} : { influencer_handle: which.influencerHandle }),
      return_collabs: true,
    },
  });
  // `deal_info` may be missing; the body is then the record itself.
  const raw: Readonly<Record<string, unknown>> = answer.deal_info ?? answer;
  return {
    id: toId(raw.id) ?? toId(raw.deal_id),
    influencerHandle: typeof raw.influencer_handle === 'string' ? raw.influencer_handle : null,
    brandId: toId(raw.brand_id),
    isActive: typeof raw.is_active === 'boolean' ? raw.is_active : null,
    raw,
  };
}

/**
 * The records of the list that the client found, whose place the description of the service states (`service.lists`). An
 * answer without one is no empty list: nobody knows then what the account has.
 */
async function listOf<Name extends ListOperation>(client: Client, name: Name, input: CallInput<Name> = {}) {
  const { items, problem } = await callWithList(client, name, input);
  if (items !== null) return { records: readListing(items), problem };
  const expected = 'where the description of the service (`service.lists`) expects one';
  throw unusable(name, `the answer contains no list ${expected}`);
}

async function wholeList(client: Client, name: ListOperation): Promise<readonly NamedRecord[]> {
  const { records, problem } = await listOf(client, name);
  if (problem !== null) throw unusable(name, `the list is not complete: ${problem}`);
  return records.map(toNamedRecord);
}

/** The error of an answer to a question that cannot be used. */
function unusable(operation: OperationName, text: string): ApiError {
  return new ApiError({ operation, status: 200, text, fate: 'not_processed', safe: 'Nothing was changed.' });
}

type ListOperation = 'search_brands' | 'search_dealflows' | 'autocomplete';

/**
 * Reads a listing: a bare array, or an object with an array as one of its members. Skips items that are not
 * objects.
 */
export function readListing(answer: unknown): readonly Readonly<Record<string, unknown>>[] {
  const isObject = typeof answer === 'object' && answer !== null;
  const list = Array.isArray(answer)
    ? answer
    : isObject
      ? Object.values(answer).find(Array.isArray)
      : undefined;
  return (list ?? []).filter(
    (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item),
  ) as Readonly<Record<string, unknown>>[];
}

function toNamedRecord(raw: Readonly<Record<string, unknown>>): NamedRecord {
  return { id: toId(raw.id) ?? '', name: typeof raw.name === 'string' ? raw.name : null, raw };
}

function toId(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}
