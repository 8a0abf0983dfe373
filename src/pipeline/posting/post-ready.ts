import type { Client } from '../../api/client.ts';
import { inPhase } from '../../db/phase.ts';
import { createSender } from '../../delivery/send.ts';
import { settleByEvidence } from '../../ledger/apply-evidence.ts';
import { createClaimer } from '../../ledger/claim.ts';
import { countReady, type EntryRange, readyEntries } from '../../ledger/ready-entries.ts';
import { type Answer, createRecorder, type RecordAnswer } from '../../ledger/record.ts';
import { openSpool, replaySpool } from '../../ledger/spool.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { RunStop } from '../../model/run.ts';
import type { OpenLedger } from '../open-ledger.ts';
import { openRequestGate } from '../open-request-gate.ts';
import type { Run } from '../run.ts';
import { postEntries } from './post-entries.ts';
import { spoolFolder } from './recover-previous-runs.ts';

/**
 * Claims and answers are small and never cut short by a run that ends: an answer that is not recorded makes a doubt. A database that takes
 * longer is as good as gone; the answers then go to the spool.
 */
const POSTING = { name: 'Posting orders', limitMs: 30_000, draining: null, abandoned: null };

/** A backfill posts what it has taken and nothing else, in its share of the limits. */
export type BackfillShare = {
  readonly backfillId: string;
  /** Its own limit, within that of the account; 0 means that it has none of its own. */
  readonly requestsPerSecond: number;
  readonly concurrency: number;
};

export type PostReadyOptions = {
  readonly client: Client;
  readonly ledger: OpenLedger;
  /** Null for a run, which posts what no backfill has taken. */
  readonly backfill: BackfillShare | null;
  /** Only entries of this range; left out for all. */
  readonly range?: EntryRange;
};

/**
 * Posts what is ready, within the limits of the configuration.
 *
 * @returns why it stopped before everything was posted; null when it came to the end.
 */
export async function postReady(run: Run, options: PostReadyOptions): Promise<RunStop | null> {
  const { db, job, nouns, progress, owner, runId } = run;
  const { client, ledger, backfill, range } = options;
  const { accountId, ledgerId } = ledger;
  const { limit } = run.options;
  const backlog = { job: job.name, backfillId: backfill?.backfillId ?? null };
  const { ready } = await countReady(db, backlog);
  const total = Math.min(limit ?? Number.POSITIVE_INFINITY, ready);
  progress.begin({ name: 'post', label: `Posting ${nouns.items}`, unit: nouns.items, total });

  const open = openRequestGate(
    run,
    client,
    backfill === null ? undefined : { ...backfill, priority: 'backfill' },
  );
  const { gate } = open;
  const send = createSender(client);
  const journal = await ledger.openJournal();
  const record = createRecorder(db);
  const spool = openSpool(spoolFolder(run), owner);
  const unkept: { readonly answer: Answer; readonly cause: unknown }[] = [];

  /** An answer that cannot be written here either must not take with it those that can. */
  function keep(answer: Answer): void {
    try {
      spool.append(answer);
    } catch (cause) {
      unkept.push({ answer, cause });
    }
  }

  try {
    await inPhase(POSTING, () =>
      postEntries(readyEntries(db, { ...backlog, limit, range }), {
        claim: createClaimer(db, {
          owner,
          runId,
          accountId,
          backfillId: backlog.backfillId,
          ledgerId,
          heads: ledger.heads(),
          place: ledger.place,
          journal,
        }),
        send,
        record,
        spool: { append: (answer) => keep(answer) },
        journal,
        gate,
        onOutcome: ({ kind }) => {
          if (kind !== 'not_written' && kind !== 'throttled') progress.advance(1);
        },
      }),
    );
  } finally {
    open.close();
    await journal.close();
  }
  // The database may be back: then nothing need wait for the next run.
  if (gate.stopped()?.kind === 'database_lost')
    await replaySpool(db, spoolFolder(run), owner, { isContinuous: false }).catch(() => {});
  // An event may have overtaken an answer that was then lost. When the database is away, the next run looks.
  await settleByEvidence(db).catch(() => {});
  await keepAtLast(unkept, record);
  return gate.stopped();
}

/**
 * Answers that neither the database nor the spool took when they came: the database may be back by now.
 *
 * @throws KnownError `answers_lost` (exit 1): only the service knows what became of those orders.
 */
async function keepAtLast(
  unkept: readonly { readonly answer: Answer; readonly cause: unknown }[],
  record: RecordAnswer,
): Promise<void> {
  const [first] = unkept;
  if (first === undefined) return;
  const kept = await Promise.allSettled(unkept.map(({ answer }) => record(answer)));
  const lost = kept.filter(({ status }) => status === 'rejected').length;
  if (lost === 0) return;
  const code = first.cause instanceof Error && 'code' in first.cause ? String(first.cause.code) : 'unknown';
  throw new KnownError({
    code: 'answers_lost',
    message: `${lost === 1 ? 'An answer' : `${lost} answers`} of the service could not be stored, neither in the database nor in the spool of the data folder (${code}).`,
    help: 'Free space for the data folder, or let this user write to it, and restore the database connection. Then run again: the orders are in doubt, and `review` shows them with their amounts.',
    safe: 'The orders of these answers may have been credited. None of them is sent again before a person decides.',
    exitCode: EXIT.crash,
    cause: first.cause,
  });
}
