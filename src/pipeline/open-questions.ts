import type { Client } from '../api/client.ts';
import type { RunStop } from '../model/run.ts';
import { type Ask, type Budget, createAsk } from '../post/ask.ts';
import { type OpenLane, openLane } from './open-lane.ts';
import type { Run } from './run.ts';

/** Asking the service, within its limits and the run's budget, as long as the run goes on. */
export type Questions = Pick<OpenLane, 'forEach' | 'close'> & {
  readonly ask: Ask;
  readonly budget: Budget;
  /** The database's clock: comparable between machines. */
  readonly clock: () => Date;
  /** Why nothing more is asked; null while there is. A used budget is no stop. */
  stopped(): RunStop | null;
  /** Whether anything more can be asked. */
  isOpen(): boolean;
};

export type QuestionsOptions = {
  readonly client: Client;
  readonly budget: Budget;
  readonly clock: () => Date;
};

/** Opens the lane of a run that only asks. */
export function openQuestions(run: Run, { client, budget, clock }: QuestionsOptions): Questions {
  const { lane, forEach, close } = openLane(run, client);
  return {
    ask: createAsk({ client, lane, budget, clock }),
    budget,
    clock,
    forEach,
    stopped: lane.stopped,
    isOpen: () => lane.stopped() === null && budget.left() > 0,
    close,
  };
}
