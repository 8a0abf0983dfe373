import type { DecimalText } from '../money.ts';
import type { InstantText } from '../order.ts';

/**
 * All kinds of problems that notices report, as routes and messages name them. `src/monitoring/notify/problems/` defines
 * each kind and how it is detected.
 */
export const PROBLEM_KINDS = [
  'job_failed',
  'job_stalled',
  'job_late',
  'job_missed',
  'backfill_stopped',
  'needs_attention',
  'rows_rejected',
  'files_held',
  'files_unusual',
  'files_late',
  'doubts',
  'credited_twice',
  'entries_refused',
  'orders_held',
  'orders_restated',
  'totals_differ',
  'bookings_held',
  'claims_overdue',
  'ledger_went_back',
  'key_refused',
  'service_away',
  'budget_low',
  'mirror_stale',
  'mirror_drifted',
  'codes_unowned',
  'events_unread',
  'disk',
  'database',
  'clock',
] as const;

export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/**
 * `error`: jobs do not do their work, or money is at risk. `warning`: it works, but a person should look at
 * it within about a day.
 */
export const SEVERITIES = ['error', 'warning'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** An exact amount in one currency. */
export type Amount = { readonly amount: DecimalText; readonly currency: string };

/**
 * A current problem. Contains no secret, no e-mail address and no row value, because everyone in a channel
 * can read it.
 */
export type Problem = {
  readonly kind: ProblemKind;
  /** Null if it concerns every job. */
  readonly job: string | null;
  readonly severity: Severity;
  readonly since: Date;
  /** The amounts at risk, one for each currency. Empty if there are none. */
  readonly amounts: readonly Amount[];
  /**
   * Number of orders or claims whose amount is not known, so that the amounts are at least that. Default: 0, or not
   * recorded.
   */
  readonly withoutAmount?: number;
  /** What is wrong, in one or two sentences. */
  readonly summary: string;
  readonly command: string;
  /** Page of the console that shows the problem, below its base path: `/doubts`. */
  readonly page: string;
};

/** What happened to a problem. `digest` is the daily summary, `test` is what `notify test` sends. */
export type NoticeEvent = 'opened' | 'reminded' | 'resolved' | 'digest' | 'test';

/** A message, in the same form for every channel. */
export type Notice = {
  /** Identifies the message, so that a channel can recognise a duplicate. */
  readonly id: string;
  /** The same for all messages about one problem, from its beginning to its end. */
  readonly problemId: string;
  readonly event: NoticeEvent;
  /** A `ProblemKind`, or the event if it is `digest` or `test`. */
  readonly problem: string;
  /** Short title of the problem: `In doubt`. */
  readonly title: string;
  readonly job: string | null;
  readonly severity: Severity;
  readonly since: InstantText;
  readonly amounts: readonly Amount[];
  readonly summary: string;
  readonly command: string;
  /** Page of the console. Null if its address is not configured. */
  readonly link: string | null;
};
