import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ExchangeInput } from '../api/client.ts';
import type { OperationName } from '../api/contract.ts';
import type { Exchange } from '../model/http/exchange.ts';
import type { Outcome } from '../model/ledger.ts';
import { backoffMs } from './backoff.ts';
import { type ClassifyOptions, classify } from './classify.ts';
import type { RequestGate } from './request-gate.ts';

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
};

export type RepeatableSender = {
  readonly client: Pick<Client, 'exchange'>;
  readonly gate: RequestGate;
  /** Called right before each request. If it returns false, the request is not sent. */
  readonly begin?: () => boolean;
};

/** The final outcome of a request, and its last exchange. */
export type Sent = { readonly outcome: Outcome; readonly exchange: Exchange };

/**
 * Sends a request that the contract declares repeatable, within the limits of a gate, until its outcome is
 * clear. Only this function repeats a request that may have been processed.
 *
 * @returns null if it was not sent, because the gate was stopped or `begin` returned false.
 */
export async function sendRepeatable(
  { client, gate, begin = () => true }: RepeatableSender,
  { operation, input, read }: Repeatable,
): Promise<Sent | null> {
  for (let attempt = 1; ; attempt += 1) {
    if (!(await gate.enter()) || !begin()) return null;
    const exchange = await client.exchange(operation, input);
    const outcome = classify(exchange, { isRepeatable: true, read, now: new Date() });
    gate.report(outcome);
    const isClear = outcome.kind === 'accepted' || outcome.kind === 'rejected';
    const isOver = isClear || attempt > RETRIES || gate.stopped() !== null;
    if (isOver && !isClear) gate.leaveUnanswered(outcome);
    if (isOver) return { outcome, exchange };
    // A throttled gate pauses by itself. After a lost answer, wait as after a request that was never written.
    const rested = outcome.kind === 'in_doubt' ? ({ kind: 'not_written', reason: '' } as const) : outcome;
    await sleep(backoffMs(attempt, rested), undefined, { signal: gate.signal }).catch(() => {});
  }
}
