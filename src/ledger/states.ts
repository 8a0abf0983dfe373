import { sql } from 'kysely';
import type { AnswerKind, EntryState } from '../model/ledger.ts';

/** What decides about an entry: the columns of `ledger.entries` that its state machine reads and writes. */
export type EntryFacts = {
  readonly state: EntryState;
  /** Claims so far. */
  readonly attempt: number;
  /** First attempt that may have been processed without an answer that settles it. */
  readonly doubtfulAttempt: number | null;
  /** Attempts proven not processed. */
  readonly notSent: number;
  readonly resendsApproved: number;
};

/** What can happen to an entry, as its append-only tables tell it. */
export type LedgerEvent =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'answered'; readonly attempt: number; readonly answer: AnswerKind }
  /** It is not to be sent: no longer desired, credited elsewhere, or its backfill was cancelled. */
  | { readonly kind: 'held' }
  /** What was held is to be sent after all. */
  | { readonly kind: 'released' }
  /** Another request takes the place of one that was not processed (propose.ts). */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'decided'; readonly decision: 'accept' | 'write_off' | 'resend' }
  /** A signed event of the service names the order. */
  | { readonly kind: 'evidenced' };

export const newEntry: EntryFacts = {
  state: 'ready',
  attempt: 0,
  doubtfulAttempt: null,
  notSent: 0,
  resendsApproved: 0,
};

/**
 * The state machine of one entry: T2 to T8 of the table in docs/ledger.md. The SQL of propose.ts, claim.ts, record.ts, reap.ts,
 * resolve.ts and apply-evidence.ts does the same set-based; a test holds the two against each other, and the model checks this one exhaustively.
 *
 * @returns the entry after the event, or null when fencing keeps the event from changing it.
 */
export function applyEvent(entry: EntryFacts, event: LedgerEvent): EntryFacts | null {
  switch (event.kind) {
    case 'claimed':
      return entry.state === 'ready' ? { ...entry, state: 'sending', attempt: entry.attempt + 1 } : null;
    case 'answered':
      return applyAnswer(entry, event.attempt, event.answer);
    case 'held':
      return isUnsent(entry) || entry.state === 'held' ? { ...afterRefusal(entry), state: 'held' } : null;
    case 'released':
      return entry.state === 'held' ? { ...entry, state: 'ready' } : null;
    case 'replaced':
      return isUnsent(entry) ? { ...afterRefusal(entry), state: 'ready' } : null;
    case 'decided':
      return applyDecision(entry, event.decision);
    case 'evidenced':
      return applyEvidence(entry);
  }
}

/** The state that a history leads to. Events that fencing refused leave no trace in it. */
export function foldEvents(events: Iterable<LedgerEvent>): EntryFacts {
  let entry = newEntry;
  for (const event of events) entry = applyEvent(entry, event) ?? entry;
  return entry;
}

/** Nothing that was sent for it can have been processed. */
function isUnsent({ state, attempt, notSent, doubtfulAttempt }: EntryFacts): boolean {
  if (state === 'rejected') return true;
  return state === 'ready' && attempt === notSent && doubtfulAttempt === null;
}

/** A refused attempt was not processed, so the next one needs no approval. */
function afterRefusal(entry: EntryFacts): EntryFacts {
  return entry.state === 'rejected' ? { ...entry, notSent: entry.notSent + 1 } : entry;
}

function applyAnswer(entry: EntryFacts, attempt: number, answer: AnswerKind): EntryFacts | null {
  if (entry.attempt !== attempt) return null;
  if (answer === 'lease_over') return entry.state === 'sending' ? doubt(entry) : null;
  if (entry.state !== 'sending' && entry.state !== 'in_doubt') return null;

  // An answer settles the doubt about its own attempt, never one about an earlier attempt.
  const earlierDoubt = entry.doubtfulAttempt !== null && entry.doubtfulAttempt < attempt;
  const settled = { ...entry, doubtfulAttempt: earlierDoubt ? entry.doubtfulAttempt : null };
  switch (answer) {
    case 'accepted':
      return { ...settled, state: 'accepted' };
    case 'rejected':
      return { ...settled, state: earlierDoubt ? 'in_doubt' : 'rejected' };
    case 'not_written':
    case 'throttled':
      return { ...settled, state: 'ready', notSent: entry.notSent + 1 };
    case 'in_doubt':
      return doubt(entry);
  }
}

function applyDecision(entry: EntryFacts, decision: 'accept' | 'write_off' | 'resend'): EntryFacts | null {
  switch (decision) {
    case 'accept':
      return entry.state === 'in_doubt' ? { ...entry, state: 'accepted' } : null;
    case 'write_off':
      return entry.state === 'in_doubt' ? { ...entry, state: 'written_off' } : null;
    case 'resend':
      return entry.state === 'in_doubt' || entry.state === 'rejected'
        ? { ...entry, state: 'ready', resendsApproved: entry.resendsApproved + 1 }
        : null;
  }
}

/** What may have been processed was; what cannot have been was credited by others. While a request is out, its answer decides. */
function applyEvidence(entry: EntryFacts): EntryFacts | null {
  if (entry.state === 'in_doubt') return { ...entry, state: 'accepted' };
  if (entry.state !== 'ready') return null;
  return { ...entry, state: entry.doubtfulAttempt === null ? 'held' : 'accepted' };
}

function doubt(entry: EntryFacts): EntryFacts {
  return { ...entry, state: 'in_doubt', doubtfulAttempt: entry.doubtfulAttempt ?? entry.attempt };
}

/**
 * Row `e` of `ledger.entries` was never processed by the service, as far as can be proven: each attempt was refused, throttled or never written.
 * The code that decides what should be sent reads by it, too.
 */
export const neverSent = sql`(e.state in ('ready', 'held') and e.attempt = e.not_sent and e.doubtful_attempt is null)`;
