import type { DecimalText, InstantText } from '../order.ts';

/** Everything that notices tell of, as routes and messages name it. What each means and how it is found: `src/notify/problems/`. */
export const PROBLEM_KINDS = [
  'job_failed',
  'job_stalled',
  'job_late',
  'job_missed',
  'needs_attention',
  'rows_rejected',
  'files_held',
  'files_unusual',
  'files_late',
  'doubts',
  'credited_twice',
  'totals_differ',
  'ledger_went_back',
  'key_refused',
  'service_away',
  'budget_low',
  'mirror_stale',
  'mirror_drifted',
  'codes_unowned',
  'disk',
  'database',
  'clock',
] as const;

export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** `error`: jobs do not do their work, or money is at risk. `warning`: it works, and a person should look within a day or so. */
export const SEVERITIES = ['error', 'warning'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** An amount of one currency, exact. */
export type Amount = { readonly amount: DecimalText; readonly currency: string };

/** What is wrong now. No secret, no e-mail address, no value of a row: everybody on a channel reads it. */
export type Problem = {
  readonly kind: ProblemKind;
  /** Null: it concerns every job. */
  readonly job: string | null;
  readonly severity: Severity;
  /** When it began. */
  readonly since: Date;
  /** The money that is concerned, one amount a currency; empty where none is. */
  readonly amounts: readonly Amount[];
  /** What is wrong, in a sentence or two. */
  readonly summary: string;
  /** What to run next. */
  readonly command: string;
  /** Page of the console that shows it, below its base path: `/doubts`. */
  readonly page: string;
};

/** What became of a problem; `digest` is the daily summary, `test` what `notify test` sends. */
export type NoticeEvent = 'opened' | 'reminded' | 'resolved' | 'digest' | 'test';

/** A message as every channel gets it. */
export type Notice = {
  /** Names the message: a channel that gets it twice can tell. */
  readonly id: string;
  /** The same for all messages about one problem, from its beginning to its end. */
  readonly problemId: string;
  readonly event: NoticeEvent;
  /** A `ProblemKind`, or the event where that is `digest` or `test`. */
  readonly problem: string;
  /** What it is, in a few words: `In doubt`. */
  readonly title: string;
  readonly job: string | null;
  readonly severity: Severity;
  readonly since: InstantText;
  readonly amounts: readonly Amount[];
  readonly summary: string;
  readonly command: string;
  /** Page of the console; null where its address is not configured. */
  readonly link: string | null;
};
