/** How the clock stands, as `/_sandbox/clock` shows it and a snapshot keeps it. */
export type ClockState = {
  /** How far it is ahead of the machine's, in milliseconds; negative: behind. */
  readonly aheadMs: number;
  /** The machine's time at which it was stopped; null: it runs. */
  readonly stoppedAtMs: number | null;
};

/** The time of the sandbox, by which everything in it happens. */
export type Clock = {
  /** Unix milliseconds. */
  now(): number;
  state(): ClockState;
  /** Moves it; what became due meanwhile happens at once. */
  set(state: ClockState): void;
  /** Does something once the clock says so. @returns how to call it off. */
  schedule(dueAtMs: number, act: () => void): () => void;
};

/** The machine's time. */
export const REAL_TIME: ClockState = { aheadMs: 0, stoppedAtMs: null };

/** A timer takes no longer wait; it is then set again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A clock that runs with the machine's until it is set. Nothing that waits for it keeps the process alive. */
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
