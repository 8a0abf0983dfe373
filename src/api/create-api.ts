import { call } from './call.ts';
import { type Client, type ClientOptions, createClient } from './client.ts';
import {
  type BodyInput,
  type OperationName,
  operationNames,
  operationOf,
  type QueryInput,
  type ResponseOf,
} from './contract.ts';
import type { Operations } from './reference/api-type.ts';

/** What an operation is given: its body, or its query; nothing where it has neither. No operation has both. */
export type InputOf<Name extends OperationName> =
  BodyInput<Name> extends null ? QueryInput<Name> : BodyInput<Name>;

type Arguments<Input> = Input extends null
  ? readonly []
  : Record<never, never> extends Input
    ? readonly [input?: Input]
    : readonly [input: Input];

/**
 * Calls one operation. Its input is checked before anything is sent, its answer after; nothing is tried again. Amounts are numbers of
 * JavaScript: where one has more than 15 digits, write the JSON yourself and use `client.exchange`.
 */
export type Call<Name extends OperationName> = (
  ...input: Arguments<InputOf<Name>>
) => Promise<ResponseOf<Name>>;

/** The service, as functions. */
export type Api = Operations & {
  /** What is under it: requests and answers as text. */
  readonly client: Client;
  /** Waits for what is on its way, then closes the sockets. */
  close(): Promise<void>;
};

export type ApiOptions = Pick<ClientOptions, 'url' | 'key'> & Partial<ClientOptions>;

/** As many at a time as the service is said to take a second. */
const CONNECTIONS = 4;
/** Generous: giving up early only makes a doubt. */
const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens the service: `api.search.getSearch({ platform: 'tiktok', filter: {} })`. Every call that does not succeed rejects with an
 * `ApiError`, which says what is safe to do next.
 *
 * @throws KnownError `api_url_invalid`, `api_key_invalid`.
 */
export function createApi(options: ApiOptions): Api {
  return toApi(
    createClient({
      connections: CONNECTIONS,
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      ...options,
    }),
  );
}

/** The same on a client that is open already; it closes with it. */
export function toApi(client: Client): Api {
  const groups: Record<string, Record<string, (input?: unknown) => Promise<unknown>>> = {};
  for (const name of operationNames) {
    const { group, body } = operationOf(name);
    const place = body === null ? 'query' : 'body';
    const calls = groups[camelCase(group)] ?? {};
    groups[camelCase(group)] = calls;
    calls[camelCase(name)] = (input) => call(client, name, input === undefined ? {} : { [place]: input });
  }
  // The names of groups and calls come from the contract, as those of the type do; the compiler cannot see that.
  return { ...(groups as unknown as Operations), client, close: () => client.close() };
}

export { readListing } from './account.ts';
export { ApiError, type Fate } from './api-error.ts';
export type { OperationName, ResponseOf } from './contract.ts';

/** `get_search` and `affiliate tracking` as names of members: `getSearch`, `affiliateTracking`. */
export function camelCase(words: string): string {
  return words.replace(/[_ ](\w)/g, (_, letter: string) => letter.toUpperCase());
}
