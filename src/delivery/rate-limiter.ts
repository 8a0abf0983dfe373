/**
 * Creates a rate limiter with evenly spaced turns: at most `perSecond` per second, without bursts, in the
 * order of the calls. The spacing is even because the service limits requests per account and minute, and
 * other tools share the account.
 *
 * @param perSecond 0 means no limit.
 * @param now returns milliseconds on a monotonic clock.
 * @returns a function that takes a turn and returns how long the caller must wait for it, in milliseconds.
 */
export function createRateLimiter(perSecond: number, now: () => number): () => number {
  if (perSecond === 0) return () => 0;
  const gapMs = 1000 / perSecond;
  let nextTurn = Number.NEGATIVE_INFINITY;
  return () => {
    const turn = Math.max(now(), nextTurn);
    nextTurn = turn + gapMs;
    return turn - now();
  };
}
