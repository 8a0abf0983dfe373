import { type CallOptions, call } from './call.ts';
import { type Client, type ClientOptions, createClient } from './client.ts';
import { operationNames, operationOf } from './contract.ts';
import type { Operations } from './reference/api-type.ts';

/** The operations of the service as typed functions. */
export type Api = Operations & {
  /** The underlying client, which sends requests and returns answers as text. */
  readonly client: Client;
  /** Waits for requests in flight, then closes the sockets. */
  close(): Promise<void>;
};

export type ApiOptions = Pick<ClientOptions, 'url' | 'key'> & Partial<ClientOptions>;

/** As many requests at a time as the service is said to accept per second. */
const CONNECTIONS = 4;
/** Generous, because a request that times out is in doubt. */
const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Creates an API client: `api.search.getSearch({ platform: 'tiktok', filter: {} })`. Every call that does not
 * succeed rejects with an `ApiError`, which says what is safe to do next.
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

/** Like `createApi`, on an existing client. Closing the result closes that client. */
export function toApi(client: Client): Api {
  const groups: Record<
    string,
    Record<string, (input?: unknown, options?: CallOptions) => Promise<unknown>>
  > = {};
  for (const name of operationNames) {
    const { group, body } = operationOf(name);
    const place = body === null ? 'query' : 'body';
    const calls = groups[camelCase(group)] ?? {};
    groups[camelCase(group)] = calls;
    calls[camelCase(name)] = (input, options) =>
      call(client, name, { ...options, ...(input === undefined ? {} : { [place]: input }) });
  }
  // The contract determines these names and the members of the type `Operations` alike, but the compiler
  // cannot see that.
  return { ...(groups as unknown as Operations), client, close: () => client.close() };
}

export { readListing } from './account.ts';
export { ApiError, type Fate } from './api-error.ts';
export type { Call, CallOptions, InputOf } from './call.ts';
export type { OperationName, ResponseOf } from './contract.ts';

/**
 * Turns names of the contract into member names: `get_search` into `getSearch`, `affiliate tracking` into
 * `affiliateTracking`.
 */
export function camelCase(words: string): string {
  return words.replace(/[_ ](\w)/g, (_, letter: string) => letter.toUpperCase());
}
