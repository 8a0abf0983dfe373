import type { CheckFinding } from './checks/check-result.ts';
import type { DoubleCredit, Doubt } from './ledger.ts';
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
  /** Something waits for a person: rows to fix, files that are held, requests that were refused. */
  readonly needsAttention: boolean;
};

export type RunAmount = { readonly currency: string; readonly accepted: DecimalText };

/** What a run of a kind of job that reads files tells of them. */
export type FilesReport = RunReport<string, FileCounts, FileDetails>;

/** Of the run, and of runs of its job before it that died before they could report them. */
export type FileCounts = {
  /** Files that were read and sealed. */
  readonly files: number;
  /** Their records, headers excluded. */
  readonly rows: number;
  /** Rows of them that could not be used. */
  readonly rejected_rows: number;
};

export type FileDetails = {
  /** Files of the run with the same content as one read before. */
  readonly duplicateFiles: number;
  /** The first few that no completed run has reported before. */
  readonly rejectedRows: readonly RejectedRowPlace[];
  /** Held now, in the job's sources. */
  readonly heldFiles: readonly HeldFile[];
  /** What is unusual in files of the run that count all the same. */
  readonly warnings: readonly CheckFinding[];
};

/** What the ledger knows of a job that a person must settle. */
export type DoubtDetails = {
  /** The first few of the job. */
  readonly doubts: readonly Doubt[];
  /** Of the job, until a person acknowledges them. */
  readonly doubleCredits: readonly DoubleCredit[];
};

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

/** A row of codes.csv that cannot be used as it stands; the other rows count. */
export type CodeProblem = {
  /** 1-based, the header included. */
  readonly line: number;
  readonly column: string | null;
  readonly value: string | null;
  readonly reason: string;
  readonly help: string;
};

/** How things stand, as numbers that go up and down. Texts are names of the configuration, states and currencies, so that they stay few. */
export type Gauges = {
  /** Entries that are not settled, by job and state; those of processes that are gone count as in doubt. */
  readonly entries: readonly {
    readonly job: string;
    readonly state: string;
    readonly entries: number;
    /** Of the one that was made first. */
    readonly oldestSeconds: number;
  }[];
  /** The money of entries in doubt. */
  readonly doubtAmounts: readonly {
    readonly job: string;
    readonly currency: string;
    readonly amount: number;
  }[];
  /** Entries that the service refused and that are still wanted. */
  readonly refused: readonly { readonly job: string; readonly entries: number }[];
  readonly heldFiles: readonly { readonly source: string; readonly files: number }[];
  /** The last run of each job that came to its end. */
  readonly lastSuccess: readonly {
    readonly job: string;
    readonly startedAt: Date;
    readonly at: Date;
    /** As its kind counts. */
    readonly counts: object;
  }[];
  /** Jobs whose slots are skipped until a person resumes them. */
  readonly pausedJobs: readonly string[];
  /** Slots of the last day, and all that are not settled. */
  readonly slots: readonly { readonly job: string; readonly state: string; readonly slots: number }[];
  /** Processes that run jobs on schedule, this one included. */
  readonly servingProcesses: number;
  /** Workers that are alive; several versions during an upgrade. */
  readonly workers: readonly { readonly version: string; readonly workers: number }[];
  /** Units of work that runs have handed out and nobody has done. */
  readonly openUnits: readonly { readonly kind: string; readonly units: number }[];
  /** Problems that are open, as notices tell of them. */
  readonly problems: readonly { readonly kind: string; readonly job: string; readonly severity: string }[];
  /** Notices that channels have not taken: pending, or given up within the last day. */
  readonly deliveries: readonly {
    readonly channel: string;
    readonly state: string;
    readonly deliveries: number;
    /** For how long the oldest of them could have been sent; 0 while none may be. */
    readonly oldestSeconds: number;
  }[];
};
