import type { DecimalText, InstantText } from './order.ts';
import type { HeldFile, RejectedRowPlace, ReportFrame } from './report.ts';

/**
 * What a run of `attribute-orders` came to. `sumsAddUp`: orders = Σ excluded + unattributed + organic + Σ entries, and
 * rows = rows of orders + rejected rows.
 */
export type OrdersReport = ReportFrame<'attribute-orders', OrderCounts, OrderDetails>;

/**
 * What a run did and where every order of the job stands after it.
 * `files`, `rows` and `rejected_rows` count this run, and runs before it that died before they could report; `entries.accepted` counts this run; the others are the job's totals after it, so that
 * orders = Σ excluded + unattributed + organic + Σ entries.
 */
export type OrderCounts = {
  /** Files read and sealed in this run, or in one before it that could not report them. */
  readonly files: number;
  /** Records read in this run, headers excluded. */
  readonly rows: number;
  /** Orders of the job known after this run, each counted once. */
  readonly orders: number;
  /** Orders that are never posted, by reason. */
  readonly excluded: Readonly<Record<string, number>>;
  /** Orders with a code, link or handle that nobody owns. */
  readonly unattributed: number;
  /** Orders without any code, link or handle. */
  readonly organic: number;
  /** Rows of this run's files that could not be used. */
  readonly rejected_rows: number;
  readonly entries: {
    /** Accepted in this run. */
    readonly accepted: number;
    readonly rejected: number;
    readonly in_doubt: number;
    /** Not to be sent until a person or an event decides: ambiguous codes, evidence of another poster, written off. */
    readonly held: number;
    readonly ready: number;
    /** Accepted before this run. */
    readonly already: number;
  };
  /** Of `entries.ready`: those that a backfill has taken which is not finished. It alone posts them. */
  readonly ready_by_backfill: number;
};

/** Where an order of the job stands. `unaccounted` must never occur: it is shown so that it can't hide. */
export type Standing =
  | 'accepted'
  | 'already'
  | 'ready'
  | 'rejected'
  | 'in_doubt'
  | 'held'
  | 'excluded'
  | 'unattributed'
  | 'organic'
  | 'unaccounted';

/** Orders of the job that stand alike. */
export type StandingGroup = {
  readonly standing: Standing;
  /** Why, for excluded, unattributed, held, rejected and in_doubt; `by_backfill` for what only a backfill posts; null otherwise. */
  readonly reason: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Revenue by the job's rule, in currency. */
  readonly amount: DecimalText;
};

/** A code (or link or handle) that orders carry and nobody owns. */
export type UnownedCode = {
  readonly code: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: DecimalText;
};

/** An order that may have been credited without an answer that says so. */
export type Doubt = {
  readonly entryId: string;
  readonly job: string;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  readonly currency: string | null;
  readonly amount: DecimalText | null;
  /** What the frozen request names, else what the order was attributed to. */
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly influencerHandle: string | null;
  readonly reason: string;
  /** Attempts that may have reached the service. */
  readonly attempts: number;
  /** When the first of them was claimed. */
  readonly since: InstantText;
  readonly ageSeconds: number;
  readonly evidence: readonly Evidence[];
};

/** An order for which the service has accepted more than one request. */
export type DoubleCredit = {
  readonly entryId: string;
  readonly job: string;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  /** Of each request, in `currency`. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Requests that were accepted: 2 or more. */
  readonly credits: number;
};

/** What somebody else says about an order. */
export type Evidence = {
  readonly kind: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly receivedAt: InstantText;
};

/** Orders that changed after they were sent, noted in this run. */
export type AdjustmentGroup = { readonly kind: string; readonly orders: number };

/** A row of codes.csv that cannot be used as it stands; the other rows count. */
export type CodeProblem = {
  /** 1-based, the header included. */
  readonly line: number;
  readonly column: string | null;
  readonly value: string | null;
  readonly reason: string;
  readonly help: string;
};

/** What the summary of a run says beyond its counts. */
export type OrderDetails = {
  readonly standings: readonly StandingGroup[];
  /** Files of this run with the same content as one read before. */
  readonly duplicateFiles: number;
  /** The most valuable ones of each currency, at most 10 in all. */
  readonly unownedCodes: readonly UnownedCode[];
  readonly unownedCodesTotal: number;
  /** The first few that no completed run has reported before. */
  readonly rejectedRows: readonly RejectedRowPlace[];
  /** Held now, in the job's sources. */
  readonly heldFiles: readonly HeldFile[];
  /** The first few of the job. */
  readonly doubts: readonly Doubt[];
  /** Of the job, until a person acknowledges them. */
  readonly doubleCredits: readonly DoubleCredit[];
  readonly adjustments: readonly AdjustmentGroup[];
  /** What could not be used of codes.csv. */
  readonly codeProblems: readonly CodeProblem[];
};
