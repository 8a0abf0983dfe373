import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../src/api/client.ts';
import { listBackfills, moveBackfill } from '../../../src/attribute/backfill/backfills.ts';
import { endBackfill, releaseEnded } from '../../../src/attribute/backfill/release-entries.ts';
import { holdCreditedElsewhere } from '../../../src/ledger/hold-credited-elsewhere.ts';
import { countReady } from '../../../src/ledger/ready-entries.ts';
import type { Backfill, BackfillState } from '../../../src/model/backfill.ts';
import type { ApiSettings } from '../../../src/model/config.ts';
import type { RunStop } from '../../../src/model/run.ts';
import type { OpenLedger } from '../../../src/pipeline/open-ledger.ts';
import { type BackfillShare, postReady } from '../../../src/pipeline/posting/post-ready.ts';
import { recoverPreviousRuns } from '../../../src/pipeline/posting/recover-previous-runs.ts';
import { updateReports } from '../../../src/pipeline/update-reports.ts';
import { attributionRules } from '../attribution-rules.ts';
import type { WantedShare } from './plan-backfill.ts';
import type { BackfillRun } from './with-backfill-run.ts';

/** How a process that worked on a backfill ended. */
export type BackfillEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled' }
  /** It can be resumed. `stop`: why. */
  | { readonly kind: 'stopped'; readonly stop: RunStop };

/** How soon `backfill pause` and `backfill cancel` from another terminal are noticed. */
const LOOK_EVERY_MS = 500;

/** Runs at work come first; what they leave is not all a backfill's, since other tools share the account. */
const SHARE = 0.5;

/** The limits that a backfill keeps: its own, else half of the configuration's. */
export function shareOf({ requestsPerSecond, concurrency }: WantedShare, api: ApiSettings) {
  return {
    requestsPerSecond: requestsPerSecond ?? api.requestsPerSecond * SHARE,
    concurrency: concurrency ?? Math.max(1, Math.floor(api.concurrency * SHARE)),
  };
}

/**
 * Posts the entries of a backfill that was started, until none is left, it is cancelled, or this process is to end. While it is paused it
 * waits. Where it stands is in the ledger alone, so it makes no difference when a process is killed: the next one goes on.
 */
export async function executeBackfill(
  run: BackfillRun,
  backfill: Backfill,
  { client, ledger }: { readonly client: Client; readonly ledger: OpenLedger },
): Promise<BackfillEnd> {
  const { db, job } = run;
  const { backfillId } = backfill;
  const rules = attributionRules(run);
  const share: BackfillShare = { backfillId, ...shareOf(backfill, run.config.api) };
  const { accountId } = ledger;
  await recoverPreviousRuns(run, ledger);
  await releaseEnded(db, rules);
  await holdCreditedElsewhere(db, { job: job.name, accountId });
  for (;;) {
    const stop = await postWhileRunning(run, { client, ledger, share });
    const state = await stateOf(run, backfillId);
    if (state === 'cancelled') {
      await releaseEnded(db, rules);
      await tellReports(run);
      return { kind: 'cancelled' };
    }
    if (run.draining.aborted) return stopped(run, backfillId, { kind: 'drained' });
    if (state === 'paused') {
      await untilResumed(run, backfillId);
      continue;
    }
    if (stop !== null && stop.kind !== 'drained') return stopped(run, backfillId, stop);
    const { ready, nextInMs } = await countReady(db, { job: job.name, backfillId });
    if (ready === 0 && nextInMs === null) {
      const isDone = await endBackfill(db, backfillId, { ...rules, from: ['running'], to: 'done' });
      if (!isDone) continue;
      await tellReports(run);
      return { kind: 'done' };
    }
    // Throttled or not written: they rest a little.
    await rest(run, Math.min(nextInMs ?? 0, 60_000) + LOOK_EVERY_MS);
  }
}

/** Posts until nothing is ready any more, or the backfill is no longer to run. */
async function postWhileRunning(
  run: BackfillRun,
  options: { readonly client: Client; readonly ledger: OpenLedger; readonly share: BackfillShare },
): Promise<RunStop | null> {
  const { client, ledger, share } = options;
  const halting = new AbortController();
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    // When the database is away, posting stops by itself.
    const state = await stateOf(run, share.backfillId).catch(() => 'running' as const);
    looking = false;
    if (state !== 'running') halting.abort();
  };
  await look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    const draining = AbortSignal.any([run.draining, halting.signal]);
    return await postReady({ ...run, draining }, { client, ledger, backfill: share });
  } finally {
    clearInterval(timer);
  }
}

async function untilResumed(run: BackfillRun, backfillId: string): Promise<void> {
  run.progress.note(
    'Paused. From another terminal:  npx influencer-sync backfill resume  (or cancel). Ctrl-C ends this process; the backfill stays paused.',
  );
  while (!run.draining.aborted && (await stateOf(run, backfillId)) === 'paused')
    await rest(run, LOOK_EVERY_MS);
}

async function rest(run: BackfillRun, waitMs: number): Promise<void> {
  await sleep(waitMs, undefined, { signal: run.draining }).catch(() => {});
}

async function stateOf({ db }: BackfillRun, backfillId: string): Promise<BackfillState | null> {
  const [backfill] = await listBackfills(db, { backfillId });
  return backfill?.state ?? null;
}

/** The backfill is what it is, also where the reports cannot take note of it. */
async function tellReports(run: BackfillRun): Promise<void> {
  const staleBecause = await updateReports(run);
  if (staleBecause !== null) run.progress.note(staleBecause);
}

/** Leaves it paused, so that `status` shows that it must be resumed. */
async function stopped(run: BackfillRun, backfillId: string, stop: RunStop): Promise<BackfillEnd> {
  const problem = stop.kind === 'drained' ? 'its process was told to stop' : stop.message;
  // The database may be what is away: then it stays running without a process, and can be resumed all the same.
  await moveBackfill(run.db, backfillId, { from: ['running'], to: 'paused', problem }).catch(() => false);
  await tellReports(run).catch(() => {});
  return { kind: 'stopped', stop };
}
