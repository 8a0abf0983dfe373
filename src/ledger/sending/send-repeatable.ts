import { setTimeout as sleep } from 'node:timers/promises';
import pRetry, { AbortError } from 'p-retry';
import type { Exchange } from '../../core/http/exchange.ts';
import type { Outcome } from '../../core/ledger.ts';
import type { Client, ExchangeInput } from '../../service/client.ts';
import type { OperationName } from '../../service/contract.ts';
import { backoffMs } from './backoff.ts';
import { type ClassifyOptions, classify } from './classify.ts';
import { type RequestGate, reasonOf } from './request-gate.ts';

/**
 * Number of times that a request without a clear answer is repeated within a run. After that it waits for the
 * next run.
 */
const RETRIES = 3;

export type Repeatable = {
  readonly operation: OperationName;
  readonly input: ExchangeInput;
  /** Reads the body of a 2xx answer. */
  readonly read: ClassifyOptions['read'];
  /** True if the request can be divided, so that whoever finds it too large (413) has refused it. */
  readonly isDivisible?: boolean;
};

export type RepeatableSender = {
  readonly client: Pick<Client, 'exchange'>;
  readonly gate: RequestGate;
  /** Called right before each request. If it returns false, the request is not sent. */
  readonly begin?: () => boolean;
};

/** The final outcome of a request, and its last exchange. */
export type Sent = { readonly outcome: Outcome; readonly exchange: Exchange };

/** A request got no clear answer. The only failure that p-retry may retry. */
class NoClearAnswer extends Error {
  readonly sent: Sent;

  constructor(sent: Sent) {
    super('no clear answer');
    this.sent = sent;
  }
}

/**
 * Sends a request that the contract declares repeatable, within the limits of a gate, until its outcome is
 * clear. Only this function repeats a request that may have been processed. An entry of the ledger never
 * comes here (`post-entries.ts`).
 *
 * @returns null if it was not sent, because the gate was stopped or `begin` returned false.
 */
export async function sendRepeatable(
  { client, gate, begin = () => true }: RepeatableSender,
  { operation, input, read, isDivisible = false }: Repeatable,
): Promise<Sent | null> {
  async function attempt(): Promise<Sent | null> {
    if (!(await gate.enter()) || !begin()) return null;
    const exchange = await client.exchange(operation, input);
    const outcome = classify(exchange, { isRepeatable: true, isDivisible, read, now: new Date() });
    gate.report(outcome);
    const sent = { outcome, exchange };
    if (outcome.kind === 'accepted' || outcome.kind === 'rejected') return sent;
    const failure = new NoClearAnswer(sent);
    throw gate.stopped() === null ? failure : new AbortError(failure);
  }

  try {
    return await pRetry(attempt, {
      retries: RETRIES,
      // The wait is ours. p-retry, given the signal of the gate, would discard an answer that arrives while
      // the gate stops.
      minTimeout: 0,
      shouldRetry: ({ error }) => error instanceof NoClearAnswer,
      onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
        if (!(error instanceof NoClearAnswer) || retriesLeft === 0) return;
        const { outcome } = error.sent;
        // A throttled gate pauses by itself. After a lost answer, wait as after a request that was never written.
        const rested = outcome.kind === 'in_doubt' ? ({ kind: 'not_written', reason: '' } as const) : outcome;
        await sleep(backoffMs(attemptNumber, rested), undefined, { signal: gate.signal }).catch(() => {});
      },
    });
  } catch (error) {
    if (!(error instanceof NoClearAnswer)) throw error;
    gate.leaveUnanswered(reasonOf(error.sent.outcome));
    return error.sent;
  }
}

/** Punctuation around a word in a message: quotes, brackets, a full stop. */
const AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * Removes every word from a message that equals the local part (before the @) of one of the addresses. Whole
 * addresses are masked where the text is read, but a service that quotes only the local part still names a
 * person.
 */
export function withoutAddresses(message: string, addresses: readonly string[]): string {
  const names = new Set(addresses.map((address) => bare(address.slice(0, address.lastIndexOf('@')))));
  return message.replace(/\S+/g, (word) => {
    const core = word.replaceAll(AROUND, '');
    return core !== '' && names.has(core.toLowerCase()) ? word.replace(core, '***') : word;
  });
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(AROUND, '');
}
