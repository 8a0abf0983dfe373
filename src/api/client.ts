import { type Dispatcher, Pool } from 'undici';
import { EXIT } from '../model/exit-code.ts';
import type { Exchange } from '../model/http/exchange.ts';
import { KnownError } from '../model/known-error.ts';
import { contract, type OperationName, operationNames } from './contract.ts';
import { InFlightRequest } from './in-flight-request.ts';
import { createKeyMask } from './key-mask.ts';

export type ClientOptions = {
  /** Base address, `http(s)://host[:port][/prefix]`. */
  readonly url: string;
  /** Sent as `X-API-KEY`; empty: operations that need one are sent without. */
  readonly key: string;
  /** Sockets at most. More requests than that wait in a queue, where they are provably not written. */
  readonly connections: number;
  /** The whole exchange at most: waiting for a connection (no more than half of it), headers, body. */
  readonly timeoutMs: number;
  /** Connecting at most, TLS included. */
  readonly connectTimeoutMs: number;
};

export type ExchangeInput = {
  /** Values as text; undefined ones are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Exact JSON text; sent byte for byte, so that an amount stays what it is. */
  readonly body?: string;
};

export type Client = {
  /**
   * One request and its answer. Never throws for trouble on the network, follows no redirect, tries nothing again, validates nothing.
   * Where the answer quotes the key, its text has `[key]` instead.
   */
  exchange(operation: OperationName, input?: ExchangeInput): Promise<Exchange>;
  /** Waits for what is on its way, then closes the sockets. Later exchanges fail as not written. */
  close(): Promise<void>;
  /** Gives up at once: what waits fails as not written, what is on its way as written. */
  destroy(): Promise<void>;
};

/** No answer of the contract comes near this; more is a fault or an attack. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** How often deadlines are looked at: they hold within this, or a twentieth of the timeout where that is shorter. */
const SWEEP_MS = 250;

/**
 * A client of the service on undici's pool: HTTP/1.1, one request a connection at a time.
 *
 * @throws KnownError `api_url_invalid`, `api_key_invalid` (exit 2).
 */
export function createClient(options: ClientOptions): Client {
  const base = readBaseUrl(options.url);
  checkKey(options.key);
  const prefix = base.pathname.replace(/\/+$/, '');
  const requests = prepareRequests(prefix, options.key);
  const pool = new Pool(base.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: options.connectTimeoutMs },
    maxResponseSize: MAX_ANSWER_BYTES,
    // One deadline for the whole exchange, ours: undici's count from the last byte, so a server that drips would never time out.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const mask = createKeyMask(options.key);
  const withoutKey = (exchange: Exchange): Exchange =>
    exchange.kind === 'failure'
      ? exchange
      : { ...exchange, text: mask(exchange.text, exchange.status >= 200 && exchange.status <= 299) };

  // All have the same timeout, so the first in the set is always the first to expire.
  const inFlight = new Set<InFlightRequest>();
  const forget = (request: InFlightRequest): void => {
    inFlight.delete(request);
  };
  const sweeping = setInterval(
    () => {
      const now = performance.now();
      for (const request of inFlight) {
        if (request.deadline > now) break;
        request.expire();
      }
    },
    Math.max(5, Math.min(SWEEP_MS, options.timeoutMs / 20)),
  );
  sweeping.unref();

  return {
    exchange: (operation, input) =>
      new Promise((resolve) => {
        const handler = new InFlightRequest(
          options.timeoutMs,
          (exchange) => resolve(withoutKey(exchange)),
          forget,
        );
        inFlight.add(handler);
        const request = requests[operation];
        const body = input?.body ?? null;
        const query = input?.query;
        pool.dispatch(
          {
            path: query === undefined ? request.path : request.path + queryText(query),
            method: request.method,
            headers: body === null ? request.headers : request.headersWithBody,
            body,
          },
          handler,
        );
      }),
    async close() {
      await pool.close();
      clearInterval(sweeping);
    },
    async destroy() {
      await pool.destroy();
      clearInterval(sweeping);
    },
  };
}

/** A request as it would be sent, for people. */
export type DescribedRequest = {
  readonly method: string;
  readonly url: string;
  /** Lower-case names; instead of the key, `[key]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte for byte. */
  readonly body: string | null;
};

/**
 * The request that `exchange` would send. Nothing is sent.
 *
 * @throws KnownError `api_url_invalid`, `api_key_invalid` (exit 2).
 */
export function describeRequest(
  operation: OperationName,
  input: ExchangeInput,
  { url, key }: Pick<ClientOptions, 'url' | 'key'>,
): DescribedRequest {
  const base = readBaseUrl(url);
  checkKey(key);
  const prepared = prepareRequests(base.pathname.replace(/\/+$/, ''), key === '' ? '' : '[key]')[operation];
  const { body = null, query = {} } = input;
  const headers = body === null ? prepared.headers : prepared.headersWithBody;
  const pairs = Array.from({ length: headers.length / 2 }, (_, index) =>
    headers.slice(2 * index, 2 * index + 2),
  );
  return {
    method: prepared.method,
    url: base.origin + prepared.path + queryText(query),
    headers: Object.fromEntries(pairs),
    body,
  };
}

type PreparedRequest = {
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: string[];
  readonly headersWithBody: string[];
};

/** What is the same for every request of an operation is made once. */
function prepareRequests(prefix: string, key: string): Readonly<Record<OperationName, PreparedRequest>> {
  const entries = operationNames.map((name): [OperationName, PreparedRequest] => {
    const { path, method, sendsKey } = contract[name];
    const headers = ['accept', 'application/json', ...(sendsKey && key !== '' ? ['x-api-key', key] : [])];
    return [
      name,
      {
        path: prefix + path,
        method,
        headers,
        headersWithBody: [...headers, 'content-type', 'application/json'],
      },
    ];
  });
  return Object.fromEntries(entries) as Record<OperationName, PreparedRequest>;
}

function queryText(query: NonNullable<ExchangeInput['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new KnownError({
    code: 'api_url_invalid',
    message: 'The address of the service is not a plain http:// or https:// address.',
    help: 'Give it as https://host or http://host:port, without user, password or query. For a trial: npx influencer-sync sandbox',
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}

function checkKey(key: string): void {
  if (/^[\x21-\x7e]*$/.test(key)) return;
  throw new KnownError({
    code: 'api_key_invalid',
    message: 'The API key contains a blank, a line break or a character that a header cannot carry.',
    help: 'Copy it again from the API integration page of the service, without blanks around it.',
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}

export type ExchangeObserver = {
  begun(operation: OperationName): void;
  /** @param seconds from when the client was given the request to the whole answer, or to giving up. */
  ended(operation: OperationName, exchange: Exchange, seconds: number): void;
};

/** The same client, which tells of every request. */
export function observeClient(client: Client, observer: ExchangeObserver): Client {
  return {
    ...client,
    async exchange(operation, input) {
      const begunAt = performance.now();
      observer.begun(operation);
      const exchange = await client.exchange(operation, input);
      observer.ended(operation, exchange, (performance.now() - begunAt) / 1000);
      return exchange;
    },
  };
}
