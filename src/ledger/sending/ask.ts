import type { ListPage, Verdict } from '../../core/http/exchange.ts';
import type { Client, ExchangeInput } from '../../service/client.ts';
import type { OperationName } from '../../service/contract.ts';
import { judge } from '../../service/description/verdict.ts';
import type { Said } from './classify.ts';
import type { RequestGate } from './request-gate.ts';
import { type Sent, sendRepeatable } from './send-repeatable.ts';

/** The result of a read-only request to the service. Returned, never thrown. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly text: string;
      /** The list in the answer. Omitted: there is none. */
      readonly list?: ListPage;
      readonly fetchedAt: Date;
    }
  /** A status that means so, with a reason in JSON: the service itself confirms that the object does not exist. */
  | { readonly kind: 'not_found'; readonly problem: string; readonly fetchedAt: Date }
  | { readonly kind: 'failed'; readonly problem: string; readonly fetchedAt: Date }
  /** The gate is stopped, or the budget is used up. */
  | { readonly kind: 'not_asked' };

/** Sends a read-only request, and repeats it a few times if it gets no answer. */
export type Ask = (operation: OperationName, input?: ExchangeInput) => Promise<Answer>;

/** The number of requests that may still be sent. */
export type Budget = {
  /** Takes one request from the budget. Returns false if none is left. */
  take(): boolean;
  /** Counts requests that other processes sent. */
  spend(requests: number): void;
  left(): number;
  used(): number;
};

export type AskOptions = {
  readonly client: Pick<Client, 'exchange'>;
  readonly gate: RequestGate;
  readonly budget: Budget;
  /** Returns the current time; called before each request. */
  readonly clock: () => Date;
};

export function createBudget(requests: number): Budget {
  let used = 0;
  return {
    take() {
      if (used >= requests) return false;
      used += 1;
      return true;
    },
    spend(sent) {
      used += sent;
    },
    left: () => Math.max(0, requests - used),
    used: () => used,
  };
}

/**
 * Creates a function that sends requests within the limits of a gate and a budget. Only for operations that
 * the contract declares repeatable.
 */
export function createAsk({ client, gate, budget, clock }: AskOptions): Ask {
  return async (operation, input = {}) => {
    let fetchedAt = clock();
    const begin = (): boolean => {
      fetchedAt = clock();
      return budget.take();
    };
    const sent = await sendRepeatable({ client, gate, begin }, { operation, input, read });
    if (sent === null || gate.stopped()?.kind === 'unauthorised') return { kind: 'not_asked' };
    const answer = toAnswer(sent, fetchedAt);
    // `sendRepeatable` has counted the others.
    if (answer.kind === 'failed' && sent.outcome.kind === 'rejected') gate.leaveUnanswered(answer.problem);
    return answer;
  };
}

/** The caller reads the content of a 2xx answer, unless it says no. */
function read(_text: string, { kind, reason }: Verdict): Said {
  return kind === 'no' ? { kind: 'nothing', why: `that says no: ${reason}` } : { kind: 'taken' };
}

function toAnswer({ exchange, outcome }: Sent, fetchedAt: Date): Answer {
  if (exchange.kind === 'failure') return { kind: 'failed', problem: exchange.reason, fetchedAt };
  const { status, text, list, verdict = judge(exchange) } = exchange;
  if (outcome.kind === 'accepted') return { kind: 'answer', text, ...(list && { list }), fetchedAt };
  if (outcome.kind === 'throttled')
    return { kind: 'failed', problem: `HTTP ${status}: the service asks to slow down`, fetchedAt };
  if (outcome.kind === 'in_doubt' && status < 300)
    return { kind: 'failed', problem: outcome.reason, fetchedAt };
  const problem = verdict.reason === null ? `HTTP ${status}` : `HTTP ${status}: ${verdict.reason}`;
  return { kind: verdict.isNotFound && verdict.isOwnWord ? 'not_found' : 'failed', problem, fetchedAt };
}
