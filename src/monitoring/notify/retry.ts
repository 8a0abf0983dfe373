/** Wait after the first failed attempt. Doubles each time. */
const FIRST_WAIT_MS = 10_000;
/** A channel that was down for an hour is tried again within an hour. */
const LONGEST_WAIT_MS = 3_600_000;
/**
 * After a day, a notice is outdated. The problem is still in the history, in `status` and in the next
 * reminder.
 */
export const GIVE_UP_AFTER_MS = 86_400_000;

/**
 * Computes when a failed delivery is tried again. A pure function. p-retry cannot do this: a delivery waits in
 * the database, for longer than this process may live, and any process tries it again.
 *
 * @param options.attempt number of attempts so far; 1 after the first.
 * @param options.dueAt when it was due.
 * @param options.retryAfterMs wait that the channel asked for. Null if it did not. However long it is, the delivery
 * is tried once more before it is given up.
 * @returns null if the delivery is given up.
 */
export function nextAttempt(options: {
  readonly attempt: number;
  readonly dueAt: Date;
  readonly now: Date;
  readonly retryAfterMs: number | null;
}): Date | null {
  const { attempt, dueAt, now, retryAfterMs } = options;
  const ownMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 20));
  const own = now.getTime() + ownMs;
  const givenUp = dueAt.getTime() + GIVE_UP_AFTER_MS;
  const asked = Math.min(now.getTime() + (retryAfterMs ?? 0), givenUp - LONGEST_WAIT_MS);
  return own > givenUp ? null : new Date(Math.max(own, asked));
}
