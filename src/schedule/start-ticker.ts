import { schedule } from 'node-cron';

/** A slot begins so late at most. A look is a handful of small queries. */
const EVERY_5_SECONDS = '*/5 * * * * *';

/** Three ticks that did not come. */
const SILENT_FOR_MS = 15_000;

export type Ticker = { stop(): void };

/**
 * Ticks every five seconds, and once at once. node-cron keeps the beat by the clock of the machine, and waits that clock out when somebody
 * puts it back: so a look at the monotonic clock winds it up again when it falls silent.
 */
export function startTicker(onTick: () => void): Ticker {
  let tickedAt = performance.now();
  function tick(): void {
    tickedAt = performance.now();
    onTick();
  }
  // A tick that came late or not at all is of no interest: what has come is read from the database.
  const task = schedule(EVERY_5_SECONDS, tick, { logger: SILENT, suppressMissedWarning: true });
  const guard = setInterval(async () => {
    if (performance.now() - tickedAt < SILENT_FOR_MS) return;
    await task.stop();
    await task.start();
    tick();
  }, SILENT_FOR_MS / 3);
  tick();
  return {
    stop() {
      clearInterval(guard);
      void task.destroy();
    },
  };
}

const SILENT = { info: ignore, warn: ignore, error: ignore, debug: ignore };

function ignore(): void {}
