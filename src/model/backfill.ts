import type { DecimalText } from './order.ts';
import type { RunAmount } from './report.ts';

/** `replaced`: a newer plan took its place. `running` also when its process is gone: it can be resumed. */
export type BackfillState = 'planned' | 'replaced' | 'running' | 'paused' | 'cancelled' | 'done';

/** Days of the calendar, YYYY-MM-DD, both included, on the wall clock of an IANA zone. */
export type Period = { readonly fromDay: string; readonly toDay: string; readonly timeZone: string };

/**
 * What a backfill would do with an order. `to_post`: post it. `waiting`: a run of the job, or another backfill, posts it. The others as
 * in the report of a run.
 */
export type PlanStanding =
  | 'to_post'
  | 'already'
  | 'waiting'
  | 'excluded'
  | 'unattributed'
  | 'organic'
  | 'held'
  | 'rejected'
  | 'in_doubt';

/** Orders of one month that the plan treats alike. */
export type PlanGroup = {
  /** YYYY-MM, in the zone of the period. */
  readonly month: string;
  readonly standing: PlanStanding;
  readonly reason: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Revenue by the job's rule, in currency. */
  readonly amount: DecimalText;
};

/** A file that states orders of the period. */
export type PlannedFile = {
  readonly source: string;
  readonly uri: string;
  readonly version: string;
  readonly orders: number;
};

export type BackfillPlan = {
  readonly files: readonly PlannedFile[];
  readonly groups: readonly PlanGroup[];
  /** Orders of the period that the job's runs credit by themselves, being placed on or after its start_date. */
  readonly ofTheRuns: number;
  /** Orders, of whatever period, that say neither when they were placed nor when they were paid. */
  readonly undated: number;
};

export type Backfill = {
  readonly backfillId: string;
  readonly job: string;
  readonly state: BackfillState;
  readonly period: Period;
  readonly planHash: string;
  readonly plan: BackfillPlan;
  /** The run that planned it. */
  readonly runId: string;
  readonly requestsPerSecond: number | null;
  readonly concurrency: number | null;
  readonly plannedAt: Date;
  readonly approvedBy: string | null;
  readonly approvedAt: Date | null;
  readonly problem: string | null;
};

/** What differs from what a plan said, in numbers of orders and with a few of them. */
export type PlanChanges = {
  /** To be posted now, and not in the plan. */
  readonly more: ChangedOrders;
  /** In the plan, and not to be posted now: credited since, or no longer to be credited. */
  readonly fewer: ChangedOrders;
  /** In both, with another amount, currency or influencer. */
  readonly other: ChangedOrders;
  /** Files that came, went or were replaced. */
  readonly files: readonly string[];
};

export type ChangedOrders = { readonly orders: number; readonly examples: readonly string[] };

/** What one process that planned or executed a backfill did; kept with its record as the report of a run is. */
export type BackfillRunReport = {
  readonly counts: BackfillRunCounts;
  readonly amounts: readonly RunAmount[];
};

export type BackfillRunCounts = {
  /** Files read and sealed by it. */
  readonly files: number;
  /** Records of them, headers excluded. */
  readonly rows: number;
  readonly rejected_rows: number;
  /** Orders that the plan which it made would post; null when it made none, or none that says anything new. */
  readonly planned: number | null;
  /** What became of the orders that it sent. */
  readonly entries: { readonly accepted: number; readonly rejected: number; readonly in_doubt: number };
};

/** An order that was credited elsewhere before: one row of the file that says so. */
export type SeedRow = {
  /** 1-based, the header included. */
  readonly line: number;
  readonly orderPlatform: string;
  readonly orderId: string;
  /** What was credited, in `currency`, where the file says. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly reason: string | null;
};

/** A row that cannot be used: then nothing of the file is. */
export type SeedProblem = {
  readonly line: number;
  readonly column: string | null;
  readonly reason: string;
  readonly help: string;
};

/** What a seed came to. */
export type Seeded = {
  readonly seedId: string;
  readonly orders: number;
  /** Entries that waited to be posted and no longer do. */
  readonly heldBack: number;
  /** Orders that may have been processed from here: nothing about them was changed. By state, with a few of their ids. */
  readonly untouched: readonly {
    readonly state: string;
    readonly orders: number;
    readonly examples: readonly string[];
  }[];
};
