import pLimit from 'p-limit';
import type { Client } from '../api/client.ts';
import { createLane, type Lane } from '../post/lane.ts';
import { createRequestTurns } from '../schedule/request-turns.ts';
import type { Run } from './run.ts';

/** Waits shorter than this are not worth a word. */
const WORTH_A_WORD_MS = 2_000;

/** What a lane may take of the limits of the account. */
export type LaneShare = {
  readonly priority: 'run' | 'backfill';
  /** Its own limit, within that of the account; 0 means that it has none of its own. */
  readonly requestsPerSecond: number;
  readonly concurrency: number;
};

export type OpenLane = {
  readonly lane: Lane;
  /**
   * Works through items, as many at a time as the lane allows, until it is stopped. What an item's work throws stops the lane, and is
   * thrown when the others that were begun have ended.
   */
  forEach<Item>(
    items: Iterable<Item> | AsyncIterable<Item>,
    work: (item: Item) => Promise<void>,
  ): Promise<void>;
  close(): void;
};

/**
 * Opens the lane on which a run sends: the limits of the configuration, which all processes of the account share, until the run is to end.
 *
 * @param share for a run all of it, unless it says otherwise.
 */
export function openLane(run: Run, client: Client, share: LaneShare = wholeLimit(run)): OpenLane {
  const { concurrency, requestsPerSecond, priority } = share;
  const lane = createLane({
    concurrency,
    requestsPerSecond,
    takeTurn: createRequestTurns(run.db, {
      requestsPerSecond: run.config.api.requestsPerSecond,
      priority,
    }),
    isLeaseHeld: run.isLeaseHeld,
    probe: async () => {
      const answer = await client.exchange('account_hello');
      return answer.kind === 'answer' && answer.status === 200;
    },
    onWait: (reason, waitMs) => {
      if (waitMs >= WORTH_A_WORD_MS) run.progress.note(`Waiting ${Math.ceil(waitMs / 1000)} s: ${reason}.`);
    },
  });
  const drain = (): void => lane.stop({ kind: 'drained' });
  run.draining.addEventListener('abort', drain);
  if (run.draining.aborted) drain();
  return {
    lane,
    async forEach(items, work) {
      const iterator =
        Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
      const places = pLimit(lane.window());
      const failures: unknown[] = [];
      async function workOn(): Promise<void> {
        while (lane.stopped() === null) {
          const next = await iterator.next();
          if (next.done === true) return;
          await places(work, next.value);
          places.concurrency = lane.window();
        }
      }
      const worker = (): Promise<void> =>
        workOn().catch((error: unknown) => {
          failures.push(error);
          lane.stop({ kind: 'unavailable', message: 'the run failed' });
        });
      await Promise.all(Array.from({ length: concurrency }, worker));
      if (failures.length > 0) throw failures[0];
    },
    close: () => run.draining.removeEventListener('abort', drain),
  };
}

/** The limit of the account is kept by the turns; a run has none of its own. */
function wholeLimit({ config }: Run): LaneShare {
  return { priority: 'run', requestsPerSecond: 0, concurrency: config.api.concurrency };
}
