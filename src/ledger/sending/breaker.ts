import type { Outcome } from '../../core/ledger.ts';

/** Number of doubts within the period that opens the breaker. It replaces blind retries. */
const DOUBTS_AT_MOST = 5;
const PERIOD_MS = 60_000;
/**
 * This number of consecutive requests that could not be written also opens the breaker: the service is
 * unreachable.
 */
const UNREACHED_AT_MOST = 5;

export type Breaker = {
  report(outcome: Outcome): void;
  /** Returns why the breaker is open, or null while it is closed. */
  openBecause(): string | null;
  /** Closes the breaker. Called after a probe with `GET /v1/account/hello` succeeded. */
  close(): void;
};

/** Creates a breaker. @param now returns milliseconds on a monotonic clock. */
export function createBreaker(now: () => number): Breaker {
  let doubts: number[] = [];
  let unreached = 0;
  return {
    report(outcome) {
      unreached = outcome.kind === 'not_written' ? unreached + 1 : 0;
      if (outcome.kind !== 'in_doubt') return;
      const at = now();
      doubts = [...doubts.filter((doubt) => at - doubt < PERIOD_MS), at];
    },
    openBecause() {
      if (doubts.length >= DOUBTS_AT_MOST)
        return `${doubts.length} requests in ${PERIOD_MS / 1000} s are in doubt`;
      if (unreached >= UNREACHED_AT_MOST) return `${unreached} requests in a row could not be sent`;
      return null;
    },
    close() {
      doubts = [];
      unreached = 0;
    },
  };
}
