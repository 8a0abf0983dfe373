import type { Exchange, Verdict } from '../core/http/exchange.ts';
import { type OperationName, operationOf } from './contract.ts';
import { judge } from './description/verdict.ts';
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
  readonly isKeyRefused?: boolean;
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
  /** True if the service refused the API key. */
  readonly isKeyRefused: boolean;

  constructor(details: Details) {
    const { operation, status, text, fate, safe, retryAfterMs = null, isKeyRefused = false } = details;
    super(`${operation}: ${status === null ? '' : `HTTP ${status}: `}${text}`);
    this.name = 'ApiError';
    this.operation = operation;
    this.status = status;
    this.text = text;
    this.fate = fate;
    this.safe = safe;
    this.retryAfterMs = retryAfterMs;
    this.isKeyRefused = isKeyRefused;
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
  const { status, headers, verdict = judge(exchange) } = exchange;
  return new ApiError({
    operation,
    status,
    text: text ?? verdict.reason ?? doubtOf(verdict) ?? readErrorText(exchange.text) ?? 'the answer is empty',
    fate: isRefusal(verdict) ? 'not_processed' : 'in_doubt',
    safe: safeAfter(operation, status, verdict),
    retryAfterMs: parseRetryAfter(headers['retry-after'], new Date()),
    isKeyRefused: verdict.kind === 'key_refused',
  });
}

function doubtOf({ kind, doubts = [] }: Verdict): string | null {
  return kind === 'unclear' && doubts[0] !== undefined ? `an answer ${doubts[0].why}` : null;
}

/**
 * Statuses that prove that the request was not processed. Any other status leaves it in doubt
 * (docs/ledger.md, T4 to T6).
 */
function isRefusal({ kind }: Verdict): boolean {
  return kind === 'refused' || kind === 'key_refused' || kind === 'rate_limited';
}

function safeAfter(operation: OperationName, status: number, verdict: Verdict): string {
  if (verdict.kind === 'key_refused') return 'It was not processed. Check the API key, then send it again.';
  if (verdict.kind === 'rate_limited')
    return 'It was not processed. Send it again after the delay that the service asks for.';
  if (status >= 300 && status < 400)
    return `The service redirects to another address. Check the base address. ${safeInDoubt(operation)}`;
  if (isRefusal(verdict)) return 'It was not processed. Change the request before you send it again.';
  return safeInDoubt(operation);
}

function safeInDoubt(operation: OperationName): string {
  return operationOf(operation).repeatable
    ? 'You can repeat it without harm.'
    : 'It may have been processed. Do not send it again before you have checked in the service.';
}
