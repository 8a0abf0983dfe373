import type { RunStop } from '../../src/core/run.ts';
import { type Answer, type Ask, type Budget, createAsk } from '../../src/ledger/sending/ask.ts';
import { type OpenRequestGate, openRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { type FoundList, findList } from '../../src/mirror/read-records.ts';
import type { Run } from '../../src/ops/run.ts';
import type { Client } from '../../src/service/client.ts';
import type { OperationName } from '../../src/service/contract.ts';
import { joinPages } from '../../src/service/description/pages.ts';

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

/** A list with all pages that could be read, or why its first page was not answered. */
export type AskedList =
  | Exclude<Answer, { readonly kind: 'answer' }>
  | { readonly kind: 'list'; readonly list: FoundList; readonly fetchedAt: Date };

export type ListQuestion = NonNullable<Parameters<typeof joinPages>[2]> & {
  readonly operation: OperationName;
  readonly query?: Readonly<Record<string, string>>;
};

/**
 * Asks for a list and for its further pages. If the list may go on nevertheless, its `problem` says so: what it lacks
 * may exist. The age of a list is that of its first page.
 */
export async function askPages(
  { ask }: Pick<Questions, 'ask'>,
  { operation, query = {}, ...options }: ListQuestion,
): Promise<AskedList> {
  const first = await ask(operation, { query });
  if (first.kind !== 'answer') return first;
  const { fetchedAt, text } = first;
  if (first.list === undefined) return { kind: 'list', list: findList(text), fetchedAt };
  const { items, problem } = await joinPages(
    first.list,
    async (page) => {
      const next = await ask(operation, { query: { ...query, ...page } });
      if (next.kind === 'not_asked') return { problem: 'no more requests may be sent' };
      if (next.kind !== 'answer') return next;
      return next.list ?? { problem: 'it contains no list' };
    },
    options,
  );
  const list = findList(text, items);
  return {
    kind: 'list',
    list: list.items === null || problem === null ? list : { ...list, problem },
    fetchedAt,
  };
}
