import type { Verdict } from '../../src/core/http/exchange.ts';
import { configurationError, type KnownError } from '../../src/core/known-error.ts';
import type { Outcome } from '../../src/core/ledger.ts';
import {
  type BatchAnswer,
  type Refusal,
  readClock,
  settleBatches,
  splitBatch,
  wasAccepted,
} from '../../src/intake/customers/settle-batches.ts';
import {
  type BatchRange,
  countWaiting,
  type WaitingBatch,
  waitingBatches,
} from '../../src/intake/customers/waiting-batches.ts';
import { groupCommit } from '../../src/ledger/group-commit.ts';
import { readBatchAnswer } from '../../src/ledger/sending/classify.ts';
import type { OpenRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { sendRepeatable, withoutAddresses } from '../../src/ledger/sending/send-repeatable.ts';
import type { Run } from '../../src/ops/run.ts';
import { inSpan } from '../../src/ops/spans.ts';
import type { Client } from '../../src/service/client.ts';
import type { IdentifyCustomersSettings } from './settings.ts';

/** A refused batch with a single address, while it is not yet certain that the address is the cause. */
type Suspect = {
  readonly batch: WaitingBatch;
  readonly refusal: Refusal;
  /** By the monotonic clock of this process, in milliseconds. */
  readonly refusedAt: number;
  /**
   * An acceptance in another process proves that the address is the cause if it was recorded after this time,
   * by the clock of the database: it then began after the refusal. Null: at any time.
   */
  readonly since: string | null;
};

/** The phase of a run in which batches are submitted. */
export const SUBMITTING = { name: 'submit', label: 'Submitting customers', unit: 'customers' } as const;

/** The gate for the requests, and the batches to submit. */
type Submitting = OpenRequestGate & {
  /**
   * The batches of a unit of work. Omitted for all batches of the brand, which only a run submits. Other
   * processes may submit the other batches at the same time.
   */
  readonly range?: BatchRange;
};

/**
 * Cost of finding one bad address, in refused calls: at most 14 (halving 10,000 addresses), rounded up. As
 * many searches can run at a time as there are concurrent requests. If more calls than that are refused in a
 * row, with none accepted in between, the cause is not a single address.
 */
const SEARCH_COSTS = 16;

/**
 * Sends the waiting batches to `identify_influencers`, at least once each: a batch stays stored until the
 * service has accepted it. A refused batch is split in half repeatedly until the bad address is found, which
 * costs two calls per split.
 *
 * @returns the refusal if the service accepts no batch at all, as far as these batches show. The customers
 * then keep waiting. Null if it accepts some.
 */
export async function submitBatches(
  run: Run<IdentifyCustomersSettings>,
  client: Client,
  { gate, forEach, range }: Submitting,
): Promise<Refusal | null> {
  const { db, job, runId, progress, options } = run;
  const { brandId, sourceType } = job;
  const call = { runId, sourceType };
  const settle = groupCommit((answers: readonly BatchAnswer[]) => settleBatches(db, answers, call));
  const { api } = run.config;
  const refusalsAtMost = SEARCH_COSTS * (api.concurrency + 1);
  let suspects: Suspect[] = [];
  let isAccepting = false;
  let refusedInARow = 0;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let refusedAll: Refusal | null = null;

  function submit(batch: WaitingBatch): Promise<void> {
    const attributes = { 'influencer_sync.customers': batch.customers };
    return inSpan({ name: 'batch', attributes }, () => submitBatch(batch));
  }

  async function submitBatch(batch: WaitingBatch): Promise<void> {
    const begunAt = performance.now();
    const sent = await sendRepeatable({ client, gate }, toRequest(batch, sourceType));
    if (sent === null) return;
    const { outcome } = sent;
    if (outcome.kind === 'accepted') await settleAccepted(batch, { httpStatus: outcome.httpStatus, begunAt });
    else if (outcome.kind === 'rejected') await settleRefused(batch, outcome);
    // A batch without a clear answer waits for the next run.
  }

  async function settleAccepted(
    batch: WaitingBatch,
    { httpStatus, begunAt }: { httpStatus: number; begunAt: number },
  ): Promise<void> {
    await settle({ batch, state: 'accepted', httpStatus, message: null });
    progress.advance(batch.customers);
    isAccepting = true;
    refusedInARow = 0;
    // A request that was in flight at the time of the refusal shows nothing about the time after it.
    const proven = suspects.filter(({ refusedAt }) => refusedAt < begunAt);
    suspects = suspects.filter((suspect) => !proven.includes(suspect));
    for (const suspect of proven) await settleSuspect(suspect);
  }

  async function settleRefused(
    batch: WaitingBatch,
    outcome: Extract<Outcome, { kind: 'rejected' }>,
  ): Promise<void> {
    if (outcome.stopsGate) return;
    const message = withoutAddresses(outcome.message, JSON.parse(batch.influencerList) as string[]);
    const refusal = { httpStatus: outcome.httpStatus, message };
    refusedInARow += 1;
    const isAboutTheCall = refusal.httpStatus === 404 || refusal.httpStatus === 405;
    if (isAboutTheCall || refusedInARow > refusalsAtMost) {
      refusedAll ??= refusal;
      gate.stop({ kind: 'unavailable', message: `the service refuses every batch: ${refusal.message}` });
    } else if (batch.customers === 1) {
      const refusedAt = performance.now();
      const since = range === undefined ? null : await readClock(db, { plusMs: api.timeoutSeconds * 1_000 });
      suspects.push({ batch, refusal, refusedAt, since });
    } else {
      const at = Math.ceil(batch.customers / 2);
      for (const half of await splitBatch(db, batch, { at, refusal, call })) await submit(half);
    }
  }

  /**
   * Settles suspects if batches that other processes have sent show that the service accepts customers.
   * @returns the others, which keep waiting.
   */
  async function settleProven(): Promise<readonly Suspect[]> {
    const unproven: Suspect[] = [];
    for (const suspect of suspects)
      if (await wasAccepted(db, { brandId, ...call, since: suspect.since })) await settleSuspect(suspect);
      else unproven.push(suspect);
    return unproven;
  }

  async function settleSuspect({ batch, refusal }: Suspect): Promise<void> {
    await settle({ batch, state: 'refused', ...refusal });
    progress.advance(1);
  }

  /** Submits a batch within the rest of `--limit`. A batch that exceeds the rest is split. */
  async function submitWithin(batch: WaitingBatch): Promise<void> {
    const takes = Math.min(left, batch.customers);
    left -= takes;
    if (takes <= 0) return;
    if (takes === batch.customers) return submit(batch);
    const [first] = await splitBatch(db, batch, { at: takes, refusal: null, call });
    if (first !== undefined) await submit(first);
  }

  const { customers } = await countWaiting(db, brandId);
  progress.begin({ ...SUBMITTING, total: Math.min(customers, left) });
  await forEach(waitingBatches(db, brandId, range), submitWithin);
  if (refusedAll !== null) return refusedAll;
  const [unproven] = await settleProven();
  // The run submits what a unit leaves, and then knows what all batches have shown.
  const isLeft = range !== undefined && isAccepting;
  return unproven === undefined || isLeft ? null : unproven.refusal;
}

function toRequest({ influencerList, brandId }: WaitingBatch, sourceType: string | null) {
  const label = sourceType === null ? '' : `,"source_type":${JSON.stringify(sourceType)}`;
  const body = `{"influencer_list":${influencerList},"brand_id":${brandId}${label}}`;
  return {
    operation: 'identify_influencers',
    input: { body },
    read: (text: string, verdict: Verdict) => readBatchAnswer(text, verdict, body),
    isDivisible: true,
  } as const;
}

/** The error of a run if the service accepts no batch at all. */
export function refusesAll(
  { brandId }: IdentifyCustomersSettings,
  { httpStatus, message }: Refusal,
): KnownError {
  return configurationError({
    code: 'customers_refused',
    message: `The service accepted no batch of customers (HTTP ${httpStatus}: ${message}).`,
    where: `brand ${brandId}`,
    help: 'Compare brand_id and source_type of the job with the service, then run it again.',
    safe: 'All customers keep waiting; none is lost.',
  });
}
