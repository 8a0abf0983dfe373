import type { CheckFinding } from './checks/check-result.ts';
import type { RowProblem } from './known-error.ts';
import type { ReadFor } from './layout.ts';
import type { DoubleCredit, Doubt } from './ledger.ts';
import type { DecimalText } from './money.ts';
import type { FooterRow, RejectedRow } from './record.ts';
import type { HoldReason } from './source.ts';

/** The result of a run: fields that every kind of job reports, and the counts and details of its kind. */
export type RunReport<
  Kind extends string = string,
  Counts extends object = object,
  Details extends object = object,
> = {
  readonly kind: Kind;
  /** Counts for programs. They are part of `run_finished` and stored with the run. */
  readonly counts: Counts;
  readonly amounts: readonly RunAmount[];
  /** Information for people that the summary shows in addition to the counts. */
  readonly details: Details;
  /** False only because of a bug: something was lost or counted twice. The run has then failed. */
  readonly sumsAddUp: boolean;
  /** Number of effects that may have happened although no answer confirms it. */
  readonly doubts: number;
  /** True if something waits for a person: rows to fix, held files, refused requests. */
  readonly needsAttention: boolean;
};

export type RunAmount = { readonly currency: string; readonly accepted: DecimalText };

/** The report of a kind of job that reads files. */
export type FilesReport = RunReport<string, FileCounts, FileDetails>;

/** Counts of the run, including earlier runs of its job that died before they could report them. */
export type FileCounts = {
  /** Files that were read and sealed. */
  readonly files: number;
  /** Number of records in these files, without headers. */
  readonly rows: number;
  /** Number of rows of these files that could not be used. */
  readonly rejected_rows: number;
};

export type FileDetails = {
  /** Files of the run with the same content as a file read before. */
  readonly duplicateFiles: number;
  /** The first few rejected rows that no completed run has reported before. */
  readonly rejectedRows: readonly RejectedRowInFile[];
  /** Files with rows that earlier runs rejected and reported, and that no later file has settled. */
  readonly unusedRows: readonly UnusedRows[];
  /** Rows at the ends of the files that were read that are no records of them, such as totals. */
  readonly footerRows: readonly FooterRowInFile[];
  readonly heldFiles: readonly HeldFile[];
  /** Unusual results for files of the run that were accepted nevertheless. */
  readonly warnings: readonly CheckFinding[];
};

/** Most rejected rows that each run looks at again: there may be many, and none of them may ever be settled. */
export const MOST_UNUSED_ROWS = 1_000;

/** Rejected rows of a file that are not used. Of all files, about `MOST_UNUSED_ROWS` are counted. */
export type UnusedRows = { readonly source: string; readonly uri: string; readonly rows: number };

/** What a person must settle in the ledger for a job. */
export type DoubtDetails = {
  /** The first few doubts of the job. */
  readonly doubts: readonly Doubt[];
  /** Double credits of the job that no person has acknowledged. */
  readonly doubleCredits: readonly DoubleCredit[];
};

/** A rejected row and the file that contains it. */
export type RejectedRowInFile = RejectedRow & {
  readonly sourceFileId: string;
  /** What the file was read for. A file that is read for orders and for customers can reject a row for each. */
  readonly readFor: ReadFor;
  readonly source: string;
  readonly uri: string;
  readonly version: string;
  readonly runId: string;
  /** Whether a file that was read later states its order. */
  readonly isSettled: boolean;
};

/** A row at the end of a file that is no record of it. */
export type FooterRowInFile = FooterRow & Pick<RejectedRowInFile, 'source' | 'uri'>;

export type HeldFile = Pick<HoldReason, 'code' | 'message' | 'help'> & {
  /** Number of this reading of the file. */
  readonly id: string;
  readonly source: string;
  readonly uri: string;
};

/** A row of codes.csv that cannot be used, or from an event, with a line below 1. The other rows still count. */
export type CodeProblem = RowProblem;
