import { readErrorText } from '../api/read-error.ts';
import { parseRetryAfter } from '../api/retry-after.ts';
import type { Exchange } from '../model/exchange.ts';
import type { Outcome } from '../model/ledger.ts';

/** What the body of a 2xx says: that it was taken, why it was not, or nothing that could be relied on. */
export type Said =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'nothing' };

/**
 * What an exchange means for a request that may be repeated. Pure. Unlike an order's, a request without a clear answer is simply sent
 * again, so every 4xx is taken for a refusal, whatever stands in it.
 *
 * @param read what a 2xx says.
 * @param now for a `Retry-After` that is a date.
 */
export function classifyRepeatable(exchange: Exchange, read: (text: string) => Said, now: Date): Outcome {
  if (exchange.kind === 'failure') {
    return exchange.written
      ? { kind: 'in_doubt', httpStatus: null, reason: exchange.reason }
      : { kind: 'not_written', reason: exchange.reason };
  }
  const { status, text, headers } = exchange;
  if (status === 429)
    return {
      kind: 'throttled',
      httpStatus: 429,
      retryAfterMs: parseRetryAfter(headers['retry-after'], now),
    };
  const refused = (message: string): Outcome => ({
    kind: 'rejected',
    httpStatus: status,
    message,
    stopsLane: status === 401 || status === 403,
  });
  if (status >= 200 && status < 300) {
    const said = read(text);
    if (said.kind === 'refused') return refused(said.message);
    if (said.kind === 'taken') return { kind: 'accepted', httpStatus: status, dealId: null, collabId: null };
    return { kind: 'in_doubt', httpStatus: status, reason: `HTTP ${status} that says nothing` };
  }
  const message = readErrorText(text);
  if (status >= 400 && status < 500 && status !== 408 && status !== 425)
    return refused(message ?? `HTTP ${status}`);
  const why = message === null ? '' : `: ${message}`;
  return { kind: 'in_doubt', httpStatus: status, reason: `HTTP ${status}${why}` };
}

/** What the answer to `identify_influencers` says: a JSON object, in which `success` may say no. */
export function readBatchAnswer(text: string): Said {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'nothing' };
  if (!('success' in value) || value.success !== false) return { kind: 'taken' };
  return { kind: 'refused', message: readErrorText(text) ?? 'the service says that it did not succeed' };
}

/** Any JSON, and no body at all, answers a look-up; a page of a proxy does not. */
export function readLookupAnswer(text: string): Said {
  return text.trim() === '' || parse(text) !== undefined ? { kind: 'taken' } : { kind: 'nothing' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
