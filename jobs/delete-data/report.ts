import type { Certificate } from '../../src/model/privacy/forget.ts';
import { hasKept, isUnknown } from '../../src/model/privacy/forget.ts';
import type { Pruned } from '../../src/model/privacy/retention.ts';
import type { RunReport } from '../../src/model/report.ts';

/** What a run of `delete-data` came to. `sumsAddUp`: requests = forgotten before + forgotten + postponed + unreadable. */
export type DeleteDataReport = RunReport<'delete-data', DeletionCounts, DeletionDetails>;

export type DeletionCounts = {
  /** Addresses in the files of requests, each once. */
  readonly requests: number;
  /** Of them, by an earlier run. */
  readonly forgotten_before: number;
  /** In this run; of a plan: to be forgotten. */
  readonly forgotten: number;
  /** Of these: nothing was known of them. */
  readonly unknown: number;
  /** A job was at work with customers, so the next run forgets them. */
  readonly postponed: number;
  /** Rows that are no address. */
  readonly unreadable: number;
  /** Rows that were deleted because of their age; of a plan: to be deleted. */
  readonly pruned_rows: number;
};

export type DeletionDetails = {
  readonly pruned: Pruned;
  /** Of customers of whom something stays that only a person can remove. */
  readonly kept: readonly Certificate[];
  /** Files that could not be read, in sentences. */
  readonly problems: readonly string[];
};

export type Deleted = Pick<DeletionDetails, 'pruned' | 'problems'> &
  Pick<DeletionCounts, 'requests' | 'forgotten_before' | 'postponed' | 'unreadable'> & {
    readonly certificates: readonly Certificate[];
    /** Of a plan. */
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
