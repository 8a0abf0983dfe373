import type { Dispatcher } from 'undici';
import type { Exchange } from '../model/http/exchange.ts';

const TOO_LATE = 'no connection was free in time';

/** Given to undici when a request must not be written (any more); never seen outside. */
const NOT_TO_BE_WRITTEN = new Error('not to be written');

/**
 * One request on its way: undici's handler and what is proven about it. Settles once, with what the exchange came to.
 *
 * The proof of "not written": in undici's HTTP/1.1 client the only function that writes a request to a socket (`writeH1`) first calls
 * `onRequestStart`, synchronously, and writes nothing if that throws. So as long as `onRequestStart` has not returned, no byte of this
 * request was written. As soon as it has, nothing is claimed any more. A second start would be a replay of a request that may have been
 * processed, and is refused the same way.
 */
export class InFlightRequest implements Dispatcher.DispatchHandler {
  /** When the whole exchange must be over, in milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** A request that would be written with less than half of its time left would only become a doubt. */
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

  /** Gives it up, because of the deadline: as not written if it still waits for a connection. */
  expire(): void {
    if (this.#controller === null) {
      this.#finish({ kind: 'failure', written: false, reason: TOO_LATE });
      return;
    }
    const reason = this.#status === 0 ? 'no answer in time' : 'no complete answer in time';
    this.#finish({ kind: 'failure', written: true, reason });
    this.#controller.abort(NOT_TO_BE_WRITTEN);
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
    // 1xx: the answer is still to come.
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

/** What codes of sockets, DNS and undici mean, for people. */
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
 * Says why an exchange failed, by the error's code alone: messages of network errors carry addresses, and those of others may carry more.
 */
function failureReason(error: unknown): string {
  if (error instanceof Error && error.name === 'HTTPParserError') return 'the answer was not HTTP/1.1';
  const code = codeOf(error);
  if (code === null) return 'the request failed';
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return meaning;
  if (/CERT|TLS|SSL|ERR_SSL|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `the secure connection failed (${code})`;
  return `the request failed (${code})`;
}

function codeOf(error: unknown): string | null {
  const code: unknown =
    typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : null;
}
