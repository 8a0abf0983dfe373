import { readErrorText } from '../api/read-error.ts';
import { parseRetryAfter } from '../api/retry-after.ts';
import type { Exchange } from '../model/http/exchange.ts';
import type { Outcome } from '../model/ledger.ts';

/** What the body of a 2xx answer says: the request was accepted, it was refused, or nothing reliable. */
export type Said =
  | {
      readonly kind: 'taken';
      readonly dealId?: string | null;
      readonly collabId?: string | null;
      readonly message?: string;
    }
  | { readonly kind: 'refused'; readonly message: string }
  /** `why` follows the status: `HTTP 200 without a JSON object`. */
  | { readonly kind: 'nothing'; readonly why: string };

export type ClassifyOptions = {
  /**
   * True if the request may be repeated. Nearly every 4xx then counts as a refusal, whatever its body says,
   * because a mistake costs only a request.
   */
  readonly isRepeatable: boolean;
  /** Reads the body of a 2xx answer. */
  readonly read: (text: string) => Said;
  /** The current time, for a `Retry-After` that is a date. */
  readonly now: Date;
};

/** Statuses with which the service refuses a request without processing it (docs/ledger.md, T4). */
const REFUSALS = new Set([400, 401, 403, 404, 405, 413, 415, 422]);

/** 4xx statuses that say nothing about the request itself: the service was slow or not ready. */
const UNCLEAR = new Set([408, 425]);

/**
 * Classifies the outcome of an exchange. A pure function. Everything that is not proven is in doubt. The
 * sender of a repeatable request then repeats it; an entry of the ledger waits for evidence or a person.
 */
export function classify(exchange: Exchange, { isRepeatable, read, now }: ClassifyOptions): Outcome {
  if (exchange.kind === 'failure') {
    return exchange.written
      ? { kind: 'in_doubt', httpStatus: null, reason: exchange.reason }
      : { kind: 'not_written', reason: exchange.reason };
  }
  const { status, text, headers } = exchange;
  const refused = (message: string): Outcome => ({
    kind: 'rejected',
    httpStatus: status,
    message,
    stopsGate: status === 401 || status === 403,
  });
  if (status >= 200 && status < 300) {
    const said = read(text);
    if (said.kind === 'refused') return refused(said.message);
    if (said.kind === 'nothing')
      return { kind: 'in_doubt', httpStatus: status, reason: `HTTP ${status} ${said.why}` };
    const { dealId = null, collabId = null, message } = said;
    const accepted = { kind: 'accepted', httpStatus: status, dealId, collabId } as const;
    return message === undefined ? accepted : { ...accepted, message };
  }
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
    return { kind: 'throttled', httpStatus: 429, retryAfterMs };
  }
  const message = readErrorText(text);
  const isRefusal = isRepeatable
    ? status >= 400 && status < 500 && !UNCLEAR.has(status)
    : REFUSALS.has(status) && message !== null;
  if (isRefusal) return refused(message ?? `HTTP ${status}`);
  return {
    kind: 'in_doubt',
    httpStatus: status,
    reason: `HTTP ${status}${message === null ? '' : `: ${message}`}`,
  };
}

/** Parses a body as a JSON object. Returns null if it is not one. */
export function readObject(text: string): Record<string, unknown> | null {
  const value = parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

const NOTHING = { kind: 'nothing', why: 'without content' } as const;

/** Reads the answer to `identify_influencers`: a JSON object, in which `success` may be false. */
export function readBatchAnswer(text: string): Said {
  const answer = readObject(text);
  if (answer === null) return NOTHING;
  if (answer.success !== false) return { kind: 'taken' };
  return { kind: 'refused', message: readErrorText(text) ?? 'the service says that it did not succeed' };
}

/** Reads the answer to a look-up. Any JSON or an empty body is an answer; a proxy's page is not. */
export function readLookupAnswer(text: string): Said {
  return text.trim() === '' || parse(text) !== undefined ? { kind: 'taken' } : NOTHING;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
