import { readErrorText } from '../api/read-error.ts';
import { parseRetryAfter } from '../api/retry-after.ts';
import type { Exchange } from '../model/http/exchange.ts';
import type { Outcome } from '../model/ledger.ts';

/** What the body of a 2xx says: that it was taken, why it was not, or nothing that can be relied on. */
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
  /** Whether the request may be sent again: then each 4xx counts as a refusal, whatever it says, because a mistake costs only a request. */
  readonly isRepeatable: boolean;
  /** Reads the body of a 2xx. */
  readonly read: (text: string) => Said;
  /** For a `Retry-After` that is a date. */
  readonly now: Date;
};

/** Statuses with which the service refuses a request that it did not process (docs/ledger.md, T4). */
const REFUSALS = new Set([400, 401, 403, 404, 405, 413, 415, 422]);

/** 4xx that say nothing about the request itself: the service was slow, or not ready. */
const UNCLEAR = new Set([408, 425]);

/**
 * What an exchange means for its request. Pure. Only what is proven is called so: all else is a doubt. Whoever sent a request that may be repeated
 * sends it again then; an entry of the ledger waits for external confirmation or a person.
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

/** A body as a JSON object; null where it is none. */
export function readObject(text: string): Record<string, unknown> | null {
  const value = parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

const NOTHING = { kind: 'nothing', why: 'without content' } as const;

/** What the answer to `identify_influencers` says: a JSON object, in which `success` may say no. */
export function readBatchAnswer(text: string): Said {
  const answer = readObject(text);
  if (answer === null) return NOTHING;
  if (answer.success !== false) return { kind: 'taken' };
  return { kind: 'refused', message: readErrorText(text) ?? 'the service says that it did not succeed' };
}

/** Any JSON, and no body at all, answers a look-up; a page of a proxy does not. */
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
