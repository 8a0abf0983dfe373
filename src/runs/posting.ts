import type { RunStop } from '../core/run.ts';
import { analyzeGrown } from '../db/analyze.ts';
import { holdCreditedElsewhere } from '../ledger/evidence/hold-credited-elsewhere.ts';
import { boundAccount } from '../ledger/open-account.ts';
import { type OpenLedger, openLedger, requireContinuity } from '../ledger/open-ledger.ts';
import { countReady } from '../ledger/ready-entries.ts';
import { type PostReadyOptions, postReady } from '../ledger/sending/post-ready.ts';
import { recoverPreviousRuns } from '../ledger/sending/recover-previous-runs.ts';
import type { Run } from '../ops/run.ts';
import { spreadPosting } from './workers/post-share.ts';

/** Placeholder for the account in a plan before the first run. A plan stores nothing and sends nothing. */
export const NO_ACCOUNT = 'not bound yet';

/** The ledger and account of a run that posts. */
export type Posting = {
  /** Null for a plan. */
  readonly ledger: OpenLedger | null;
  readonly accountId: string;
};

/**
 * Opens the ledger and recovers what previous runs left behind. A plan only checks whether a run would be
 * allowed to post.
 *
 * @throws KnownError as `openLedger`.
 */
export async function beginPosting(run: Run): Promise<Posting> {
  const { db, client } = run;
  if (client === null) {
    await requireContinuity(run);
    return { ledger: null, accountId: (await boundAccount(db)) ?? NO_ACCOUNT };
  }
  const ledger = await openLedger(run, client);
  await recoverPreviousRuns(run, ledger);
  return { ledger, accountId: ledger.accountId };
}

/**
 * Posts the committed proposals, after holding those that were credited elsewhere.
 *
 * @returns why it stopped before everything was posted. Null if it posted everything, and for a plan.
 */
export async function postProposed(run: Run, { ledger, accountId }: Posting): Promise<RunStop | null> {
  const { db, job, client } = run;
  await analyzeGrown(db, ['ledger.entries', 'ledger.adjustments']);
  await holdCreditedElsewhere(db, { job: job.name, accountId });
  const stop =
    client === null || ledger === null ? null : await postAll(run, { client, ledger, backfill: null });
  await analyzeGrown(db, ['ledger.entries', 'ledger.attempts', 'ledger.answers']);
  return stop;
}

/**
 * Posts the ready entries through workers if there are any. This process posts what they leave, or everything
 * if there are none.
 *
 * @returns why it stopped before everything was posted. Null if it posted everything.
 */
export async function postAll(run: Run, options: Omit<PostReadyOptions, 'range'>): Promise<RunStop | null> {
  const spread = await spreadPosting(run, options);
  let stop = spread === null ? await postReady(run, options) : spread.stop;
  for (const range of spread?.left ?? [])
    if (stop === null || stop.kind === 'unanswered')
      stop = (await postReady(run, { ...options, range })) ?? stop;
  return stop ?? spread?.givenUp ?? (await findUnposted(run, options.backfill?.backfillId ?? null));
}

/**
 * Whoever has posted everything leaves no entry ready. Those of earlier runs may still wait for the time that the
 * service asked for, and workers leave those that the service did not take. With a limit, the others wait for a reason.
 */
async function findUnposted(
  { db, job, options, nouns }: Run,
  backfillId: string | null,
): Promise<RunStop | null> {
  const { ready, resting, why } = await countReady(db, { job: job.name, backfillId });
  const waiting = options.limit === null ? ready + resting : resting;
  if (waiting === 0) return null;
  return {
    kind: 'unanswered',
    message: `${waiting} of the ${nouns.items} ${waiting === 1 ? 'was' : 'were'} not posted (${why ?? 'HTTP 429: the service asks to slow down'}), and the time of the next attempt has not come. A later run posts what waits.`,
  };
}
