import type { Dispatcher } from 'undici';
import { errorCode } from '../core/error-code.ts';
import type { Exchange } from '../core/http/exchange.ts';

const TOO_LATE = 'no connection was free in time';

/** Thrown to make undici abort a request or not write it. It never reaches the caller. */
const NOT_TO_BE_WRITTEN = new Error('not to be written');

/**
 * One request in flight: undici's handler, and what is proven about the request. It settles once, with the
 * result of the exchange.
 *
 * The proof of "not written": in undici's HTTP/1.1 client, only `writeH1` writes a request to a socket. It
 * first calls `onRequestStart`, synchronously, and writes nothing if that throws. So no byte of the request
 * was written as long as `onRequestStart` has not returned. Once it has returned, the request may have been
 * written. A second start would replay a request that may have been processed, so it is refused in the same
 * way.
 */
export class InFlightRequest implements Dispatcher.DispatchHandler {
  /** Deadline of the whole exchange, in milliseconds of `performance.now()`. */
  readonly deadline: number;
  /**
   * A request is not written with less than half of its time left, because it would probably end in doubt.
   */
  readonly #latestStart: number;
  readonly #settle: (exchange: Exchange) => void;
  readonly #onSettled: (request: InFlightRequest) => void;
  #settled = false;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  #first: Buffer | null = null;
  #rest: Buffer[] | null = null;

  constructor(
    timeoutMs: number,
    settle: (exchange: Exchange) => void,
    onSettled: (request: InFlightRequest) => void,
  ) {
    const now = performance.now();
    this.deadline = now + timeoutMs;
    this.#latestStart = now + timeoutMs / 2;
    this.#settle = settle;
    this.#onSettled = onSettled;
  }

  /**
   * Aborts the request at its deadline. The result is "not written" if it was still waiting for a connection.
   */
  expire(): void {
    if (this.#controller === null) this.abort(TOO_LATE);
    else this.abort(this.#status === 0 ? 'no answer in time' : 'no complete answer in time');
  }

  /** Aborts the request. The result is "not written" if it was still waiting for a connection. */
  abort(reason: string): void {
    this.#finish({ kind: 'failure', written: this.#controller !== null, reason });
    this.#controller?.abort(NOT_TO_BE_WRITTEN);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled || this.#controller !== null) throw NOT_TO_BE_WRITTEN;
    if (performance.now() > this.#latestStart) {
      this.#finish({ kind: 'failure', written: false, reason: TOO_LATE });
      throw NOT_TO_BE_WRITTEN;
    }
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An interim response (1xx): the final answer is still to come.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#first === null) this.#first = chunk;
    else if (this.#rest === null) this.#rest = [this.#first, chunk];
    else this.#rest.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish({ kind: 'answer', status: this.#status, headers: this.#headers, text: this.#text() });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#finish({ kind: 'failure', written: this.#controller !== null, reason: failureReason(error) });
  }

  #text(): string {
    const bytes = this.#rest === null ? this.#first : Buffer.concat(this.#rest);
    if (bytes === null) return '';
    const text = bytes.toString('utf8');
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  #finish(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onSettled(this);
    this.#settle(exchange);
  }
}

/** Explanations of the error codes of sockets, DNS and undici. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while writing',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'no local port was free',
  EMFILE: 'too many files are open',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer was too large',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer were too large',
  UND_ERR_DESTROYED: 'the client was closed',
  UND_ERR_CLOSED: 'the client was closed',
  UND_ERR_ABORTED: 'the request was aborted',
  UND_ERR_INVALID_ARG: 'the request could not be made',
};

/**
 * Explains why an exchange failed, by the error's code alone. Messages of network errors contain addresses,
 * and those of other errors may contain more.
 */
function failureReason(error: unknown): string {
  if (error instanceof Error && error.name === 'HTTPParserError') return 'the answer was not HTTP/1.1';
  const code = errorCode(error);
  if (code === null || !/^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return 'the request failed';
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return meaning;
  if (/CERT|TLS|SSL|ERR_SSL|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `the secure connection failed (${code})`;
  return `the request failed (${code})`;
}
