import type { DecimalText } from './order.ts';
import type { RejectedRow } from './record.ts';

/** What a run came to: what every kind of job tells in the same way, and counts and details of its own. */
export type RunReport<
  Kind extends string = string,
  Counts extends object = object,
  Details extends object = object,
> = {
  readonly kind: Kind;
  /** For programs: part of `run_finished`, and stored with the run. */
  readonly counts: Counts;
  readonly amounts: readonly RunAmount[];
  /** For people: what the summary says beyond the counts. */
  readonly details: Details;
  /** False only by a bug: something was lost, or counted twice. The run has then failed. */
  readonly sumsAddUp: boolean;
  /** Effects that may have happened without an answer that says so. */
  readonly doubts: number;
  /** Something waits for a person: rows to mend, files that are held, requests that were refused. */
  readonly needsAttention: boolean;
};

export type RunAmount = { readonly currency: string; readonly accepted: DecimalText };

/** A rejected row and the file it stands in. */
export type RejectedRowPlace = RejectedRow & {
  readonly sourceFileId: string;
  readonly source: string;
  readonly uri: string;
  readonly version: string;
  readonly runId: string;
};

export type HeldFile = {
  readonly source: string;
  readonly uri: string;
  readonly code: string;
  readonly message: string;
  readonly help: string;
};
