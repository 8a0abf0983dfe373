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
   * True if the request may be repeated. Nearly every 4xx then counts as a refusal, unless it is the page of a
   * gateway, because a mistake costs only a request.
   */
  readonly isRepeatable: boolean;
  /** True if a smaller request may pass, so that 413 is a refusal whoever says it. */
  readonly isDivisible?: boolean;
  /** Reads the body of a 2xx answer. */
  readonly read: (text: string) => Said;
  /** The current time, for a `Retry-After` that is a date in an answer that states no time of its own. */
  readonly now: Date;
};

/** Statuses with which the service refuses a request without processing it (docs/ledger.md, T4). */
const REFUSALS = new Set([400, 401, 403, 404, 405, 413, 415, 422]);

/** 4xx statuses that say nothing about the request itself: the service was slow or not ready. */
const UNCLEAR = new Set([408, 425]);

/** Whoever says it, a gateway too, has not let the request through. */
const TOO_LARGE = 413;

/**
 * Classifies the outcome of an exchange. A pure function. Everything that is not proven is in doubt. The
 * sender of a repeatable request then repeats it; an entry of the ledger waits for evidence or a person.
 */
export function classify(exchange: Exchange, options: ClassifyOptions): Outcome {
  const { isRepeatable, isDivisible = false, read, now } = options;
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
    const retryAfterMs = parseRetryAfter(headers['retry-after'], statedTime(headers.date) ?? now);
    return { kind: 'throttled', httpStatus: 429, retryAfterMs };
  }
  const message = readErrorText(text);
  const isRefusal = isRepeatable
    ? status >= 400 &&
      status < 500 &&
      !UNCLEAR.has(status) &&
      ((isDivisible && status === TOO_LARGE) || !isPage(text))
    : REFUSALS.has(status) && isOwnWord(text);
  if (isRefusal) return refused(message ?? `HTTP ${status}`);
  return {
    kind: 'in_doubt',
    httpStatus: status,
    reason: `HTTP ${status}${message === null ? '' : `: ${message}`}`,
  };
}

/**
 * True if a body is the service's own word: a JSON object with a message. A gateway's page or an empty body says
 * nothing about what the service did.
 */
export function isOwnWord(text: string): boolean {
  return readObject(text) !== null && readErrorText(text) !== null;
}

function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

/**
 * Finds a no in the body of a 2xx answer: `success` that is not true, a `status` that is an error, or a filled
 * `error`. Whatever else the body names is then no confirmation.
 *
 * @returns what the service says, on one line; null if nothing in the body says no.
 */
export function findNo(answer: Readonly<Record<string, unknown>>, text: string): string | null {
  const { success, status, error, errors, error_message: errorMessage } = answer;
  const isYes = success === undefined || success === true || success === 'true' || success === 1;
  const isFailed = typeof status === 'number' ? status >= 400 : /^(error|fail)/i.test(String(status ?? ''));
  if (isYes && !isFailed && ![error, errors, errorMessage].some(isFilled)) return null;
  return readErrorText(text) ?? 'the answer says that it did not succeed';
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The time that an answer states in its `Date` header: its `Retry-After` is by the same clock. */
function statedTime(date: string | string[] | undefined): Date | null {
  const time = new Date(typeof date === 'string' ? date : Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** Parses a body as a JSON object. Returns null if it is not one. */
export function readObject(text: string): Record<string, unknown> | null {
  const value = parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

const NOTHING = { kind: 'nothing', why: 'without content' } as const;

/**
 * Reads the answer to an update, whose response the specification does not show: any JSON object is an answer, and a no
 * in it is a refusal. Only reading the state back shows that it was done.
 */
export function readUpdateAnswer(text: string): Said {
  const answer = readObject(text);
  if (answer === null) return NOTHING;
  const no = findNo(answer, text);
  return no === null ? { kind: 'taken' } : { kind: 'refused', message: no };
}

/** Reads the answer to a batch: a no is a refusal, a yes is a `message` or `success`, and anything else is unclear. */
export function readBatchAnswer(text: string): Said {
  const said = readUpdateAnswer(text);
  const { message, success } = readObject(text) ?? {};
  const isYes = success !== undefined || (typeof message === 'string' && message.trim() !== '');
  return said.kind === 'taken' && !isYes ? { kind: 'nothing', why: 'without a message or success' } : said;
}

/** Reads the answer to a look-up. An empty body and any JSON that does not say no are answers; a proxy's page is not. */
export function readLookupAnswer(text: string): Said {
  if (text.trim() === '') return { kind: 'taken' };
  const no = findNo(readObject(text) ?? {}, text);
  if (no !== null) return { kind: 'nothing', why: `with a refusal: ${no}` };
  return parse(text) === undefined ? NOTHING : { kind: 'taken' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
