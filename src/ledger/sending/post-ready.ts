import { errorCode } from '../../core/error-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { RunStop } from '../../core/run.ts';
import { inPhase } from '../../db/phase.ts';
import type { Run } from '../../ops/run.ts';
import type { Client } from '../../service/client.ts';
import { createClaimerAndRecorder } from '../claim-and-record.ts';
import { settleByEvidence } from '../evidence/apply-evidence.ts';
import type { OpenLedger } from '../open-ledger.ts';
import { countReady, type EntryRange, readyEntries } from '../ready-entries.ts';
import type { Answer, RecordAnswer } from '../record.ts';
import { openSpool, replaySpool } from '../spool.ts';
import { type BackfillShare, openRequestGate } from './open-request-gate.ts';
import { postEntries } from './post-entries.ts';
import { spoolFolder } from './recover-previous-runs.ts';
import { createSender } from './send.ts';

/**
 * Claims and answers are small statements, and ending a run never cuts them short, because an answer that is
 * not recorded leaves its entry in doubt. A database that takes longer than this limit counts as unreachable,
 * and the answers go to the spool.
 */
const POSTING = { name: 'Posting orders', limitMs: 30_000, draining: null, abandoned: null };

export type PostReadyOptions = {
  readonly client: Client;
  readonly ledger: OpenLedger;
  /** Null for a run, which posts the entries that no backfill has taken. */
  readonly backfill: BackfillShare | null;
  /** Posts only entries of this range. Omit it to post all. */
  readonly range?: EntryRange;
};

/**
 * Posts the ready entries, within the configured limits.
 *
 * @returns why it stopped before everything was posted, or `unanswered` if the service took some entries in no
 * attempt. Null if it posted everything.
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

  const journal = await ledger.openJournal();
  const open = openRequestGate(run, client, backfill);
  const { gate } = open;
  const send = createSender(client);
  const { claim, record } = createClaimerAndRecorder(db, {
    owner,
    runId,
    accountId,
    backfillId: backlog.backfillId,
    ledgerId,
    heads: ledger.heads(),
    place: ledger.place,
    journal,
  });
  const spool = openSpool(spoolFolder(run), owner);
  const unkept: { readonly answer: Answer; readonly cause: unknown }[] = [];

  /**
   * Stores an answer in the spool. An answer that cannot be written must not prevent the others from being
   * written.
   */
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
        claim,
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
  // The database may be reachable again. In that case, no answer has to wait for the next run.
  if (gate.stopped()?.kind === 'database_lost')
    await replaySpool(db, spoolFolder(run), owner, { isContinuous: false }).catch(() => {});
  // An event may have arrived before an answer that was then lost. If the database is unreachable, the next
  // run checks this.
  await settleByEvidence(db).catch(() => {});
  await keepAtLast(unkept, record);
  return gate.unfinished();
}

/**
 * Tries once more to record answers that neither the database nor the spool accepted, because the database
 * may be reachable again.
 *
 * @throws KnownError `answers_lost` (exit 1). Only the service knows the result of those orders.
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
  const code = errorCode(first.cause) ?? 'unknown';
  throw new KnownError({
    code: 'answers_lost',
    message: `${lost === 1 ? 'An answer' : `${lost} answers`} of the service could not be stored, neither in the database nor in the spool of the data folder (${code}).`,
    help: 'Free space for the data folder, or let this user write to it, and restore the database connection. Then run again: the orders are in doubt, and `review` shows them with their amounts.',
    safe: 'The orders of these answers may have been credited. None of them is sent again before a person decides.',
    cause: first.cause,
  });
}
