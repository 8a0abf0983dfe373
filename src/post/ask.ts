import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ExchangeInput } from '../api/client.ts';
import type { OperationName } from '../api/contract.ts';
import { readErrorText } from '../api/read-error.ts';
import { parseRetryAfter } from '../api/retry-after.ts';
import type { Exchange } from '../model/exchange.ts';
import type { Outcome } from '../model/ledger.ts';
import { backoffMs } from './backoff.ts';
import type { Lane } from './lane.ts';

/** What came of asking the service something that changes nothing. Returned, never thrown. */
export type Answer =
  | { readonly kind: 'answer'; readonly text: string; readonly fetchedAt: Date }
  /** 404 or 410 with a reason in JSON: the service itself says that there is no such thing. */
  | { readonly kind: 'not_found'; readonly problem: string; readonly fetchedAt: Date }
  | { readonly kind: 'failed'; readonly problem: string; readonly fetchedAt: Date }
  /** The lane is stopped, or the budget is used up. */
  | { readonly kind: 'not_asked' };

/** Asks once, or a few times where the first try got no answer. */
export type Ask = (operation: OperationName, input?: ExchangeInput) => Promise<Answer>;

/** How many requests may still go out. */
export type Budget = {
  /** Takes one; false when none is left. */
  take(): boolean;
  left(): number;
  used(): number;
};

export type AskOptions = {
  readonly client: Pick<Client, 'exchange'>;
  readonly lane: Lane;
  readonly budget: Budget;
  /** The moment before each request. */
  readonly clock: () => Date;
};

/** What got no answer is tried so many times more; then it waits for the next run. */
const RETRIES = 2;

export function createBudget(requests: number): Budget {
  let used = 0;
  return {
    take() {
      if (used >= requests) return false;
      used += 1;
      return true;
    },
    left: () => requests - used,
    used: () => used,
  };
}

/**
 * Asks within the limits of a lane. The one place where something is asked again: only operations that the contract calls repeatable may
 * be asked this way.
 */
export function createAsk({ client, lane, budget, clock }: AskOptions): Ask {
  return async (operation, input) => {
    for (let attempt = 1; ; attempt += 1) {
      if (!(await lane.enter()) || !budget.take()) return { kind: 'not_asked' };
      const fetchedAt = clock();
      const exchange = await client.exchange(operation, input);
      const outcome = classifyRead(exchange, new Date());
      lane.report(outcome);
      if (lane.stopped()?.kind === 'unauthorised') return { kind: 'not_asked' };
      if (!isWorthRepeating(outcome) || attempt > RETRIES) return toAnswer(exchange, outcome, fetchedAt);
      // A throttled lane rests by itself; a lost answer rests as one that was never sent.
      const rested = outcome.kind === 'throttled' ? outcome : { kind: 'not_written' as const, reason: '' };
      await sleep(backoffMs(attempt, rested), undefined, { signal: lane.signal }).catch(() => {});
    }
  };
}

/** What an exchange means for the lane: any answer that is about the question shows that the service is well. */
function classifyRead(exchange: Exchange, now: Date): Outcome {
  if (exchange.kind === 'failure') {
    return exchange.written
      ? { kind: 'in_doubt', httpStatus: null, reason: exchange.reason }
      : { kind: 'not_written', reason: exchange.reason };
  }
  const { status, text } = exchange;
  if (status >= 200 && status < 300)
    return { kind: 'accepted', httpStatus: status, dealId: null, collabId: null };
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(exchange.headers['retry-after'], now);
    return { kind: 'throttled', httpStatus: status, retryAfterMs };
  }
  const said = readErrorText(text);
  const reason = said === null ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
  const isAnswer = status >= 400 && status < 500 && status !== 408 && status !== 425;
  if (!isAnswer) return { kind: 'in_doubt', httpStatus: status, reason };
  return {
    kind: 'rejected',
    httpStatus: status,
    message: reason,
    stopsLane: status === 401 || status === 403,
  };
}

function isWorthRepeating({ kind }: Outcome): boolean {
  return kind === 'not_written' || kind === 'in_doubt' || kind === 'throttled';
}

function toAnswer(exchange: Exchange, outcome: Outcome, fetchedAt: Date): Answer {
  if (outcome.kind === 'accepted' && exchange.kind === 'answer')
    return { kind: 'answer', text: exchange.text, fetchedAt };
  if (outcome.kind === 'throttled')
    return { kind: 'failed', problem: 'HTTP 429: the service asks to slow down', fetchedAt };
  const problem = outcome.kind === 'rejected' ? outcome.message : 'reason' in outcome ? outcome.reason : '';
  const isGone = exchange.kind === 'answer' && (exchange.status === 404 || exchange.status === 410);
  return isGone && saysWhy(exchange.text)
    ? { kind: 'not_found', problem, fetchedAt }
    : { kind: 'failed', problem, fetchedAt };
}

/** A page of a proxy, or nothing at all, says nothing about what was asked for. */
function saysWhy(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && readErrorText(text) !== null;
  } catch {
    return false;
  }
}
