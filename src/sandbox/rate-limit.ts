/**
 * Requests per minute that an account may send, by plan. The service publishes no numbers; 4 and 8 per second
 * have been reported.
 */
export const PLANS = { off: null, standard: 240, plus: 480 } as const satisfies Record<string, number | null>;

export type Plan = keyof typeof PLANS;

const WINDOW_MS = 60_000;

export type RateLimit = {
  /**
   * Counts a request.
   * @returns 0 if it may pass, else the number of seconds until the next one may.
   */
  take(): number;
};

/**
 * Counts requests in windows of one minute. A window begins with its first request.
 *
 * @param now returns the time in milliseconds.
 */
export function createRateLimit(requestsAMinute: number, now: () => number): RateLimit {
  let endsAt = Number.NEGATIVE_INFINITY;
  let taken = 0;
  return {
    take() {
      const at = now();
      // If the clock was set back, a new window begins.
      if (at >= endsAt || at < endsAt - WINDOW_MS) {
        endsAt = at + WINDOW_MS;
        taken = 0;
      }
      taken += 1;
      return taken <= requestsAMinute ? 0 : Math.max(1, Math.ceil((endsAt - at) / 1000));
    },
  };
}
