import type { Run } from '../../ops/run.ts';
import {
  type BackfillLimit,
  createBackfillRateLimiter,
  createSharedRateLimiter,
} from '../../ops/shared-rate-limiter.ts';
import type { Client } from '../../service/client.ts';
import { createRequestGate, type RequestGate } from './request-gate.ts';
import { workThrough } from './work-through.ts';

/** Shorter waits are not reported. */
const WORTH_A_WORD_MS = 2_000;

/** The share of the account's limits that a backfill may use. It posts only the entries that it has taken. */
export type BackfillShare = BackfillLimit & {
  /** Applies to each process that posts its orders. */
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
 * @param backfill null for a run, which may use the whole limit.
 */
export function openRequestGate(
  run: Pick<Run, 'config' | 'db' | 'isLeaseHeld' | 'progress' | 'draining'>,
  client: Pick<Client, 'exchange'>,
  backfill: BackfillShare | null = null,
): OpenRequestGate {
  const { concurrency, requestsPerSecond, description } = run.config.api;
  const gate = createRequestGate({
    concurrency: backfill?.concurrency ?? concurrency,
    takeTurn:
      backfill === null
        ? createSharedRateLimiter(run.db, { requestsPerSecond, priority: 'run' })
        : createBackfillRateLimiter(run.db, { ...backfill, accountRequestsPerSecond: requestsPerSecond }),
    isLeaseHeld: run.isLeaseHeld,
    noCreditStatuses: description.answers.no_credits,
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
