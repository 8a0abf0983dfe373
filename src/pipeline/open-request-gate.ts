import pLimit from 'p-limit';
import type { Client } from '../api/client.ts';
import { createRequestGate, type RequestGate } from '../delivery/request-gate.ts';
import { createSharedRateLimiter } from '../schedule/shared-rate-limiter.ts';
import type { Run } from './run.ts';

/** Waits shorter than this are not worth a word. */
const WORTH_A_WORD_MS = 2_000;

/** What a gate may take of the limits of the account. */
export type RequestGateShare = {
  readonly priority: 'run' | 'backfill';
  /** Its own limit, within that of the account; 0 means that it has none of its own. */
  readonly requestsPerSecond: number;
  readonly concurrency: number;
};

export type OpenRequestGate = {
  readonly gate: RequestGate;
  /**
   * Works through items, as many at a time as the gate allows, until it is stopped. What an item's work throws stops the gate, and is
   * thrown when the others that were begun have ended.
   */
  forEach<Item>(
    items: Iterable<Item> | AsyncIterable<Item>,
    work: (item: Item) => Promise<void>,
  ): Promise<void>;
  close(): void;
};

/**
 * Opens the gate on which a run sends: the limits of the configuration, which all processes of the account share, until the run is to end.
 *
 * @param share for a run all of it, unless it says otherwise.
 */
export function openRequestGate(
  run: Run,
  client: Client,
  share: RequestGateShare = wholeLimit(run),
): OpenRequestGate {
  const { concurrency, requestsPerSecond, priority } = share;
  const gate = createRequestGate({
    concurrency,
    requestsPerSecond,
    takeTurn: createSharedRateLimiter(run.db, {
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
  const drain = (): void => gate.stop({ kind: 'drained' });
  run.draining.addEventListener('abort', drain);
  if (run.draining.aborted) drain();
  return {
    gate,
    async forEach(items, work) {
      const iterator =
        Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
      const places = pLimit(gate.concurrency());
      const failures: unknown[] = [];
      async function workOn(): Promise<void> {
        while (gate.stopped() === null) {
          const next = await iterator.next();
          if (next.done === true) return;
          await places(work, next.value);
          places.concurrency = gate.concurrency();
        }
      }
      const worker = (): Promise<void> =>
        workOn().catch((error: unknown) => {
          failures.push(error);
          gate.stop({ kind: 'unavailable', message: 'the run failed' });
        });
      await Promise.all(Array.from({ length: concurrency }, worker));
      if (failures.length > 0) throw failures[0];
    },
    close: () => run.draining.removeEventListener('abort', drain),
  };
}

/** The limit of the account is kept by the turns; a run has none of its own. */
function wholeLimit({ config }: Run): RequestGateShare {
  return { priority: 'run', requestsPerSecond: 0, concurrency: config.api.concurrency };
}
