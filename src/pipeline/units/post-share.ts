import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../api/client.ts';
import { countReady, countSending, type EntryRange, readyRanges } from '../../ledger/ready-entries.ts';
import { reapLost } from '../../ledger/reap.ts';
import type { RunStop } from '../../model/run.ts';
import type { UnitEnd } from '../../model/work.ts';
import { type OpenLedger, openLedger } from '../open-ledger.ts';
import { postReady } from '../posting/post-ready.ts';
import { recoverPreviousRuns } from '../posting/recover-previous-runs.ts';
import type { Run } from '../run.ts';
import { requireSame } from './require-same.ts';
import type { UnitRun } from './unit-run.ts';

/**
 * Approximate duration of a share at the limit of the account. Other runs wait at most this long for their
 * turn.
 */
const SHARE_SECONDS = 20;
/** Minimum number of shares per place, so that all places finish at about the same time. */
const SHARES_PER_PLACE = 2;
/** Starting a share takes as long as about twenty orders. */
const SMALLEST_SHARE = 50;
const LARGEST_SHARE = 2_000;

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
      const size = shareSize({ requestsPerSecond: config.api.requestsPerSecond, orders, places });
      shares = await readyRanges(db, { ...backlog, size });
      const label = `Posting ${nouns.items}`;
      if (shares.length > 1) progress.begin({ name: 'post', label, unit: nouns.items, total: orders });
      return shares.map(({ from, to }) => ({ from, to, accountId, ledgerId, service: config.api.url }));
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

function shareSize(given: {
  readonly requestsPerSecond: number;
  readonly orders: number;
  readonly places: number;
}): number {
  const { requestsPerSecond, orders, places } = given;
  const bySeconds = requestsPerSecond === 0 ? LARGEST_SHARE : requestsPerSecond * SHARE_SECONDS;
  const largest = Math.min(LARGEST_SHARE, bySeconds, orders / (places * SHARES_PER_PLACE));
  return Math.max(SMALLEST_SHARE, Math.ceil(largest));
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
  const client = requireClient(run);
  requireSame('service', { here: run.config.api.url, there: payload.service });
  const ledger = await openLedger(run, client);
  requireSame('account', { here: ledger.accountId, there: payload.accountId });
  requireSame('ledger', { here: ledger.ledgerId, there: payload.ledgerId });
  await recoverPreviousRuns(run, ledger);
  const range = { from: String(payload.from), to: String(payload.to) };
  const stop = await postReady(run, { client, ledger, backfill: null, range });
  if (stop !== null && ONLY_HERE.includes(stop.kind))
    throw new Error(`the share was cut short: ${stop.kind}`);
  return { stop };
}

/** Stops that affect only this worker. Another worker may still be able to post. */
const ONLY_HERE: readonly RunStop['kind'][] = ['lease_lost', 'database_lost', 'journal_lost'];

function requireClient({ client }: Run): Client {
  if (client === null) throw new Error('a worker has no client of the service');
  return client;
}
