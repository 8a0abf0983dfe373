import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiSettings } from '../../../src/config/schema.ts';
import type { Backfill, BackfillState } from '../../../src/core/backfill.ts';
import type { RunStop } from '../../../src/core/run.ts';
import { holdCreditedElsewhere } from '../../../src/ledger/evidence/hold-credited-elsewhere.ts';
import type { OpenLedger } from '../../../src/ledger/open-ledger.ts';
import { countReady } from '../../../src/ledger/ready-entries.ts';
import type { BackfillShare } from '../../../src/ledger/sending/open-request-gate.ts';
import { recoverPreviousRuns } from '../../../src/ledger/sending/recover-previous-runs.ts';
import { updateReports } from '../../../src/reports/update-reports.ts';
import { postAll } from '../../../src/runs/posting.ts';
import type { Client } from '../../../src/service/client.ts';
import { attributionRules } from '../attribution-rules.ts';
import { moveBackfill, readBackfill } from './backfills.ts';
import type { WantedShare } from './plan-backfill.ts';
import { endBackfill, releaseEnded } from './release-entries.ts';
import type { BackfillRun } from './with-backfill-run.ts';

export type BackfillEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled' }
  /** The backfill can be resumed. `stop` is the reason why it stopped. */
  | { readonly kind: 'stopped'; readonly stop: RunStop };

/**
 * How often the state is polled, and so how soon this process notices a `backfill pause` or `backfill cancel`
 * from another terminal.
 */
const LOOK_EVERY_MS = 500;

/**
 * Default share of the API limits. Active runs have priority, and a backfill must not use all that they
 * leave, because other tools share the account.
 */
const SHARE = 0.5;

/** The limits of a backfill: its own if they are set, otherwise half of the configured limits. */
export function shareOf({ requestsPerSecond, concurrency }: WantedShare, api: ApiSettings) {
  return {
    requestsPerSecond: requestsPerSecond ?? api.requestsPerSecond * SHARE,
    concurrency: concurrency ?? Math.max(1, Math.floor(api.concurrency * SHARE)),
  };
}

/**
 * Posts the entries of a started backfill until none is left, the backfill is cancelled, or this process must
 * stop. Waits while the backfill is paused. The progress is stored in the ledger alone, so a new process can
 * continue after this one is killed.
 */
export async function executeBackfill(
  run: BackfillRun,
  backfill: Backfill,
  { client, ledger }: { client: Client; ledger: OpenLedger },
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
    // What the service did not take yet is posted below, after a pause.
    const mayGoOn = stop === null || stop.kind === 'drained' || stop.kind === 'unanswered';
    if (!mayGoOn) return stopped(run, backfillId, stop);
    const { ready, nextInMs } = await countReady(db, { job: job.name, backfillId });
    if (ready === 0 && nextInMs === null) {
      const isDone = await endBackfill(db, backfillId, { ...rules, from: ['running'], to: 'done' });
      if (!isDone) continue;
      await tellReports(run);
      return { kind: 'done' };
    }
    // The remaining entries were throttled or could not be written, so they wait a moment before the next
    // attempt.
    await rest(run, Math.min(nextInMs ?? 0, 60_000) + LOOK_EVERY_MS);
  }
}

/** Posts until no entry is ready, or until the backfill is no longer running. */
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
    // If the database is unreachable, posting stops by itself.
    const state = await stateOf(run, share.backfillId).catch(() => 'running' as const);
    looking = false;
    if (state !== 'running') halting.abort();
  };
  await look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    const draining = AbortSignal.any([run.draining, halting.signal]);
    return await postAll({ ...run, draining }, { client, ledger, backfill: share });
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
  return (await readBackfill(db, backfillId))?.state ?? null;
}

/** Updates the reports. A failure is only noted, because it does not change the result of the backfill. */
export async function tellReports(run: BackfillRun): Promise<void> {
  const staleBecause = await updateReports(run);
  if (staleBecause !== null) run.progress.note(staleBecause);
}

/** Leaves the backfill paused, so that `status` shows that it must be resumed. */
async function stopped(run: BackfillRun, backfillId: string, stop: RunStop): Promise<BackfillEnd> {
  const problem = stop.kind === 'drained' ? 'its process was told to stop' : stop.message;
  // If the database is unreachable, the backfill remains `running` without a process. It can still be resumed.
  await moveBackfill(run.db, backfillId, { from: ['running'], to: 'paused', problem }).catch(() => false);
  await tellReports(run).catch(() => {});
  return { kind: 'stopped', stop };
}
