import { once } from 'node:events';
import type { Database } from '../../db/connect.ts';
import { ATTEMPT_WITHIN_MS, giveUpOld } from './deliveries.ts';
import { makeDigest } from './digest.ts';
import { type ObserveOptions, observeProblems } from './observe-problems.ts';
import { recordProblems } from './record-problems.ts';
import { sendNotices, sendToOne } from './send-notices.ts';

/** Frequent enough that notices are not delayed, and reading an index costs the database little. */
const SEND_EVERY_MS = 5_000;
/** For changes that happen while no run ends: a slot is late, a disk fills up, a person settles a doubt. */
const OBSERVE_EVERY_MS = 60_000;
/** Limits how long notices can delay a command. The next process sends the rest. */
const END_WITHIN_MS = 5_000;
/** Time limit for the answers to requests that were already started by then. */
const ANSWER_WITHIN_MS = ATTEMPT_WITHIN_MS + 1_000;

export type NotifyOptions = ObserveOptions;

async function observe(db: Database, options: NotifyOptions): Promise<void> {
  const observation = await observeProblems(db, options);
  await recordProblems(db, observation, options.config.notify);
  await makeDigest(db, { config: options.config, now: observation.at });
}

/**
 * Observes, records and sends at the end of a command. It begins nothing after five seconds, but waits for
 * the answers of channels that are slow. Never throws, because a run must not fail because of a notice.
 */
export async function notifyWithin(
  db: Database,
  options: NotifyOptions & { readonly onFailure: (error: unknown) => void },
): Promise<void> {
  const { config } = options;
  const ending = new AbortController();
  const waiting = new AbortController();
  const late = setTimeout(() => ending.abort(), END_WITHIN_MS);
  const over = setTimeout(() => waiting.abort(), END_WITHIN_MS + ANSWER_WITHIN_MS);
  try {
    await Promise.race([observe(db, options), once(ending.signal, 'abort')]);
    if (!ending.signal.aborted)
      await Promise.race([sendNotices(db, { config, signal: ending.signal }), once(waiting.signal, 'abort')]);
  } catch (error) {
    options.onFailure(error);
  } finally {
    clearTimeout(late);
    clearTimeout(over);
  }
}

export type KeptNotices = {
  /** Observes at once, for example because a run has ended. */
  ask(): void;
  /** Stops after one more observation, within a few seconds. */
  stop(): Promise<void>;
};

/** Observes and sends repeatedly, while jobs run. If the database is unreachable, the next poll tries again. */
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
  const atWork = new Map<string, Promise<void>>();

  /** Begins work, unless the same is still going on: a slow channel delays neither observing nor another channel. */
  function begin(name: string, work: () => Promise<unknown>): void {
    if (atWork.has(name)) return;
    const ended = work().then(
      () => {
        if (isFailing) options.onRecovered();
        isFailing = false;
      },
      (error: unknown) => {
        if (!isFailing) options.onFailure(error);
        isFailing = true;
      },
    );
    atWork.set(
      name,
      ended.finally(() => atWork.delete(name)),
    );
  }

  async function look(): Promise<void> {
    const now = performance.now();
    if (now - observedAt >= OBSERVE_EVERY_MS) {
      observedAt = now;
      await observe(db, options);
    }
    await giveUpOld(db);
    for (const channel of options.config.notify.channels)
      begin(`channel ${channel.name}`, () =>
        sendToOne(db, channel, { config: options.config, signal: stopping.signal }),
      );
  }

  const poll = (): void => {
    if (options.isReady()) begin('observing', look);
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
      while (atWork.size > 0) await Promise.all(atWork.values());
      if (options.isReady()) await notifyWithin(db, options);
    },
  };
}
