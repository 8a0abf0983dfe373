import type { Client } from '../api/client.ts';
import { settleByEvidence } from '../ledger/apply-evidence.ts';
import { createClaimer } from '../ledger/claim.ts';
import { countReady, readyEntries } from '../ledger/ready-entries.ts';
import { createRecorder } from '../ledger/record.ts';
import { openSpool, replaySpool } from '../ledger/spool.ts';
import type { RunStop } from '../model/run.ts';
import { createLane } from '../post/lane.ts';
import { createSender } from '../post/send.ts';
import { postEntries } from './post-entries.ts';
import type { Run } from './run.ts';
import { spoolFolder } from './settle-past.ts';

/** Waits shorter than this are not worth a word. */
const WORTH_A_WORD_MS = 2_000;

/**
 * Posts what is ready, within the limits of the configuration.
 *
 * @returns why it stopped before everything was posted; null when it came to the end.
 */
export async function postReady(run: Run, client: Client, accountId: string): Promise<RunStop | null> {
  const { db, job, config, options, progress, owner, runId } = run;
  const { concurrency, requestsPerSecond } = config.api;
  const total = Math.min(options.limit ?? Number.POSITIVE_INFINITY, await countReady(db, job.name));
  progress.begin({ name: 'post', label: 'Posting orders', unit: 'orders', total });

  const lane = createLane({
    concurrency,
    requestsPerSecond,
    isLeaseHeld: run.isLeaseHeld,
    probe: async () => {
      const answer = await client.exchange('account_hello');
      return answer.kind === 'answer' && answer.status === 200;
    },
    onWait: (reason, waitMs) => {
      if (waitMs >= WORTH_A_WORD_MS) progress.note(`Waiting ${Math.ceil(waitMs / 1000)} s: ${reason}.`);
    },
  });
  const send = createSender(client);
  const drain = () => lane.stop({ kind: 'drained' });
  run.draining.addEventListener('abort', drain);
  if (run.draining.aborted) drain();
  try {
    await postEntries(readyEntries(db, { job: job.name, limit: options.limit }), {
      claim: createClaimer(db, { owner, runId, accountId }),
      send,
      record: createRecorder(db),
      spool: openSpool(spoolFolder(run), owner),
      lane,
      onOutcome: ({ kind }) => {
        if (kind !== 'not_written' && kind !== 'throttled') progress.advance(1);
      },
    });
  } finally {
    run.draining.removeEventListener('abort', drain);
  }
  // The database may be back: then nothing need wait for the next run.
  if (lane.stopped()?.kind === 'database_lost')
    await replaySpool(db, spoolFolder(run), owner).catch(() => {});
  // An event may have overtaken an answer that was then lost. When the database is away, the next run looks.
  await settleByEvidence(db).catch(() => {});
  return lane.stopped();
}
