import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import type { ClaimedEntry, Outcome } from '../../core/ledger.ts';
import type { RunStop } from '../../core/run.ts';
import type { ClaimEntry } from '../claim.ts';
import type { Journal } from '../continuity/journal.ts';
import { LedgerWentBack, type RecordAnswer } from '../record.ts';
import type { Spool } from '../spool.ts';
import { backoffMs } from './backoff.ts';
import { type RequestGate, reasonOf } from './request-gate.ts';
import type { Send } from './send.ts';
import { workThrough } from './work-through.ts';

export type PostDependencies = {
  readonly claim: ClaimEntry;
  readonly send: Send;
  readonly record: RecordAnswer;
  readonly spool: Spool;
  readonly journal: Pick<Journal, 'writing' | 'answered'>;
  readonly gate: RequestGate;
  /** Called with each outcome, to update the progress display. */
  readonly onOutcome: (outcome: Outcome) => void;
};

/**
 * Number of retries in one run for a request that was provably not processed. After that, the entry waits for
 * the next run.
 */
const RETRIES = 3;

/**
 * Timers may fire slightly early, and the clock of the database decides whether the waiting time of an entry
 * is over.
 */
const TIMER_SLACK_MS = 20;

/**
 * An attempt that was provably not processed. The only failure that p-retry may retry: nothing below the
 * ledger repeats a request that may have been processed. A doubt is recorded, and the ledger decides.
 */
class NotProcessed extends Error {
  readonly waitMs: number;

  constructor(outcome: Outcome, waitMs: number) {
    super(reasonOf(outcome));
    this.waitMs = waitMs;
  }
}

/**
 * Runs the steps of each ready entry: enter → claim → note → send → record. Handles as many entries at once
 * as the gate allows.
 *
 * In addition to the requests on the wire, half as many entries are being claimed or recorded, so that the
 * wire does not wait for the database. A killed process can leave at most that total number in doubt.
 */
export async function postEntries(
  pages: AsyncIterable<readonly string[]>,
  dependencies: PostDependencies,
): Promise<void> {
  const { claim, record, spool, journal, gate, onOutcome } = dependencies;
  const wire = pLimit(gate.concurrency());

  async function send(entry: ClaimedEntry): Promise<Outcome> {
    if (!gate.mayWrite()) return { kind: 'not_written', reason: 'the run was ending' };
    try {
      await journal.writing(entry);
    } catch (error) {
      gate.stop({ kind: 'journal_lost', message: describe(error) });
      return { kind: 'not_written', reason: 'its journal could not be written' };
    }
    // Writing the journal may have taken until after the lease expired. Another process may then have settled
    // the entry without the note.
    if (!gate.mayWrite()) return { kind: 'not_written', reason: 'the run was ending' };
    const outcome = await dependencies.send(entry);
    gate.report(outcome);
    const places = gate.concurrency();
    if (wire.concurrency !== places) wire.concurrency = places;
    return outcome;
  }

  /** @returns false if the entry could not be claimed. */
  async function attempt(entryId: string): Promise<boolean> {
    if (!(await gate.enter())) return false;
    const entry = await claim(entryId).catch((error: unknown) => {
      gate.stop(stopFor(error));
      return null;
    });
    if (entry === null) return false;
    const outcome = await wire(send, entry);
    // An entry that was held back because the run ends needs no waiting time, so that the next run can send
    // it at once.
    const restMs = gate.mayWrite() ? backoffMs(entry.attempt, outcome) : 0;
    const answer = { entryId, attempt: entry.attempt, outcome, backoffMs: restMs, claim: entry.claim };
    journal.answered(entry, outcome);
    try {
      await record(answer);
    } catch (error) {
      // The service has answered, so the answer must not be lost together with the database.
      spool.append(answer);
      gate.stop(stopFor(error));
    }
    onOutcome(outcome);
    if (outcome.kind === 'not_written' || outcome.kind === 'throttled')
      throw new NotProcessed(outcome, answer.backoffMs);
    return true;
  }

  async function post(entryId: string): Promise<void> {
    let why: string | null = null;
    const isTaken = await pRetry(() => attempt(entryId), {
      retries: RETRIES,
      minTimeout: 0,
      shouldRetry: ({ error }) => error instanceof NotProcessed && gate.stopped() === null,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!(error instanceof NotProcessed)) return;
        why = error.message;
        if (retriesLeft === 0) return;
        await sleep(error.waitMs + TIMER_SLACK_MS, undefined, { signal: gate.signal }).catch(() => {});
      },
    }).catch((error: unknown) => {
      if (!(error instanceof NotProcessed)) throw error;
      return false;
    });
    // An entry whose time has not come cannot be claimed again either.
    if (!isTaken && why !== null) gate.leaveUnanswered(why);
  }

  await workThrough(listIds(pages), { gate, placesFor, work: post });
}

async function* listIds(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const page of pages) yield* page;
}

function placesFor(concurrency: number): number {
  return concurrency + Math.ceil(concurrency / 2);
}

function stopFor(error: unknown): RunStop {
  const kind = error instanceof LedgerWentBack ? 'ledger_went_back' : 'database_lost';
  return { kind, message: describe(error) };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
