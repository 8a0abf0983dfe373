import { ApiError } from './api-error.ts';
import { call } from './call.ts';
import type { Client } from './client.ts';

/** To whom a key belongs. */
export type Account = { readonly accountId: string; readonly userId: string };

/** A brand or dealflow as the account lists it. Ids are opaque text, whatever the service sends. */
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

/** "You are logged in - <account_id> - <user_id>"; an id may itself hold a hyphen, but no hyphen between blanks. */
const LOGGED_IN = /^You are logged in\s+-\s+(\S.*?)\s+-\s+(\S.*)$/i;
/** Two ids are shorter. */
const MAX_CHARS = 1_000;

/**
 * Asks to which account and user the key belongs (`GET /v1/account/hello`).
 *
 * @throws ApiError also where the answer names no account.
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

/** All brands of the account. @throws ApiError */
export async function searchBrands(client: Client): Promise<readonly NamedRecord[]> {
  return readListing(await call(client, 'search_brands')).map(toNamedRecord);
}

/** All dealflows of the account. @throws ApiError */
export async function searchDealflows(client: Client): Promise<readonly NamedRecord[]> {
  return readListing(await call(client, 'search_dealflows')).map(toNamedRecord);
}

/** Deals whose influencer's name or handle holds the text; records as they come. @throws ApiError */
export async function autocomplete(
  client: Client,
  text: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return readListing(await call(client, 'autocomplete', { query: { q: text } }));
}

/**
 * One deal, by its id (or page address) or by its influencer.
 *
 * @throws ApiError 404 where there is none.
 */
export async function getDealDetails(
  client: Client,
  which: {
    readonly dealId?: string;
    readonly influencerHandle?: string;
    /** Adds the collaborations, where the service knows how. */
    readonly returnCollabs?: boolean;
  },
): Promise<DealRecord> {
  const answer = await call(client, 'get_deal_details', {
    query: {
      ...(which.dealId === undefined ? {} : { deal_id: which.dealId }),
      ...(which.influencerHandle === undefined ? {} : { influencer_handle: which.influencerHandle }),
      ...(which.returnCollabs === true ? { return_collabs: true } : {}),
    },
  });
  // `deal_info` may be missing and the body itself be the record.
  const raw: Readonly<Record<string, unknown>> = answer.deal_info ?? answer;
  return {
    id: toId(raw.id) ?? toId(raw.deal_id),
    influencerHandle: typeof raw.influencer_handle === 'string' ? raw.influencer_handle : null,
    brandId: toId(raw.brand_id),
    isActive: typeof raw.is_active === 'boolean' ? raw.is_active : null,
    raw,
  };
}

/** A bare array, or an object that holds one array under some key. Members that are no objects are left out. */
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
