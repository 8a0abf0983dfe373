import type { Exchange } from '../model/http/exchange.ts';
import type { OperationName } from './contract.ts';
import { operationOf } from './contract.ts';
import { readErrorText } from './read-error.ts';
import { parseRetryAfter } from './retry-after.ts';

/**
 * What is known about a request that did not succeed. `not_sent`: nothing left this machine. `not_processed`:
 * the service refused the request. `in_doubt`: the service may have processed it.
 */
export type Fate = 'not_sent' | 'not_processed' | 'in_doubt';

type Details = {
  readonly operation: OperationName;
  readonly status: number | null;
  readonly text: string;
  readonly fate: Fate;
  readonly safe: string;
  readonly retryAfterMs?: number | null;
};

/** The error of an operation that did not succeed. It contains no key, no body and no address. */
export class ApiError extends Error {
  readonly operation: OperationName;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /**
   * The service's error message, or the reason why there is no answer. Secrets are masked; at most 300
   * characters.
   */
  readonly text: string;
  readonly fate: Fate;
  /** A sentence that says what is safe to do next. */
  readonly safe: string;
  /** How long the service asks to wait before the next request, in milliseconds; null if it does not say. */
  readonly retryAfterMs: number | null;

  constructor({ operation, status, text, fate, safe, retryAfterMs = null }: Details) {
    super(`${operation}: ${status === null ? '' : `HTTP ${status}: `}${text}`);
    this.name = 'ApiError';
    this.operation = operation;
    this.status = status;
    this.text = text;
    this.fate = fate;
    this.safe = safe;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Turns an exchange that did not succeed into an error.
 * @param text replaces the message that the answer contains.
 */
export function toApiError(operation: OperationName, exchange: Exchange, text?: string): ApiError {
  if (exchange.kind === 'failure') {
    const details = { operation, status: null, text: exchange.reason };
    return exchange.written
      ? new ApiError({ ...details, fate: 'in_doubt', safe: safeInDoubt(operation) })
      : new ApiError({ ...details, fate: 'not_sent', safe: 'Nothing was sent. You can send it again.' });
  }
  const { status, headers } = exchange;
  return new ApiError({
    operation,
    status,
    text: text ?? readErrorText(exchange.text) ?? 'the answer is empty',
    fate: isRefusal(status) ? 'not_processed' : 'in_doubt',
    safe: safeAfterStatus(operation, status),
    retryAfterMs: parseRetryAfter(headers['retry-after'], new Date()),
  });
}

/**
 * Statuses that prove that the request was not processed. Any other status leaves it in doubt
 * (docs/ledger.md, T4 to T6).
 */
function isRefusal(status: number): boolean {
  return [400, 401, 403, 404, 405, 413, 415, 422, 429].includes(status);
}

function safeAfterStatus(operation: OperationName, status: number): string {
  if (status === 401 || status === 403) return 'It was not processed. Check the API key, then send it again.';
  if (status === 429) return 'It was not processed. Send it again after the delay that the service asks for.';
  if (status >= 300 && status < 400)
    return `The service redirects to another address. Check the base address. ${safeInDoubt(operation)}`;
  if (isRefusal(status)) return 'It was not processed. Change the request before you send it again.';
  return safeInDoubt(operation);
}

function safeInDoubt(operation: OperationName): string {
  return operationOf(operation).repeatable
    ? 'You can repeat it without harm.'
    : 'It may have been processed. Do not send it again before you have checked in the service.';
}
