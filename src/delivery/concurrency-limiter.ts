import type { Outcome } from '../model/ledger.ts';

/** A wrong setting shows itself before many orders are at stake. */
const FIRST_SIZE = 2;

/** How many requests may be in flight. */
export type ConcurrencyLimiter = {
  size(): number;
  /** Accepted: one wider, up to the limit. Throttled or in doubt: half as wide. */
  report(outcome: Outcome): void;
  /** Back to the first size: after the breaker was open. */
  reset(): void;
};

/** Additive increase, multiplicative decrease: it starts small and widens with each accepted answer. */
export function createConcurrencyLimiter(limit: number): ConcurrencyLimiter {
  let size = Math.min(FIRST_SIZE, limit);
  return {
    size: () => size,
    report(outcome) {
      if (outcome.kind === 'accepted') size = Math.min(limit, size + 1);
      if (outcome.kind === 'throttled' || outcome.kind === 'in_doubt')
        size = Math.max(1, Math.floor(size / 2));
    },
    reset() {
      size = Math.min(FIRST_SIZE, limit);
    },
  };
}
