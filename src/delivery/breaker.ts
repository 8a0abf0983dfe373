import type { Outcome } from '../model/ledger.ts';

/** The budget of doubts: so many within the period open the breaker. It takes the place of blind retries. */
const DOUBTS_AT_MOST = 5;
const PERIOD_MS = 60_000;
/** So many requests in a row that could not even be written open it too: the service cannot be reached. */
const UNREACHED_AT_MOST = 5;

export type Breaker = {
  report(outcome: Outcome): void;
  /** Why it is open; null while it is closed. */
  openBecause(): string | null;
  /** After a probe with `GET /v1/account/hello` succeeded. */
  close(): void;
};

/** @param now milliseconds on a monotonic clock. */
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
