import { schedule } from 'node-cron';

/** Slots are whole minutes. */
const EVERY_MINUTE = '* * * * *';

/** Often enough to keep a lease, and that a slot that node-cron slept through is not late. */
const TICK_MS = 5_000;

export type Ticker = { stop(): void };

/**
 * Ticks at once, on every full minute, and every five seconds in between. node-cron keeps the minutes, by the clock of the machine: it
 * waits that clock out when it is put back. The tick in between is on the monotonic clock, so a slot is five seconds late at most
 * whatever happens to the other one. (node-cron must not have the tick: after a sleep it looks at each tick that it missed.)
 */
export function startTicker(onTick: () => void): Ticker {
  // A minute that came late or not at all is of no interest: what has come is read from the database.
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
