import type { Outcome } from '../../core/ledger.ts';

/** Initial size. It is small, so that a wrong setting shows before many orders are affected. */
const FIRST_SIZE = 2;

/** Limits the number of requests in flight. */
export type ConcurrencyLimiter = {
  size(): number;
  /**
   * Adapts the size: an accepted request increases it by one, up to the limit. A throttled request or a doubt
   * halves it.
   */
  report(outcome: Outcome): void;
  /** Resets the size after the breaker was open. */
  reset(): void;
};

/**
 * Creates a limiter with additive increase and multiplicative decrease. It starts small and grows with each
 * accepted request.
 */
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
