import type { Outcome } from '../../core/ledger.ts';

/** First delay after an attempt that was not processed, in milliseconds. It doubles each time. */
const FIRST_WAIT_MS = 500;
/** Maximum of our own delay in milliseconds. The service may request a longer one. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Returns how long an entry waits before its next claim, in milliseconds. A pure function. A throttled entry
 * waits at least as long as the service requested (`Retry-After`). Other outcomes do not wait.
 *
 * @param attempt 1 for the first.
 */
export function backoffMs(attempt: number, outcome: Outcome): number {
  if (outcome.kind !== 'not_written' && outcome.kind !== 'throttled') return 0;
  const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 10));
  return outcome.kind === 'throttled' ? Math.max(own, outcome.retryAfterMs ?? 0) : own;
}
