/** Requests a minute that an account may send, by plan. The service says no numbers; 4 and 8 a second have been reported. */
export const PLANS = { off: null, standard: 240, plus: 480 } as const satisfies Record<string, number | null>;

export type Plan = keyof typeof PLANS;

const WINDOW_MS = 60_000;

export type RateLimit = {
  /** Counts a request. @returns 0 where it may pass, else the seconds after which the next one may. */
  take(): number;
};

/**
 * Counts requests in windows of a minute, each of which begins with its first request.
 *
 * @param now milliseconds.
 */
export function createRateLimit(requestsAMinute: number, now: () => number): RateLimit {
  let endsAt = Number.NEGATIVE_INFINITY;
  let taken = 0;
  return {
    take() {
      const at = now();
      // A clock that was set back begins anew.
      if (at >= endsAt || at < endsAt - WINDOW_MS) {
        endsAt = at + WINDOW_MS;
        taken = 0;
      }
      taken += 1;
      return taken <= requestsAMinute ? 0 : Math.max(1, Math.ceil((endsAt - at) / 1000));
    },
  };
}
