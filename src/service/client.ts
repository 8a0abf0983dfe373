import { type Dispatcher, Pool } from 'undici';
import type { Exchange } from '../core/http/exchange.ts';
import { configurationError } from '../core/known-error.ts';
import { contract, type OperationName, operationNames } from './contract.ts';
import { type ServiceDescription, specifiedService } from './description/schema.ts';
import {
  fromServiceAnswer,
  isAsSpecified,
  isList,
  operationAt,
  toServiceRequest,
} from './description/translate.ts';
import { judge } from './description/verdict.ts';
import { InFlightRequest } from './in-flight-request.ts';

export type ClientOptions = {
  /** Base address, `http(s)://host[:port][/prefix]`. */
  readonly url: string;
  /** How the service does what the specification leaves open. Default: our reading of it. */
  readonly service?: ServiceDescription;
  /** Returns answers as the service sends them, whatever the description says. Only for comparing the two. */
  readonly asReceived?: boolean;
  /** Sent in the header of the key. If it is empty, no request carries a key. */
  readonly key: string;
  /** Maximum number of sockets. Further requests wait in a queue; they are provably not written. */
  readonly connections: number;
  /**
   * Maximum duration of the whole exchange: waiting for a connection (at most half of it), headers and body.
   */
  readonly timeoutMs: number;
  /** Maximum duration of connecting, TLS included. */
  readonly connectTimeoutMs: number;
};

export type ExchangeInput = {
  /** Query parameters. Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Exact JSON text, sent byte for byte so that amounts stay exact. */
  readonly body?: string;
  /** Aborts the exchange. Its failure says whether the request was written. */
  readonly signal?: AbortSignal | undefined;
};

export type Client = {
  /**
   * Sends one request and returns its answer. It never throws for a network failure, follows no redirect,
   * retries nothing and validates nothing. If the answer contains the key, its text has `[key]` instead.
   */
  exchange(operation: OperationName, input?: ExchangeInput): Promise<Exchange>;
  /** Waits for requests in flight, then closes the sockets. Later exchanges fail as not written. */
  close(): Promise<void>;
  /** Aborts at once. Waiting requests fail as not written, requests in flight as written. */
  destroy(): Promise<void>;
};

/** How often deadlines are checked. A twentieth of the timeout is used if that is shorter. */
const SWEEP_MS = 250;

