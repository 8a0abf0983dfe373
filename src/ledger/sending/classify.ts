import type { Exchange, Verdict } from '../../core/http/exchange.ts';
import { isObject, parseJson, parseObject } from '../../core/json/exact-json.ts';
import type { Outcome } from '../../core/ledger.ts';
import { contract } from '../../service/contract.ts';
import { findDoubt, judge } from '../../service/description/verdict.ts';
import { parseRetryAfter } from '../../service/retry-after.ts';
import { findOther } from '../effects/find-other.ts';
import { isUnclearProfile } from './read-profile.ts';

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
  /** Reads the body of a 2xx answer whose verdict is `yes` or `no`. */
  readonly read: (text: string, verdict: Verdict, status: number) => Said;
  /** The current time, for a `Retry-After` that is a date in an answer that states no time of its own. */
  readonly now: Date;
};

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
  const { status, text, headers, verdict = judge(exchange) } = exchange;
  const refused = (message: string): Outcome => ({
    kind: 'rejected',
    httpStatus: status,
    message,
    stopsGate: verdict.kind === 'key_refused',
  });
  if (verdict.kind === 'yes' || verdict.kind === 'no') {
    const said = read(text, verdict, status);
    if (said.kind === 'refused') return refused(said.message);
    if (said.kind === 'nothing')
      return { kind: 'in_doubt', httpStatus: status, reason: `HTTP ${status} ${said.why}` };
    const { dealId = null, collabId = null, message } = said;
    const accepted = { kind: 'accepted', httpStatus: status, dealId, collabId } as const;
    return message === undefined ? accepted : { ...accepted, message };
  }
  if (verdict.kind === 'rate_limited') {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], statedTime(headers.date) ?? now);
    return { kind: 'throttled', httpStatus: status, retryAfterMs };
  }
  if (verdict.kind === 'unclear' && status <= 299)
    return {
      kind: 'in_doubt',
      httpStatus: status,
      reason: `HTTP ${status} ${verdict.doubts?.[0]?.why ?? 'that does not say yes'}`,
    };
  const message = verdict.reason;
  if (isRefusal(status, text, { verdict, isRepeatable, isDivisible }))
    return refused(message ?? `HTTP ${status}`);
  return {
    kind: 'in_doubt',
    httpStatus: status,
    reason: `HTTP ${status}${message === null ? '' : `: ${message}`}`,
  };
}

/** What proves that a request was not processed. */
function isRefusal(
  status: number,
  text: string,
  { verdict, isRepeatable, isDivisible }: { verdict: Verdict; isRepeatable: boolean; isDivisible: boolean },
): boolean {
  const isNamed = verdict.kind === 'refused' || verdict.kind === 'key_refused';
  if (isNamed && verdict.isStated) return true;
  if (!isRepeatable) return isNamed && verdict.isOwnWord;
  if (verdict.kind === 'unclear') return false;
  return (
    (isNamed || (status >= 400 && status < 500)) && ((isDivisible && status === TOO_LARGE) || !isPage(text))
  );
}

function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

/** The time that an answer states in its `Date` header: its `Retry-After` is by the same clock. */
function statedTime(date: string | string[] | undefined): Date | null {
  const time = new Date(typeof date === 'string' ? date : Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** Says that there is nothing, and that nothing is missing. */
const NO_CONTENT = 204;

const NOTHING = { kind: 'nothing', why: 'without content' } as const;

/**
 * Reads the answer to an update, whose response the specification does not show: any JSON object is an answer, and a no
 * in it is a refusal. Only reading the state back shows that it was done.
 */
export function readUpdateAnswer(text: string, verdict: Verdict): Said {
  if (verdict.kind === 'no') return { kind: 'refused', message: verdict.reason ?? '' };
  return verdict.isStated || parseObject(text) !== null ? { kind: 'taken' } : NOTHING;
}

/**
 * Reads the answer to a batch: a no is a refusal, a yes is a `message` or `success` of which nothing is doubtful and that
 * is about no other batch, and anything else is unclear.
 *
 * @param sent the body of the request.
 */
export function readBatchAnswer(text: string, verdict: Verdict, sent: string): Said {
  const said = readUpdateAnswer(text, verdict);
  if (said.kind !== 'taken' || verdict.isStated) return said;
  const answer = parseObject(text) ?? {};
  const { message, success } = answer;
  if (success === undefined && (typeof message !== 'string' || message.trim() === ''))
    return { kind: 'nothing', why: 'without a message or success' };
  const doubt = findDoubt(verdict, contract.identify_influencers);
  if (doubt !== undefined) return { kind: 'nothing', why: doubt };
  const other = findOther(parseObject(sent) ?? {}, answer);
  return other === null ? said : { kind: 'nothing', why: `that names another ${other} than the request` };
}

/**
 * Reads the answer to a look-up: JSON that says clearly whether somebody is an influencer. No body says so only if the
 * status states that there is none, or the description that this is a yes.
 *
 * @param asked the query of the request.
 */
export function readLookupAnswer(
  text: string,
  verdict: Verdict,
  { status, asked }: { readonly status: number; readonly asked: Readonly<Record<string, unknown>> },
): Said {
  if (verdict.kind === 'no') return { kind: 'nothing', why: `with a refusal: ${verdict.reason}` };
  if (text.trim() === '') return status === NO_CONTENT || verdict.isStated ? { kind: 'taken' } : NOTHING;
  const answer = parseJson(text);
  if (answer === undefined) return NOTHING;
  const why = isUnclearProfile(answer)
    ? 'that does not say whether this is an influencer'
    : findDoubt(verdict, contract.identify_influencers_real_time);
  if (why !== undefined && !verdict.isStated) return { kind: 'nothing', why };
  const other = isObject(answer) ? findOther(asked, answer) : null;
  return other === null ? { kind: 'taken' } : { kind: 'nothing', why: `that names another ${other}` };
}
