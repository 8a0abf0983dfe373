import type { Client } from '../../api/client.ts';
import { analyzeGrown } from '../../db/analyze.ts';
import { boundAccount } from '../../ledger/bind-account.ts';
import { holdCreditedElsewhere } from '../../ledger/hold-credited-elsewhere.ts';
import type { RunStop } from '../../model/run.ts';
import { type OpenLedger, openLedger, requireContinuityOfPlan } from '../open-ledger.ts';
import type { Run } from '../run.ts';
import { spreadPosting } from '../units/post-share.ts';
import { postReady } from './post-ready.ts';
import { recoverPreviousRuns } from './recover-previous-runs.ts';

/** In a plan before the first run there is no account yet; nothing of a plan is kept or sent. */
export const NO_ACCOUNT = 'not bound yet';

/** What a run that posts by the ledger has from its beginning to its end. */
export type Posting = {
  /** Null for a plan. */
  readonly ledger: OpenLedger | null;
  readonly accountId: string;
};

/**
 * Opens the ledger and recovers what previous runs left; a plan only asks whether a run would be allowed to post.
 *
 * @throws KnownError as `openLedger`.
 */
export async function beginPosting(run: Run): Promise<Posting> {
  const { db, client } = run;
  if (client === null) {
    await requireContinuityOfPlan(run);
    return { ledger: null, accountId: (await boundAccount(db)) ?? NO_ACCOUNT };
  }
  const ledger = await openLedger(run, client);
  await recoverPreviousRuns(run, ledger);
  return { ledger, accountId: ledger.accountId };
}

/**
 * Posts what was proposed and committed, after what others have credited was taken out.
 *
 * @returns why it stopped before everything was posted; null when it came to the end, and for a plan.
 */
export async function postProposed(run: Run, { ledger, accountId }: Posting): Promise<RunStop | null> {
  const { db, job, client } = run;
  await analyzeGrown(db, ['ledger.entries', 'ledger.adjustments']);
  await holdCreditedElsewhere(db, { job: job.name, accountId });
  const stop = client === null || ledger === null ? null : await post(run, { client, ledger });
  await analyzeGrown(db, ['ledger.entries', 'ledger.attempts', 'ledger.answers']);
  return stop;
}

/** By workers where there are any; else, and what they left, here. */
async function post(
  run: Run,
  { client, ledger }: { readonly client: Client; readonly ledger: OpenLedger },
): Promise<RunStop | null> {
  const spread = await spreadPosting(run, ledger);
  if (spread === null) return postReady(run, { client, ledger, backfill: null });
  let { stop } = spread;
  for (const range of spread.left) stop ??= await postReady(run, { client, ledger, backfill: null, range });
  return stop;
}
