import pLimit from 'p-limit';
import type { Client } from '../api/client.ts';
import type { RunStop } from '../model/run.ts';
import { type Ask, type Budget, createAsk } from '../post/ask.ts';
import { createLane } from '../post/lane.ts';
import { createRequestTurns } from '../schedule/request-turns.ts';
import type { Run } from './run.ts';

/** Waits shorter than this are not worth a word. */
const WORTH_A_WORD_MS = 2_000;

/** Asking the service, within its limits and the run's budget, as long as the run goes on. */
export type Questions = {
  readonly ask: Ask;
  readonly budget: Budget;
  /** The database's clock: comparable between machines. */
  readonly clock: () => Date;
  /** Works through items, as many at a time as the lane allows. */
  forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void>;
  /** Why nothing more is asked; null while there is. A used budget is no stop. */
  stopped(): RunStop | null;
  /** Whether anything more can be asked. */
  isOpen(): boolean;
  stop(reason: RunStop): void;
  close(): void;
};

export type QuestionsOptions = {
  readonly client: Client;
  readonly budget: Budget;
  readonly clock: () => Date;
};

/** Opens the lane of a run that only asks. */
export function openQuestions(run: Run, { client, budget, clock }: QuestionsOptions): Questions {
  const { concurrency, requestsPerSecond } = run.config.api;
  const lane = createLane({
    concurrency,
    // The limit of the account is kept by the turns, which all its processes share.
    requestsPerSecond: 0,
    ...(requestsPerSecond === 0
      ? {}
      : { takeTurn: createRequestTurns(run.db, { requestsPerSecond, priority: 'run' }) }),
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
  const places = pLimit(lane.window());
  const askOnce = createAsk({ client, lane, budget, clock });
  return {
    async ask(operation, input) {
      const answer = await askOnce(operation, input);
      if (places.concurrency !== lane.window()) places.concurrency = lane.window();
      return answer;
    },
    budget,
    clock,
    forEach: async (items, work) => {
      await places.map(items, work);
    },
    stopped: () => lane.stopped(),
    stop: lane.stop,
    isOpen: () => lane.stopped() === null && budget.left() > 0,
    close: () => run.draining.removeEventListener('abort', drain),
  };
}
