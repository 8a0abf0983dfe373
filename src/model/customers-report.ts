import type { ConsentCount, PassedOver } from './contact.ts';
import type { HeldFile, RejectedRowPlace, ReportFrame } from './report.ts';

/**
 * What a run of `identify-customers` came to. `sumsAddUp`: customers = submitted + already + waiting + refused + unsubscribed, and as many
 * addresses are stored as customers wait.
 */
export type CustomersReport = ReportFrame<'identify-customers', CustomerCounts, CustomerDetails>;

/**
 * What a run did and where every customer of the brand stands after it. Its files and refusals are also those of runs of its job before
 * it that died before their report. Submitted is not identified: the service only says that it has
 * queued them.
 */
export type CustomerCounts = {
  /** Files read and sealed in this run. */
  readonly files: number;
  /** Records read in this run, headers excluded. */
  readonly rows: number;
  /** Rows of this run's files that could not be used. */
  readonly rejected_rows: number;
  /** Rows of this run's files whose customer is not submitted, by reason. */
  readonly passed_over: Readonly<Record<PassedOver, number>>;
  /** Customers of the brand that are known after this run, each counted once: the sum of the five below. */
  readonly customers: number;
  /** Taken by the service in this run. */
  readonly submitted: number;
  /** Taken before this run. */
  readonly already: number;
  /** To be submitted, for the first time or again. */
  readonly waiting: number;
  /** Not taken by the service. */
  readonly refused: number;
  /** Never sent, or not again. */
  readonly unsubscribed: number;
  /** Calls to `identify_influencers` that the service took in this run, and that it takes to submit who waits. */
  readonly calls: { readonly accepted: number; readonly to_make: number };
  /** Batches that were refused: cut in halves, and single addresses. */
  readonly refusals: { readonly split: number; readonly contacts: number };
  readonly lookups: {
    /** Answered in this run. */
    readonly asked: number;
    readonly influencers: number;
    readonly no_match: number;
    readonly refused: number;
    /** Left for a later file, because of the budget. */
    readonly beyond_budget: number;
    /** That a run would ask for now. */
    readonly to_ask: number;
  };
};

/** What the files of a source that a run has read say of consent. */
export type SourceConsent = ConsentCount & { readonly source: string };

export type CustomerDetails = {
  /** Of this run's files, by source and columns. */
  readonly consent: readonly SourceConsent[];
  /** Files of this run with the same content as one read before. */
  readonly duplicateFiles: number;
  /** The first few of this run. */
  readonly rejectedRows: readonly RejectedRowPlace[];
  /** Held now, in the job's sources. */
  readonly heldFiles: readonly HeldFile[];
  /** Why customers were refused, the commonest first, addresses masked. */
  readonly refusals: readonly { readonly message: string; readonly contacts: number }[];
  /** Null when the job looks nobody up. */
  readonly lookupBudget: number | null;
};
