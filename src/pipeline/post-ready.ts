import type { Client } from '../api/client.ts';
import { settleByEvidence } from '../ledger/apply-evidence.ts';
import { createClaimer } from '../ledger/claim.ts';
import { countReady, readyEntries } from '../ledger/ready-entries.ts';
import { createRecorder } from '../ledger/record.ts';
import { openSpool, replaySpool } from '../ledger/spool.ts';
import type { RunStop } from '../model/run.ts';
import { createSender } from '../post/send.ts';
import { openLane } from './open-lane.ts';
import { postEntries } from './post-entries.ts';
import type { Run } from './run.ts';
import { spoolFolder } from './settle-past.ts';

/** A backfill posts what it has taken and nothing else, in its share of the limits. */
export type BackfillShare = {
  readonly backfillId: string;
  /** Its own limit, within that of the account; 0 means that it has none of its own. */
  readonly requestsPerSecond: number;
  readonly concurrency: number;
};

export type PostReadyOptions = {
  readonly client: Client;
  readonly accountId: string;
  /** Null for a run, which posts what no backfill has taken. */
  readonly backfill: BackfillShare | null;
};

/**
 * Posts what is ready, within the limits of the configuration.
 *
 * @returns why it stopped before everything was posted; null when it came to the end.
 */
export async function postReady(run: Run, options: PostReadyOptions): Promise<RunStop | null> {
  const { db, job, progress, owner, runId } = run;
  const { client, accountId, backfill } = options;
  const { limit } = run.options;
  const backlog = { job: job.name, backfillId: backfill?.backfillId ?? null };
  const { ready } = await countReady(db, backlog);
  const total = Math.min(limit ?? Number.POSITIVE_INFINITY, ready);
  progress.begin({ name: 'post', label: 'Posting orders', unit: 'orders', total });

  const open = openLane(run, client, backfill === null ? undefined : { ...backfill, priority: 'backfill' });
  const { lane } = open;
  const send = createSender(client);
  try {
    await postEntries(readyEntries(db, { ...backlog, limit }), {
      claim: createClaimer(db, { owner, runId, accountId, backfillId: backlog.backfillId }),
      send,
      record: createRecorder(db),
      spool: openSpool(spoolFolder(run), owner),
      lane,
      onOutcome: ({ kind }) => {
        if (kind !== 'not_written' && kind !== 'throttled') progress.advance(1);
      },
    });
  } finally {
    open.close();
  }
  // The database may be back: then nothing need wait for the next run.
  if (lane.stopped()?.kind === 'database_lost')
    await replaySpool(db, spoolFolder(run), owner).catch(() => {});
  // An event may have overtaken an answer that was then lost. When the database is away, the next run looks.
  await settleByEvidence(db).catch(() => {});
  return lane.stopped();
}
