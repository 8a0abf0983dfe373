import { type Certificate, hasKept, isUnknown } from '../../src/core/privacy/forget.ts';
import type { Pruned } from '../../src/core/privacy/retention.ts';
import type { RunReport } from '../../src/core/report.ts';

/**
 * The result of a run of `delete-data`. `sumsAddUp` means that requests = forgotten before + forgotten +
 * postponed + unreadable.
 */
export type DeleteDataReport = RunReport<'delete-data', DeletionCounts, DeletionDetails>;

export type DeletionCounts = {
  /** Requests in the files: each address once, and each unreadable row. */
  readonly requests: number;
  /** Requests for customers whom an earlier run has forgotten. */
  readonly forgotten_before: number;
  /** Customers forgotten in this run; in a plan, customers to be forgotten. */
  readonly forgotten: number;
  /** The part of `forgotten` about whom nothing was stored. */
  readonly unknown: number;
  /** A job was working with customers, so the next run forgets these. */
  readonly postponed: number;
  /** Rows that are not an e-mail address. */
  readonly unreadable: number;
  /** Rows that were deleted because of their age; in a plan, rows to be deleted. */
  readonly pruned_rows: number;
};

export type DeletionDetails = {
  readonly pruned: Pruned;
  /** Certificates of customers with data that only a person can remove. */
  readonly kept: readonly Certificate[];
  /** Files that could not be read, described in sentences. */
  readonly problems: readonly string[];
};

export type Deleted = Pick<DeletionDetails, 'pruned' | 'problems'> &
  Pick<DeletionCounts, 'requests' | 'forgotten_before' | 'postponed' | 'unreadable'> & {
    readonly certificates: readonly Certificate[];
    /** Customers that a plan would forget. 0 in a run. */
    readonly toForget: number;
  };

export function reportDeletion({
  certificates,
  toForget,
  pruned,
  problems,
  ...counts
}: Deleted): DeleteDataReport {
  const kept = certificates.filter(hasKept);
  const forgotten = certificates.length + toForget;
  const { requests, forgotten_before, postponed, unreadable } = counts;
  return {
    kind: 'delete-data',
    counts: {
      ...counts,
      forgotten,
      unknown: certificates.filter(isUnknown).length,
      pruned_rows: pruned.tables.reduce((sum, { rows }) => sum + rows, 0),
    },
    amounts: [],
    details: { pruned, kept, problems },
    sumsAddUp: requests === forgotten_before + forgotten + postponed + unreadable,
    doubts: 0,
    needsAttention: kept.length + problems.length + unreadable > 0,
  };
}
