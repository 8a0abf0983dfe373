/** First wait after an attempt that failed; doubles each time. */
const FIRST_WAIT_MS = 10_000;
/** A channel that was away for an hour is tried again within one. */
const LONGEST_WAIT_MS = 3_600_000;
/** What was to be said a day ago is in the history, in `status` and in the next reminder. */
export const GIVE_UP_AFTER_MS = 86_400_000;

/**
 * When a delivery that failed is tried again. Pure.
 *
 * @param attempt how often it was tried; 1 for the first.
 * @param dueAt when it was to be sent.
 * @param retryAfterMs how long the channel asks to wait; null where it does not say.
 * @returns null: never, it is given up.
 */
export function nextAttempt(options: {
  readonly attempt: number;
  readonly dueAt: Date;
  readonly now: Date;
  readonly retryAfterMs: number | null;
}): Date | null {
  const { attempt, dueAt, now, retryAfterMs } = options;
  const ownMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 20));
  const next = now.getTime() + Math.max(ownMs, retryAfterMs ?? 0);
  return next - dueAt.getTime() > GIVE_UP_AFTER_MS ? null : new Date(next);
}
