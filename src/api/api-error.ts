import type { Exchange } from '../model/exchange.ts';
import type { OperationName } from './contract.ts';
import { operationOf } from './contract.ts';
import { readErrorText } from './read-error.ts';

/** An operation that did not succeed. Carries no key, no body and no address. */
export class ApiError extends Error {
  readonly operation: OperationName;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** What the service said, or what went wrong on the way; masked, 300 characters at most. */
  readonly text: string;
  /** What is safe to do next. */
  readonly safe: string;

  constructor(details: {
    readonly operation: OperationName;
    readonly status: number | null;
    readonly text: string;
    readonly safe: string;
  }) {
    super(
      `${details.operation}: ${details.status === null ? '' : `HTTP ${details.status}: `}${details.text}`,
    );
    this.name = 'ApiError';
    this.operation = details.operation;
    this.status = details.status;
    this.text = details.text;
    this.safe = details.safe;
  }
}

/** Turns an exchange that did not succeed into an error. `text` replaces what the answer says. */
export function toApiError(operation: OperationName, exchange: Exchange, text?: string): ApiError {
  if (exchange.kind === 'failure') {
    return new ApiError({
      operation,
      status: null,
      text: exchange.reason,
      safe: safeAfterFailure(operation, exchange.written),
    });
  }
  const { status } = exchange;
  const said = text ?? readErrorText(exchange.text) ?? 'the answer says nothing';
  return new ApiError({ operation, status, text: said, safe: safeAfterStatus(operation, status) });
}

const NOT_PROCESSED = 'It was not processed.';

function safeAfterFailure(operation: OperationName, written: boolean): string {
  return written ? safeInDoubt(operation) : `Nothing was sent. It can be sent again.`;
}

function safeAfterStatus(operation: OperationName, status: number): string {
  if (status === 401 || status === 403) return `${NOT_PROCESSED} Check the API key, then send it again.`;
  if (status === 429) return `${NOT_PROCESSED} Send it again after the time that the service asks for.`;
  if (status >= 300 && status < 400)
    return `The address leads elsewhere. Check the base address. ${safeInDoubt(operation)}`;
  if ([400, 404, 405, 413, 415, 422].includes(status))
    return `${NOT_PROCESSED} Change the request before sending it again.`;
  return safeInDoubt(operation);
}

function safeInDoubt(operation: OperationName): string {
  return operationOf(operation).repeatable
    ? 'It can be repeated without harm.'
    : 'It may have been processed. Do not send it again before you have looked.';
}
