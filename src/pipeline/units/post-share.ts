import { setTimeout as sleep } from 'node:timers/promises';
import { countReady, countSending, type EntryRange, readyRanges } from '../../ledger/ready-entries.ts';
import { reapLost } from '../../ledger/reap.ts';
import type { RunStop } from '../../model/run.ts';
import type { UnitEnd } from '../../model/work.ts';
import type { OpenLedger } from '../open-ledger.ts';
import { postReady } from '../posting/post-ready.ts';
import { recoverPreviousRuns } from '../posting/recover-previous-runs.ts';
import type { Run } from '../run.ts';
import { openUnitLedger, shareSize, throwIfOnlyHere, toUnitAccount } from './share.ts';
import type { UnitRun } from './unit-run.ts';

type Share = EntryRange & { readonly entries: number };

/**
 * Has workers post the ready entries, one share each.
 *
 * @returns why posting stopped early (null if it did not), and the shares that no worker has started, which
 * the run must post itself. The whole result is null if there is no worker, so that nothing was started.
 */
export async function spreadPosting(
  run: Run,
  { accountId, ledgerId }: OpenLedger,
): Promise<{ readonly stop: RunStop | null; readonly left: readonly EntryRange[] } | null> {
  const { spread, db, job, nouns, progress, options, draining, config } = run;
  if (spread === undefined) return null;
  const backlog = { job: job.name, backfillId: null, limit: options.limit };
  let shares: readonly Share[] = [];
  let stop: RunStop | null = null;
  const ends = await spread({
    kind: 'post-share',
    async cut(places) {
      const { ready } = await countReady(db, backlog);
      const orders = Math.min(ready, options.limit ?? ready);
      const size = shareSize(config.api, { requests: orders, places });
      shares = await readyRanges(db, { ...backlog, size });
      const label = `Posting ${nouns.items}`;
      if (shares.length > 1) progress.begin({ name: 'post', label, unit: nouns.items, total: orders });
      const account = toUnitAccount(run, { accountId, ledgerId });
      return shares.map(({ from, to }) => ({ from, to, ...account }));
    },
    ...{ signal: draining, isLeaseHeld: run.isLeaseHeld },
    onProgress: (posted) => progress.advance(posted),
    onEnd(end) {
      if (end.kind === 'done') for (const note of end.result.notes) progress.note(note);
      stop ??= stopOf(end);
      return stop !== null;
    },
  });
  if (ends === null) return null;
  await reapGone(run);
  if (draining.aborted) return { stop: stop ?? { kind: 'drained' }, left: [] };
  return { stop, left: stop === null ? shares.filter((_, index) => ends[index]?.kind === 'left') : [] };
}

/** The reason why one worker cannot post applies to the others too, unless the worker died. */
function stopOf(end: UnitEnd): RunStop | null {
  if (end.kind === 'done') return (end.result.stop as RunStop | null | undefined) ?? null;
  if (end.kind === 'failed') return { kind: 'unavailable', message: end.problem.message };
  if (end.kind === 'given_up')
    return { kind: 'units_given_up', message: `A share of the ready orders was not posted. ${end.message}` };
  return null;
}

const LOOK_EVERY_MS = 500;

/**
 * Waits until the claims of a dead worker become doubts, which happens when its lease expires, so that the
 * report of this run includes them.
 */
async function reapGone({ db, job, config, draining }: Run): Promise<void> {
  const until = performance.now() + config.api.leaseSeconds * 1_000 + LOOK_EVERY_MS;
  while ((await countSending(db, job.name)) > 0 && performance.now() < until && !draining.aborted) {
    await reapLost(db);
    await sleep(LOOK_EVERY_MS, undefined, { signal: draining }).catch(() => {});
  }
}

/** Performs the unit `post-share`: posts a range of the ready entries of a job. */
export async function postShare({ run, unit: { payload } }: UnitRun): Promise<{ stop: RunStop | null }> {
  const { client, ledger } = await openUnitLedger(run, payload);
  await recoverPreviousRuns(run, ledger);
  const range = { from: String(payload.from), to: String(payload.to) };
  const stop = await postReady(run, { client, ledger, backfill: null, range });
  throwIfOnlyHere(stop);
  return { stop };
}
