import { readErrorText } from '../api/read-error.ts';
import { parseRetryAfter } from '../api/retry-after.ts';
import type { Exchange } from '../model/exchange.ts';
import type { Effect, Outcome } from '../model/ledger.ts';

/** Statuses with which the service refuses a request that it did not process (docs/ledger.md, T4). */
const REFUSALS = new Set([400, 401, 403, 404, 405, 413, 415, 422]);

/**
 * What an exchange means for its entry. Pure. Only what is proven is called so: all else is a doubt.
 *
 * @param now for a `Retry-After` that is a date.
 */
export function classify(effect: Effect, exchange: Exchange, now: Date): Outcome {
  if (exchange.kind === 'failure') {
    return exchange.written
      ? { kind: 'in_doubt', httpStatus: null, reason: exchange.reason }
      : { kind: 'not_written', reason: exchange.reason };
  }
  const { status } = exchange;
  if (status >= 200 && status < 300) return classifySuccess(effect, status, exchange.text);
  if (status === 429) {
    return {
      kind: 'throttled',
      httpStatus: 429,
      retryAfterMs: parseRetryAfter(exchange.headers['retry-after'], now),
    };
  }
  const message = readErrorText(exchange.text);
  if (REFUSALS.has(status) && message !== null) {
    return { kind: 'rejected', httpStatus: status, message, stopsLane: status === 401 || status === 403 };
  }
  return {
    kind: 'in_doubt',
    httpStatus: status,
    reason: `HTTP ${status}${message === null ? '' : `: ${message}`}`,
  };
}

function classifySuccess(effect: Effect, status: number, text: string): Outcome {
  const body = readObject(text);
  if (body === null)
    return { kind: 'in_doubt', httpStatus: status, reason: `HTTP ${status} without a JSON object` };
  const dealId = readId(body.deal_id);
  const collabId = readId(body.collab_id);
  // Notes and tasks are answered with a message alone.
  const isNamed =
    effect === 'note' || effect === 'task'
      ? typeof body.message === 'string'
      : dealId !== null || collabId !== null;
  if (!isNamed)
    return {
      kind: 'in_doubt',
      httpStatus: status,
      reason: `HTTP ${status} that does not name what was credited`,
    };
  return { kind: 'accepted', httpStatus: status, dealId, collabId };
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Ids are opaque text; a number is tolerated and kept as its digits. */
function readId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' ? String(value) : null;
}
