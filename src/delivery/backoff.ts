import type { Outcome } from '../model/ledger.ts';

/** First wait after an attempt that did not get through; doubles each time. */
const FIRST_WAIT_MS = 500;
/** No wait of our own is longer; what the service asks for may be. */
const LONGEST_WAIT_MS = 60_000;

/**
 * How long an entry rests before its next claim, in milliseconds. Pure: attempt and outcome in, wait out.
 * A throttled entry rests at least as long as the service asked (`Retry-After`). Settled outcomes do not wait.
 *
 * @param attempt 1 for the first.
 */
export function backoffMs(attempt: number, outcome: Outcome): number {
  if (outcome.kind !== 'not_written' && outcome.kind !== 'throttled') return 0;
  const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 10));
  return outcome.kind === 'throttled' ? Math.max(own, outcome.retryAfterMs ?? 0) : own;
}
