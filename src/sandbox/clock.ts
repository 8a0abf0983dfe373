/** The state of the clock, as `/_sandbox/clock` shows it and snapshots contain it. */
export type ClockState = {
  /** How far the clock is ahead of the machine's, in milliseconds; negative if it is behind. */
  readonly aheadMs: number;
  /** The machine's time at which the clock was stopped; null if it runs. */
  readonly stoppedAtMs: number | null;
};

/** The clock that everything in the sandbox uses. */
export type Clock = {
  /** Unix milliseconds. */
  now(): number;
  state(): ClockState;
  /** Sets the clock. Everything that is due by then happens at once. */
  set(state: ClockState): void;
  /**
   * Calls `act` when the clock reaches `dueAtMs`.
   * @returns a function that cancels the call.
   */
  schedule(dueAtMs: number, act: () => void): () => void;
};

/** The state of a clock that shows the machine's time. */
export const REAL_TIME: ClockState = { aheadMs: 0, stoppedAtMs: null };

/** The longest wait of a Node timer. Longer waits set the timer again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Creates a clock that follows the machine's until it is set. Its timers do not keep the process alive. */
export function createClock(): Clock {
  let state = REAL_TIME;
  const waiting = new Map<() => void, { readonly dueAtMs: number; timer: NodeJS.Timeout | null }>();

  const now = (): number => (state.stoppedAtMs ?? Date.now()) + state.aheadMs;

  function arm(act: () => void): void {
    const entry = waiting.get(act);
    if (entry === undefined) return;
    if (entry.timer !== null) clearTimeout(entry.timer);
    const waitMs = entry.dueAtMs - now();
    if (waitMs > 0 && state.stoppedAtMs !== null) {
      entry.timer = null;
      return;
    }
    entry.timer = setTimeout(
      () => {
        if (entry.dueAtMs > now()) return arm(act);
        waiting.delete(act);
        act();
      },
      Math.min(Math.max(0, waitMs), MAX_TIMER_MS),
    );
    entry.timer.unref();
  }

  return {
    now,
    state: () => state,
    set(next) {
      state = next;
      for (const act of [...waiting.keys()]) arm(act);
    },
    schedule(dueAtMs, act) {
      const once = (): void => act();
      waiting.set(once, { dueAtMs, timer: null });
      arm(once);
      return () => {
        const timer = waiting.get(once)?.timer ?? null;
        if (timer !== null) clearTimeout(timer);
        waiting.delete(once);
      };
    },
  };
}
