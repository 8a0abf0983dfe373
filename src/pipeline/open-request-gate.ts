import type { Client } from '../api/client.ts';
import { createRequestGate, type RequestGate } from '../delivery/request-gate.ts';
import { workThrough } from '../delivery/work-through.ts';
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
  /** See `workThrough`. */
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
    forEach: (items, work) => workThrough(items, { gate, work }),
    close: () => run.draining.removeEventListener('abort', drain),
  };
}

/** The limit of the account is kept by the turns; a run has none of its own. */
function wholeLimit({ config }: Run): RequestGateShare {
  return { priority: 'run', requestsPerSecond: 0, concurrency: config.api.concurrency };
}
