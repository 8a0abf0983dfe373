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

/** A share takes about so long at the limit of the account: others wait no longer for their turn. */
const SHARE_SECONDS = 20;
/** So many shares for each place at least, so that all end at about the same time. */
const SHARES_PER_PLACE = 2;
/** To begin a share takes as long as some twenty orders. */
const SMALLEST_SHARE = 50;
const LARGEST_SHARE = 2_000;

type Share = EntryRange & { readonly entries: number };

/**
 * Has workers post what is ready, a share each.
 *
 * @returns why it stopped before everything was posted, null where it did not; and what nobody has begun, for the run to post itself.
 * `null` where there is no worker, so that nothing was begun.
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

/** What keeps one worker from posting keeps the others from it as well, except that one died. */
function stopOf(end: UnitEnd): RunStop | null {
  if (end.kind === 'done') return (end.result.stop as RunStop | null | undefined) ?? null;
  if (end.kind === 'failed') return { kind: 'unavailable', message: end.problem.message };
  if (end.kind === 'given_up')
    return { kind: 'units_given_up', message: `A share of the ready orders was not posted. ${end.message}` };
  return null;
}

const LOOK_EVERY_MS = 500;

/** What a worker had claimed when it died becomes a doubt when its lease is over: the account of this run is to say so already. */
async function reapGone({ db, job, config, draining }: Run): Promise<void> {
  const until = performance.now() + config.api.leaseSeconds * 1_000 + LOOK_EVERY_MS;
  while ((await countSending(db, job.name)) > 0 && performance.now() < until && !draining.aborted) {
    await reapLost(db);
    await sleep(LOOK_EVERY_MS, undefined, { signal: draining }).catch(() => {});
  }
}

/** The unit `post-share`: posts a range of the ready entries of a job. */
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

/** What keeps this worker from posting and may not keep another one from it. */
const ONLY_HERE: readonly RunStop['kind'][] = ['lease_lost', 'database_lost', 'journal_lost'];

function requireClient({ client }: Run): Client {
  if (client === null) throw new Error('a worker has no client of the service');
  return client;
}