/** Creates a client of the service on undici's pool: HTTP/1.1, one request at a time per connection. */
export function createClient(options: ClientOptions): Client {
  const base = readBaseUrl(options.url);
  checkKey(options.key);
  const { service = specifiedService } = options;
  const requests = prepareRequests(base, options.key, service);
  const pool = new Pool(base.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: options.connectTimeoutMs },
    maxResponseSize: service.limits.answer_bytes,
    // We enforce one deadline for the whole exchange. undici's timeouts restart with each byte received, so a
    // server that sends a byte now and then would never time out.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const mask = createKeyMask(options.key);
  const isTranslated = !isAsSpecified(service);
  const read = (exchange: Exchange, operation: OperationName, input: ExchangeInput): Exchange => {
    if (exchange.kind === 'failure') return exchange;
    // The key is masked before anything else sees the answer.
    const text = mask(exchange.text, exchange.status >= 200 && exchange.status <= 299);
    const answer = { ...exchange, text };
    if (options.asReceived === true) return answer;
    return isTranslated || isList(operation)
      ? fromServiceAnswer(service, operation, { answer, input })
      : { ...answer, verdict: judge(answer) };
  };

  // All requests have the same timeout, so the first in the set is always the first to expire.
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
    exchange: (operation, input = {}) =>
      new Promise((resolve) => {
        const { signal } = input;
        const handler = new InFlightRequest(
          options.timeoutMs,
          (exchange) => {
            signal?.removeEventListener('abort', abort);
            resolve(read(exchange, operation, input));
          },
          forget,
        );
        const abort = () => handler.abort('the caller aborted it');
        inFlight.add(handler);
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort);
        const request = requests[operation];
        const { body = null, query } = isTranslated ? toServiceRequest(service, operation, input) : input;
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

/** A request as it would be sent, for display. */
export type DescribedRequest = {
  readonly method: string;
  readonly url: string;
  /** Names are in lower case. The value of the key is `[key]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte for byte. */
  readonly body: string | null;
};

/** Describes the request that `exchange` would send, without sending it. */
export function describeRequest(
  operation: OperationName,
  input: ExchangeInput,
  { url, key, service = specifiedService }: Pick<ClientOptions, 'url' | 'key' | 'service'>,
): DescribedRequest {
  const base = readBaseUrl(url);
  checkKey(key);
  const prepared = prepareRequests(base, key === '' ? '' : '[key]', service)[operation];
  const { body = null, query = {} } = isAsSpecified(service)
    ? input
    : toServiceRequest(service, operation, input);
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

/** Prepares once what all requests of an operation have in common. */
function prepareRequests(
  { pathname }: URL,
  key: string,
  service: ServiceDescription,
): Readonly<Record<OperationName, PreparedRequest>> {
  const { header, prefix } = service.authentication;
  const entries = operationNames.map((name): [OperationName, PreparedRequest] => {
    const { path, method, sendsKey } = contract[name];
    const described = operationAt(service, name);
    const keyHeader = sendsKey && key !== '' ? [header.toLowerCase(), prefix + key] : [];
    const headers = ['accept', 'application/json', ...keyHeader];
    return [
      name,
      {
        path: pathname.replace(/\/+$/, '') + (described.path ?? path),
        method: described.method ?? method,
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
  throw configurationError({
    code: 'api_url_invalid',
    message: 'The address of the service is not a plain http:// or https:// address.',
    help: 'Give it as https://host or http://host:port, without user, password or query. For a trial: npx influencer-sync sandbox',
    safe: 'Nothing was sent.',
  });
}

function checkKey(key: string): void {
  if (/^[\x21-\x7e]*$/.test(key)) return;
  throw configurationError({
    code: 'api_key_invalid',
    message: 'The API key contains a blank, a line break or a character that a header cannot carry.',
    help: 'Copy it again from the API integration page of the service, without blanks around it.',
    safe: 'Nothing was sent.',
  });
}

export type ExchangeObserver = {
  begun(operation: OperationName): void;
  /** @param seconds between the call of `exchange` and the complete answer or failure. */
  ended(operation: OperationName, exchange: Exchange, seconds: number): void;
};

/** Wraps a client so that the observer is notified of every request. */
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

/** A shorter key would match parts of ordinary words. */
const MIN_KEY_CHARS = 4;

/**
 * Minimum length for answers that are not errors, because their ids and names may contain short words. No
 * real key is this short.
 */
const MIN_KEY_CHARS_IN_DATA = 8;

const MARK = '[key]';

/**
 * Replaces the key in a text that the service sent.
 * @param isData true if the answer is not an error.
 */
type KeyMask = (text: string, isData: boolean) => string;

/**
 * Creates the mask of one key. It finds the key as it is, with JSON escapes, or percent-encoded. The client
 * passes every answer through it, because a service may echo what it received. So no code that uses the
 * client can print or store the key.
 */
export function createKeyMask(key: string): KeyMask {
  const escaped = new RegExp([...key].map(waysToWrite).join(''), 'g');
  return (text, isData) => {
    if (key.length < (isData ? MIN_KEY_CHARS_IN_DATA : MIN_KEY_CHARS)) return text;
    const plain = text.includes(key) ? text.replaceAll(key, MARK) : text;
    return /[\\%]/.test(plain) ? plain.replace(escaped, MARK) : plain;
  };
}

function waysToWrite(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  const anyCase = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return `(?:\\\\u00${anyCase}|%${anyCase}|\\\\?${literal})`;
}
