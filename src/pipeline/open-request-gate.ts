import type { Client } from '../api/client.ts';
import { createRequestGate, type RequestGate } from '../delivery/request-gate.ts';
import { workThrough } from '../delivery/work-through.ts';
import { createSharedRateLimiter } from '../schedule/shared-rate-limiter.ts';
import type { Run } from './run.ts';

/** Shorter waits are not reported. */
const WORTH_A_WORD_MS = 2_000;

/** The part of the account's limits that a gate may use. */
export type RequestGateShare = {
  readonly priority: 'run' | 'backfill';
  /** The gate's own limit, within that of the account. 0 means that it has no limit of its own. */
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
 * Opens the gate through which a run sends requests. It applies the configured limits, which all processes of
 * the account share, until the run has to end.
 *
 * @param share defaults to the whole limit.
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

/** The shared rate limiter enforces the limit of the account. A run has no limit of its own. */
function wholeLimit({ config }: Run): RequestGateShare {
  return { priority: 'run', requestsPerSecond: 0, concurrency: config.api.concurrency };
}
