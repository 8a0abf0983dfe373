import type { EntryState, Outcome } from '../../src/core/ledger.ts';

/** Why an entry left `sending`, as stored with the answer. */
export type AnswerKind = Outcome['kind'] | 'lease_over';

/** The columns of `ledger.entries` that its state machine reads and writes. */
export type EntryFacts = {
  readonly state: EntryState;
  /** Number of claims so far. */
  readonly attempt: number;
  /** The first attempt that may have been processed and that no answer has settled. */
  readonly doubtfulAttempt: number | null;
  /** Number of attempts that are proven not to have been processed. */
  readonly notSent: number;
  readonly resendsApproved: number;
};

/** What can happen to an entry, as recorded in the append-only tables. */
export type LedgerEvent =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'answered'; readonly attempt: number; readonly answer: AnswerKind }
  /**
   * The entry must not be sent: it is no longer desired, was credited elsewhere, or its backfill was
   * cancelled.
   */
  | { readonly kind: 'held' }
  /** An entry that was held is to be sent after all. */
  | { readonly kind: 'released' }
  /** The entry, which was to be sent again after a doubt, is no longer desired. */
  | { readonly kind: 'withdrawn' }
  /** Another request replaces one that was not processed (propose.ts). */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'decided'; readonly decision: 'accept' | 'write_off' | 'resend' }
  /** A signed event of the service names the order. */
  | { readonly kind: 'evidenced' };

/** Every situation in which an entry can be after its second claim, as SQL that brings it there. */
export const SITUATIONS: Readonly<Record<string, string>> = {
  ready: `state = 'ready', not_sent = 2`,
  'ready, with no word of its claims': `state = 'ready', resends_approved = 2`,
  approved: `state = 'ready', doubtful_attempt = 2, doubted_at = '2026-01-01', not_sent = 1, resends_approved = 1`,
  'approved, in doubt since the first claim': `state = 'ready', doubtful_attempt = 1, doubted_at = '2026-01-01', resends_approved = 2`,
  held: `state = 'held', not_sent = 2`,
  sending: `state = 'sending', owner = gen_random_uuid(), not_sent = 1`,
  'sending, in doubt since the first claim': `state = 'sending', owner = gen_random_uuid(), doubtful_attempt = 1, doubted_at = '2026-01-01', resends_approved = 1`,
  'in doubt': `state = 'in_doubt', doubtful_attempt = 2, doubted_at = '2026-01-01', not_sent = 1`,
  'in doubt since the first claim': `state = 'in_doubt', doubtful_attempt = 1, doubted_at = '2026-01-01', resends_approved = 1`,
  accepted: `state = 'accepted', not_sent = 1`,
  rejected: `state = 'rejected', not_sent = 1`,
  'written off': `state = 'written_off', doubtful_attempt = 2, doubted_at = '2026-01-01', not_sent = 1`,
};

export const newEntry: EntryFacts = {
  state: 'ready',
  attempt: 0,
  doubtfulAttempt: null,
  notSent: 0,
  resendsApproved: 0,
};

/**
 * The state machine of one entry: transitions T2 to T9 of the table in docs/ledger.md. The SQL in propose.ts,
 * claim.ts, record.ts, reap.ts, resolve.ts and apply-evidence.ts implements the same rules for sets of
 * entries. A test compares the two, and a model checks this function exhaustively.
 *
 * @returns the entry after the event, or null if fencing keeps the event from changing it.
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
    case 'withdrawn':
      return entry.state === 'ready' && !isUnsent(entry) ? doubt(entry) : null;
    case 'replaced':
      return isUnsent(entry) ? { ...afterRefusal(entry), state: 'ready' } : null;
    case 'decided':
      return applyDecision(entry, event.decision);
    case 'evidenced':
      return applyEvidence(entry);
  }
}

/** Computes the state after a sequence of events. Events that fencing refuses have no effect. */
export function foldEvents(events: Iterable<LedgerEvent>): EntryFacts {
  let entry = newEntry;
  for (const event of events) entry = applyEvent(entry, event) ?? entry;
  return entry;
}

/** True if no request for the entry can have been processed. */
export function isUnsent({ state, attempt, notSent, doubtfulAttempt }: EntryFacts): boolean {
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
  // Approved to be sent again, but the answer of its doubtful attempt is found after all.
  const isFound = answer === 'accepted' && entry.state === 'ready' && entry.doubtfulAttempt !== null;
  if (entry.state !== 'sending' && entry.state !== 'in_doubt' && !isFound) return null;

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
      if (entry.state === 'rejected') return { ...afterRefusal(entry), state: 'ready' };
      return entry.state === 'in_doubt'
        ? { ...entry, state: 'ready', resendsApproved: entry.resendsApproved + 1 }
        : null;
  }
}

/**
 * If the entry may have been processed, the evidence proves that it was. If it cannot have been processed,
 * another system has credited the order. While a request is in flight, its answer decides.
 */
function applyEvidence(entry: EntryFacts): EntryFacts | null {
  if (entry.state === 'in_doubt') return { ...entry, state: 'accepted' };
  if (entry.state !== 'ready') return null;
  return { ...entry, state: entry.doubtfulAttempt === null ? 'held' : 'accepted' };
}

function doubt(entry: EntryFacts): EntryFacts {
  return { ...entry, state: 'in_doubt', doubtfulAttempt: entry.doubtfulAttempt ?? entry.attempt };
}
