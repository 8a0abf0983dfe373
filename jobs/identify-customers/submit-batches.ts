import type { Client } from '../../src/api/client.ts';
import { readBatchAnswer } from '../../src/delivery/classify.ts';
import { sendRepeatable } from '../../src/delivery/send-repeatable.ts';
import { withoutAddresses } from '../../src/delivery/without-addresses.ts';
import {
  type BatchAnswer,
  type Refusal,
  settleBatches,
  splitBatch,
  wasEverAccepted,
} from '../../src/intake/customers/settle-batches.ts';
import {
  countWaiting,
  type WaitingBatch,
  waitingBatches,
} from '../../src/intake/customers/waiting-batches.ts';
import { groupCommit } from '../../src/ledger/group-commit.ts';
import { EXIT } from '../../src/model/exit-code.ts';
import { KnownError } from '../../src/model/known-error.ts';
import type { Outcome } from '../../src/model/ledger.ts';
import { inSpan } from '../../src/observe/spans.ts';
import type { OpenRequestGate } from '../../src/pipeline/open-request-gate.ts';
import type { Run } from '../../src/pipeline/run.ts';
import type { IdentifyCustomersSettings } from './settings.ts';

/** A refused batch with a single address, while it is not yet certain that the address is the cause. */
type Suspect = { readonly batch: WaitingBatch; readonly refusal: Refusal };

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
 * @throws KnownError `customers_refused` (exit 2) if the service accepts no batch at all.
 */
export async function submitBatches(
  run: Run<IdentifyCustomersSettings>,
  client: Client,
  { gate, forEach }: OpenRequestGate,
): Promise<void> {
  const { db, job, runId, progress, options } = run;
  const call = { runId, sourceType: job.sourceType };
  const settle = groupCommit((answers: readonly BatchAnswer[]) => settleBatches(db, answers, call));
  const refusalsAtMost = SEARCH_COSTS * (run.config.api.concurrency + 1);
  let suspects: Suspect[] = [];
  let acceptedOnce = await wasEverAccepted(db, { brandId: job.brandId, sourceType: job.sourceType });
  let refusedInARow = 0;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let refusedAll: Refusal | null = null;

  function submit(batch: WaitingBatch): Promise<void> {
    const attributes = { 'influencer_sync.customers': batch.customers };
    return inSpan({ name: 'batch', attributes }, () => submitBatch(batch));
  }

  async function submitBatch(batch: WaitingBatch): Promise<void> {
    const sent = await sendRepeatable({ client, gate }, toRequest(batch, job.sourceType));
    if (sent === null) return;
    const { outcome } = sent;
    if (outcome.kind === 'accepted') await settleAccepted(batch, outcome.httpStatus);
    else if (outcome.kind === 'rejected') await settleRefused(batch, outcome);
    // A batch without a clear answer waits for the next run.
  }

  async function settleAccepted(batch: WaitingBatch, httpStatus: number): Promise<void> {
    await settle({ batch, state: 'accepted', httpStatus, message: null });
    progress.advance(batch.customers);
    acceptedOnce = true;
    refusedInARow = 0;
    const proven = suspects;
    suspects = [];
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
      suspects.push({ batch, refusal });
    } else {
      const at = Math.ceil(batch.customers / 2);
      for (const half of await splitBatch(db, batch, { at, refusal, call })) await submit(half);
    }
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

  const { customers } = await countWaiting(db, job.brandId);
  const total = Math.min(customers, left);
  progress.begin({ name: 'submit', label: 'Submitting customers', unit: 'customers', total });
  await forEach(waitingBatches(db, job.brandId), submitWithin);
  if (refusedAll === null && acceptedOnce) for (const suspect of suspects) await settleSuspect(suspect);
  else refusedAll ??= suspects[0]?.refusal ?? null;
  if (refusedAll !== null) throw refusesAll(job, refusedAll);
}

function toRequest({ influencerList, brandId }: WaitingBatch, sourceType: string | null) {
  const label = sourceType === null ? '' : `,"source_type":${JSON.stringify(sourceType)}`;
  const body = `{"influencer_list":${influencerList},"brand_id":${brandId}${label}}`;
  return { operation: 'identify_influencers', input: { body }, read: readBatchAnswer } as const;
}

function refusesAll({ brandId }: IdentifyCustomersSettings, { httpStatus, message }: Refusal): KnownError {
  return new KnownError({
    code: 'customers_refused',
    message: `The service accepted no batch of customers (HTTP ${httpStatus}: ${message}).`,
    where: `brand ${brandId}`,
    help: 'Compare brand_id and source_type of the job with the service, then run it again.',
    safe: 'All customers keep waiting; none is lost.',
    exitCode: EXIT.configuration,
  });
}
