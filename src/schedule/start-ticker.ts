import { schedule } from 'node-cron';

/** Slots are whole minutes. */
const EVERY_MINUTE = '* * * * *';

/** Frequent enough to renew a lease, and to start slots on time even if node-cron misses a minute. */
const TICK_MS = 5_000;

export type Ticker = { stop(): void };

/**
 * Ticks at once, on every full minute, and every five seconds in between. node-cron schedules the minutes by
 * the clock of the machine, and waits if that clock is set back. The ticks in between use the monotonic
 * clock, so a slot is at most five seconds late, whatever happens to the other clock. (node-cron must not
 * schedule those ticks: after a suspension it processes every tick that it missed.)
 */
export function startTicker(onTick: () => void): Ticker {
  // A late or missed minute does not matter, because each poll reads the slots that have come from the
  // database.
  const minutes = schedule(EVERY_MINUTE, onTick, { logger: SILENT, suppressMissedWarning: true });
  const timer = setInterval(onTick, TICK_MS);
  onTick();
  return {
    stop() {
      clearInterval(timer);
      void minutes.destroy();
    },
  };
}

const SILENT = { info: ignore, warn: ignore, error: ignore, debug: ignore };

function ignore(): void {}
