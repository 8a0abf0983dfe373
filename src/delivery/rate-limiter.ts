/**
 * Hands out turns at an even pace: at most `perSecond` a second, never a burst, in the order of asking.
 * Even, because the service counts per account and minute and other tools share the account.
 *
 * @param perSecond 0 means no limit.
 * @param now milliseconds on a monotonic clock.
 * @returns how long the caller must wait before its turn, in milliseconds. The turn is taken.
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
