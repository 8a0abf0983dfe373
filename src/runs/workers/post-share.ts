import { setTimeout as sleep } from 'node:timers/promises';
import type { RunStop } from '../../core/run.ts';
import type { UnitPayload } from '../../core/work.ts';
import type { OpenLedger } from '../../ledger/open-ledger.ts';
import {
  type Backlog,
  countReady,
  countSending,
  type EntryRange,
  readyRanges,
} from '../../ledger/ready-entries.ts';
import { reapLost } from '../../ledger/reap.ts';
import type { BackfillShare } from '../../ledger/sending/open-request-gate.ts';
import { postReady } from '../../ledger/sending/post-ready.ts';
import { recoverPreviousRuns } from '../../ledger/sending/recover-previous-runs.ts';
import type { Run } from '../../ops/run.ts';
import {
  openUnitLedger,
  shareSize,
  spreadShares,
  throwIfOnlyHere,
  toUnitAccount,
  type UnitRun,
} from './share.ts';

type Share = EntryRange & { readonly entries: number };

export type SpreadPosting = {
  /** Why no process can post; null if it can. */
  readonly stop: RunStop | null;
  /** Shares that nobody posts in this run, because each worker that began them died. Null if there are none. */
  readonly givenUp: RunStop | null;
  readonly left: readonly EntryRange[];
};

/**
 * Has workers post the ready entries of a run or a backfill, one share each.
 *
 * @returns why posting stopped early (null if it did not), which shares were given up, and the shares that no
 * worker has started, which the run must post itself. The whole result is null if there is no worker, so that
 * nothing was started.
 */
export async function spreadPosting(
  run: Run,
  { ledger, backfill }: { ledger: OpenLedger; backfill: BackfillShare | null },
): Promise<SpreadPosting | null> {
  const { db, job, nouns, progress, options, draining, config } = run;
  const backlog = { job: job.name, backfillId: backfill?.backfillId ?? null, limit: options.limit };
  // A backfill without a limit of its own has 0.
  const requestsPerSecond = backfill?.requestsPerSecond || config.api.requestsPerSecond;
  let shares: readonly Share[] = [];
  const { ends, stop, problem, givenUp, areManyGivenUp } = await spreadShares(run, {
    kind: backfill === null ? 'post-share' : 'post-backfill',
    consequence: 'A share of the ready orders was not posted.',
    async cut(places) {
      const { ready } = await countReady(db, backlog);
      const orders = Math.min(ready, options.limit ?? ready);
      const size = shareSize({ requestsPerSecond }, { requests: orders, places });
      shares = await readyRanges(db, { ...backlog, size });
      const label = `Posting ${nouns.items}`;
      if (shares.length > 1) progress.begin({ name: 'post', label, unit: nouns.items, total: orders });
      const account = toUnitAccount(run, ledger);
      return shares.map(({ from, to }) => ({ from, to, ...account, ...backfill }));
    },
  });
  if (ends === null) return null;
  await reapGone(run, backlog);
  // The reason why one worker cannot post applies to the others too. A share that was given up affects no other.
  const why: RunStop | null =
    stop ?? (problem === null ? null : { kind: 'unavailable', message: problem.message });
  if (draining.aborted) return { stop: why ?? { kind: 'drained' }, givenUp: null, left: [] };
  const isOver = why !== null || areManyGivenUp;
  const left = isOver ? [] : shares.filter((_, index) => ends[index]?.kind === 'left');
  return { stop: why, givenUp, left };
}

const LOOK_EVERY_MS = 500;

/**
 * Waits until the claims of a dead worker become doubts, which happens when its lease expires, so that the
 * report of this run includes them.
 */
async function reapGone({ db, config, draining }: Run, backlog: Backlog): Promise<void> {
  const until = performance.now() + config.api.leaseSeconds * 1_000 + LOOK_EVERY_MS;
  while ((await countSending(db, backlog)) > 0 && performance.now() < until && !draining.aborted) {
    await reapLost(db);
    await sleep(LOOK_EVERY_MS, undefined, { signal: draining }).catch(() => {});
  }
}

/**
 * Performs the units `post-share` and `post-backfill`: posts a range of the ready entries of a job or of a
 * backfill.
 */
export async function postShare({
  run,
  unit: { kind, payload },
}: UnitRun): Promise<{ stop: RunStop | null }> {
  const { client, ledger } = await openUnitLedger(run, payload);
  await recoverPreviousRuns(run, ledger);
  const range = { from: String(payload.from), to: String(payload.to) };
  const backfill = kind === 'post-backfill' ? toBackfill(payload) : null;
  const stop = await postReady(run, { client, ledger, backfill, range });
  throwIfOnlyHere(stop);
  // Another share may be accepted. The run counts what waits in all of them.
  return { stop: stop?.kind === 'unanswered' ? null : stop };
}

function toBackfill({ backfillId, requestsPerSecond, concurrency }: UnitPayload): BackfillShare {
  return {
    backfillId: String(backfillId),
    requestsPerSecond: Number(requestsPerSecond),
    concurrency: Number(concurrency),
  };
}
