import type { Client } from '../../src/api/client.ts';
import { type Ask, type Budget, createAsk } from '../../src/delivery/ask.ts';
import type { RunStop } from '../../src/model/run.ts';
import { type OpenRequestGate, openRequestGate } from '../../src/pipeline/open-request-gate.ts';
import type { Run } from '../../src/pipeline/run.ts';

/** Asking the service, within its limits and the run's budget, as long as the run goes on. */
export type Questions = Pick<OpenRequestGate, 'forEach' | 'close'> & {
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

/** Opens the gate of a run that only asks. */
export function openQuestions(run: Run, { client, budget, clock }: QuestionsOptions): Questions {
  const { gate, forEach, close } = openRequestGate(run, client);
  return {
    ask: createAsk({ client, gate, budget, clock }),
    budget,
    clock,
    forEach,
    stopped: gate.stopped,
    isOpen: () => gate.stopped() === null && budget.left() > 0,
    close,
  };
}
