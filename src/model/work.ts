import type { KnownErrorDetails } from './known-error.ts';

/** Kinds of units of work: parts of a run that any worker may do, and that may be repeated. */
export const UNIT_KINDS = ['read-source', 'post-share'] as const;
export type UnitKind = (typeof UNIT_KINDS)[number];

/** What to do, by kind. Stored: no addresses, no values of rows. */
export type UnitPayload = Readonly<Record<string, string | number | boolean | null>>;

/** A unit of work, as a worker gets it. */
export type Unit = {
  readonly unitId: string;
  readonly runId: string;
  readonly job: string;
  readonly kind: UnitKind;
  readonly payload: UnitPayload;
};

/** What a worker tells of a unit that it has done. Stored: no addresses, no values of rows. */
export type UnitResult = Readonly<Record<string, unknown>> & {
  /** What it had to say meanwhile, for the run to say. */
  readonly notes: readonly string[];
};

/** How a unit ended, as the run that handed it out learns it. */
export type UnitEnd =
  | { readonly kind: 'done'; readonly result: UnitResult }
  /** An error that the run would have ended with, had it done the unit itself. */
  | { readonly kind: 'failed'; readonly problem: KnownErrorDetails }
  /** Its worker died, or failed in another way, again and again. */
  | { readonly kind: 'given_up'; readonly message: string }
  /** Nobody has done it: there are no workers any more, or the run ends. */
  | { readonly kind: 'left' };

export type SpreadOptions = {
  readonly kind: UnitKind;
  /** Cuts the work into units for so many that are done at a time. One unit or none is not worth handing out. */
  readonly cut: (places: number) => Promise<readonly UnitPayload[]>;
  /** Told how much more is done, in what the units count. */
  readonly onProgress: (count: number) => void;
  /** Told of each unit that ends. @returns true when no further one is to begin. */
  readonly onEnd: (end: UnitEnd) => boolean;
  /** Aborts when the run is to end. */
  readonly signal: AbortSignal;
  /** False once the run can no longer be sure of its leases: nobody begins or goes on with a unit of such a run. */
  readonly isLeaseHeld: () => boolean;
};

/**
 * Hands out units of a run to workers, and waits until each has ended.
 *
 * @returns how each ended, in the order of their payloads; null where nothing was handed out, since there is no worker, or not enough to do.
 */
export type Spread = (options: SpreadOptions) => Promise<readonly UnitEnd[] | null>;

/** A worker that has given no sign of life for so long is taken for gone; one comes every 5 seconds. */
export const GONE_AFTER = '20 seconds';

/** A process that does units of work. */
export type WorkerSeen = {
  readonly workerId: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Kinds of units that it takes. */
  readonly kinds: readonly string[];
  /** Units of each kind that it does at a time. */
  readonly concurrency: number;
  readonly startedAt: Date;
  /** Units that it is doing now. */
  readonly units: number;
};

/** A unit that no worker could do. What it would have done, the next run of the job does. */
export type GivenUpUnit = {
  readonly job: string;
  readonly runId: string;
  readonly kind: string;
  readonly payload: UnitPayload;
  readonly at: Date;
};
