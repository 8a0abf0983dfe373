import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ExchangeInput } from '../api/client.ts';
import type { OperationName } from '../api/contract.ts';
import type { Exchange } from '../model/http/exchange.ts';
import type { Outcome } from '../model/ledger.ts';
import { backoffMs } from './backoff.ts';
import { classify, type Said } from './classify.ts';
import type { RequestGate } from './request-gate.ts';

/** A request without a clear answer is sent so many times more in a run; then it waits for the next run. */
const RETRIES = 3;

export type Repeatable = {
  readonly operation: OperationName;
  readonly input: ExchangeInput;
  /** What a 2xx says. */
  readonly read: (text: string) => Said;
};

export type RepeatableSender = {
  readonly client: Pick<Client, 'exchange'>;
  readonly gate: RequestGate;
  /** Called right before each request; false: it must not be sent. */
  readonly begin?: () => boolean;
};

/** What came of a request in the end. */
export type Sent = { readonly outcome: Outcome; readonly exchange: Exchange };

/**
 * Sends a request that the contract calls repeatable, within the limits of a gate, until the answer is clear. The one place where a request
 * is repeated that may have been processed.
 *
 * @returns null when it was not to be sent: the gate was stopped, or `begin` said no.
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
    if (isClear || attempt > RETRIES || gate.stopped() !== null) return { outcome, exchange };
    // A throttled gate rests by itself; a lost answer rests as a request that was never sent.
    const rested = outcome.kind === 'in_doubt' ? ({ kind: 'not_written', reason: '' } as const) : outcome;
    await sleep(backoffMs(attempt, rested), undefined, { signal: gate.signal }).catch(() => {});
  }
}
