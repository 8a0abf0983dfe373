import type { Database } from '../db/connect.ts';
import { makeDigest } from './digest.ts';
import { type ObserveOptions, observeProblems } from './observe-problems.ts';
import { recordProblems } from './record-problems.ts';
import { sendNotices } from './send-notices.ts';

/** Frequent enough that notices are not delayed, and reading an index costs the database little. */
const SEND_EVERY_MS = 5_000;
/** For changes that happen while no run ends: a slot is late, a disk fills up, a person settles a doubt. */
const OBSERVE_EVERY_MS = 60_000;
/** Limits how long a channel that does not answer can delay a command. The next process sends the rest. */
const END_WITHIN_MS = 5_000;

export type NotifyOptions = ObserveOptions;

/** Observes problems, records the changes, and sends due notices. */
async function notify(db: Database, options: NotifyOptions, signal: AbortSignal): Promise<void> {
  const observation = await observeProblems(db, options);
  await recordProblems(db, observation, options.config.notify);
  await makeDigest(db, { config: options.config, now: observation.at });
  await sendNotices(db, { config: options.config, signal });
}

/**
 * Does the same at the end of a command, for a few seconds at most. Never throws, because a run must not fail
 * because of a notice.
 */
export async function notifyWithin(
  db: Database,
  options: NotifyOptions & { readonly onFailure: (error: unknown) => void },
): Promise<void> {
  const ending = new AbortController();
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    ending.abort();
    resolve();
  }, END_WITHIN_MS);
  try {
    await Promise.race([notify(db, options, ending.signal), isOver]);
  } catch (error) {
    options.onFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

export type KeptNotices = {
  /** Observes at once, for example because a run has ended. */
  ask(): void;
  /** Stops after one more observation, within a few seconds. */
  stop(): Promise<void>;
};

/**
 * Observes and sends repeatedly, while jobs run. If the database is unreachable, the next poll tries again.
 */
export function keepNotices(
  db: Database,
  options: NotifyOptions & {
    /** False until the tables exist. */
    readonly isReady: () => boolean;
    /** Called once when polling starts to fail and once when it works again. */
    readonly onFailure: (error: unknown) => void;
    readonly onRecovered: () => void;
  },
): KeptNotices {
  const stopping = new AbortController();
  let observedAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    if (!options.isReady()) return;
    const now = performance.now();
    try {
      if (now - observedAt >= OBSERVE_EVERY_MS) {
        observedAt = now;
        await notify(db, options, stopping.signal);
      } else await sendNotices(db, { config: options.config, signal: stopping.signal });
      if (isFailing) options.onRecovered();
      isFailing = false;
    } catch (error) {
      if (!isFailing) options.onFailure(error);
      isFailing = true;
    }
  }

  const poll = (): void => {
    looking ??= look().finally(() => {
      looking = null;
    });
  };
  const timer = setInterval(poll, SEND_EVERY_MS);
  timer.unref();
  return {
    ask() {
      observedAt = Number.NEGATIVE_INFINITY;
      poll();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await looking;
      if (options.isReady()) await notifyWithin(db, options);
    },
  };
}
