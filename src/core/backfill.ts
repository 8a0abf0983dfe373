import type { DecimalText } from './money.ts';
import type { RunAmount } from './report.ts';

/**
 * `replaced`: a newer plan took its place. A backfill stays `running` when its process dies, and can then be
 * resumed.
 */
export type BackfillState = 'planned' | 'replaced' | 'running' | 'paused' | 'cancelled' | 'done';

/**
 * Stands for the digest of the rules where a backfill has decided: about the orders of its plan alone. Of a file, the
 * job's next run decides about all orders.
 */
export const BACKFILL_RULES = 'backfill';

/** Calendar days, YYYY-MM-DD, both included, in the local time of an IANA zone. */
export type Period = { readonly fromDay: string; readonly toDay: string; readonly timeZone: string };

/**
 * What a backfill would do with an order. `to_post`: post it. `waiting`: a run of the job, or another
 * backfill, posts it. The others mean the same as in the report of a run.
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

/** Orders of one month that the plan treats in the same way. */
export type PlanGroup = {
  /** YYYY-MM, in the time zone of the period. */
  readonly month: string;
  readonly standing: PlanStanding;
  readonly reason: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Revenue by the job's rule, in `currency`. */
  readonly amount: DecimalText;
};

/** A file with orders of the period. */
export type PlannedFile = {
  readonly source: string;
  readonly uri: string;
  readonly version: string;
  readonly orders: number;
};

export type BackfillPlan = {
  readonly files: readonly PlannedFile[];
  readonly groups: readonly PlanGroup[];
  /** Orders of the period that the job's runs credit, because they were placed on or after its start_date. */
  readonly ofTheRuns: number;
  /** Orders of any period with neither a placement nor a payment time. */
  readonly undated: number;
};

export type Backfill = {
  readonly backfillId: string;
  readonly job: string;
  readonly state: BackfillState;
  readonly period: Period;
  readonly planHash: string;
  readonly plan: BackfillPlan;
  /** The run that made the plan. */
  readonly runId: string;
  readonly requestsPerSecond: number | null;
  readonly concurrency: number | null;
  readonly plannedAt: Date;
  readonly approvedBy: string | null;
  readonly approvedAt: Date | null;
  readonly problem: string | null;
};

/** The differences from a stored plan: numbers of orders, with a few examples. */
export type PlanChanges = {
  /** Would be posted now, but are not in the plan. */
  readonly more: ChangedOrders;
  /** Are in the plan, but would not be posted now: credited since, or no longer to be credited. */
  readonly fewer: ChangedOrders;
  /** Are in both, with another amount, currency or influencer. */
  readonly other: ChangedOrders;
  /** Files that were added, removed or replaced. */
  readonly files: readonly string[];
};

export type ChangedOrders = { readonly orders: number; readonly examples: readonly string[] };

/**
 * The name under which the runs of a job's backfills are recorded and hold their lease. No job can have this
 * name.
 */
export function backfillRunName(job: string): string {
  return `backfill:${job}`;
}

/**
 * What one process that planned or executed a backfill did. Stored with its record, like the report of a run.
 */
export type BackfillRunReport = {
  readonly counts: BackfillRunCounts;
  readonly amounts: readonly RunAmount[];
};

export type BackfillRunCounts = {
  /** Files that it read and sealed. */
  readonly files: number;
  /** Records of these files, without headers. */
  readonly rows: number;
  readonly rejected_rows: number;
  /** Orders that its plan would post. Null if it made no plan, or none that differs from the last one. */
  readonly planned: number | null;
  /** Results of the orders that it sent. */
  readonly entries: { readonly accepted: number; readonly rejected: number; readonly in_doubt: number };
};

/** One row of a seed file: an order that was credited elsewhere. */
export type SeedRow = {
  /** 1-based line number, counting the header. */
  readonly line: number;
  readonly orderPlatform: string;
  readonly orderId: string;
  /** The credited amount, in `currency`. Null if the file does not contain it. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly reason: string | null;
};

export type Seeded = {
  readonly seedId: string;
  /** True if a file with the same content was recorded before and still counts. Nothing was added then. */
  readonly isKnown: boolean;
  readonly orders: number;
  /** Entries that were waiting to be posted and are now held. */
  readonly heldBack: number;
  /** Orders that this ledger may have posted. They were not changed. By state, with a few of their ids. */
  readonly untouched: readonly {
    readonly state: string;
    readonly orders: number;
    readonly examples: readonly string[];
  }[];
};
