import type { RunStop } from '../../src/core/run.ts';
import { type Ask, type Budget, createAsk } from '../../src/ledger/sending/ask.ts';
import { type OpenRequestGate, openRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import type { Run } from '../../src/ops/run.ts';
import type { Client } from '../../src/service/client.ts';

/**
 * Sends requests to the service within its limits and the budget of the run, for as long as the run
 * continues.
 */
export type Questions = Pick<OpenRequestGate, 'forEach' | 'close'> & {
  readonly ask: Ask;
  readonly budget: Budget;
  /** The clock of the database, so that instants from different machines are comparable. */
  readonly clock: () => Date;
  /** Ends the requests of the run. */
  stop(stop: RunStop): void;
  /** Why no more requests are sent. Null while the run continues. A used budget is not a stop. */
  stopped(): RunStop | null;
  /** Returns true while more requests can be sent. */
  isOpen(): boolean;
};

export type QuestionsOptions = {
  readonly client: Client;
  readonly budget: Budget;
  readonly clock: () => Date;
};

/** Opens the request gate of a run that only reads from the service. */
export function openQuestions(run: Run, { client, budget, clock }: QuestionsOptions): Questions {
  const { gate, forEach, close } = openRequestGate(run, client);
  return {
    ask: createAsk({ client, gate, budget, clock }),
    budget,
    clock,
    forEach,
    stop: gate.stop,
    stopped: gate.stopped,
    isOpen: () => gate.stopped() === null && budget.left() > 0,
    close,
  };
}
