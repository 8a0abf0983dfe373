import { KnownError } from '../../src/core/known-error.ts';
import type { RunStop } from '../../src/core/run.ts';
import type { UnitPayload } from '../../src/core/work.ts';
import { countWaiting, waitingRanges } from '../../src/intake/customers/waiting-batches.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { openRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import type { Run } from '../../src/ops/run.ts';
import {
  openUnitLedger,
  requireSame,
  shareSize,
  spreadShares,
  throwIfOnlyHere,
  toUnitAccount,
} from '../../src/runs/workers/share.ts';
import type { IdentifyCustomersSettings } from './settings.ts';
import { SUBMITTING, submitBatches } from './submit-batches.ts';

type CustomersRun = Run<IdentifyCustomersSettings>;

/**
 * Has workers submit the waiting batches of the brand, a share each. What they leave still waits afterwards:
 * shares that no worker has begun, and customers about whom the batches of one share show too little. If a
 * service refuses all batches of a share, no further share begins. Only the run decides that the service
 * refuses everything. If a share was given up, workers submit the others, and the next run does the rest.
 *
 * @returns why the run must stop. Null if it must submit what still waits.
 * @throws KnownError the error of the first share that failed.
 */
export async function spreadBatches(run: CustomersRun, ledger: OpenLedger): Promise<RunStop | null> {
  const { db, progress, draining, config, job, options } = run;
  // A run with `--limit` counts the customers that it sends, one batch after the other.
  if (options.limit !== null) return null;
  const { brandId, sourceType } = job;
  const { stop, problem, givenUp } = await spreadShares(run, {
    kind: 'submit-batches',
    consequence: 'Some customers were not submitted.',
    async cut(places) {
      const { calls, customers } = await countWaiting(db, brandId);
      const size = shareSize(config.api, { requests: calls, places });
      const ranges = await waitingRanges(db, { brandId, size });
      if (ranges.length > 1) progress.begin({ ...SUBMITTING, total: customers });
      const forAll = { ...toUnitAccount(run, ledger), brandId, sourceType };
      return ranges.map(({ from, to }) => ({ ...forAll, from, to }));
    },
    isLast: (end) => end.kind === 'done' && end.result.isRefused === true,
  });
  if (problem !== null) throw new KnownError(problem);
  return stop ?? (draining.aborted ? { kind: 'drained' } : givenUp);
}

/**
 * Performs the unit `submit-batches`: submits a range of the waiting batches of the job's brand. Batches that
 * an earlier attempt has submitted no longer wait. Halves of a batch that it has split wait for the run.
 *
 * @returns `isRefused`: the service accepted none of these batches.
 */
export async function submitShare(
  run: CustomersRun,
  payload: UnitPayload,
): Promise<{ readonly stop: RunStop | null; readonly isRefused: boolean }> {
  const { brandId, sourceType } = run.job;
  requireSame('brand_id of the job', { here: brandId, there: payload.brandId });
  requireSame('source_type of the job', { here: sourceType, there: payload.sourceType });
  const { client } = await openUnitLedger(run, payload);
  const open = openRequestGate(run, client);
  const range = { from: String(payload.from), to: String(payload.to) };
  const refusal = await submitBatches(run, client, { ...open, range }).finally(open.close);
  if (refusal !== null) return { stop: null, isRefused: true };
  const stop = open.gate.stopped();
  throwIfOnlyHere(stop);
  return { stop, isRefused: false };
}
