import type { Database } from '../db/connect.ts';
import { makeDigest } from './digest.ts';
import { type ObserveOptions, observeProblems } from './observe-problems.ts';
import { recordProblems } from './record-problems.ts';
import { sendNotices } from './send-notices.ts';

/** Often enough that nobody waits for a notice, and a look at an index costs the database nothing. */
const SEND_EVERY_MS = 5_000;
/** What changes while no run ends: a slot is late, a disk fills, a person settles a doubt. */
const OBSERVE_EVERY_MS = 60_000;
/** A command must not be kept waiting by a channel that does not answer; what is left is sent by the next process. */
const END_WITHIN_MS = 5_000;

export type NotifyOptions = ObserveOptions;

/** Observes, writes down what has changed, and sends what is due. */
async function notify(db: Database, options: NotifyOptions, signal: AbortSignal): Promise<void> {
  const observation = await observeProblems(db, options);
  await recordProblems(db, observation, options.config.notify);
  await makeDigest(db, { config: options.config, now: observation.at });
  await sendNotices(db, { config: options.config, signal });
}

/** The same at the end of a command, for a few seconds at most. Never throws: no run fails because of a notice. */
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
  /** Has the next look observe at once: a run has ended. */
  ask(): void;
  /** Ends after one more look, for a few seconds at most. */
  stop(): Promise<void>;
};

/** Observes and sends again and again, beside runs. A database that is away is asked again with the next look. */
export function keepNotices(
  db: Database,
  options: NotifyOptions & {
    /** False until the tables are there. */
    readonly isReady: () => boolean;
    /** Told once when looking begins to fail, and once when it works again. */
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
