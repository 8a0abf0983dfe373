import type { KnownErrorDetails } from './known-error.ts';

/** Kinds of units of work: parts of a run that any worker may do and that may be repeated. */
export const UNIT_KINDS = [
  'read-source',
  'post-share',
  'post-backfill',
  'fetch-deals',
  'submit-batches',
] as const;
export type UnitKind = (typeof UNIT_KINDS)[number];

/**
 * The input of a unit; its form depends on the kind. It is stored, so it contains no addresses and no row
 * values.
 */
export type UnitPayload = Readonly<Record<string, string | number | boolean | null>>;

/** A unit of work, as a worker receives it. */
export type Unit = {
  readonly unitId: string;
  readonly runId: string;
  readonly job: string;
  readonly kind: UnitKind;
  readonly payload: UnitPayload;
};

/**
 * The result of a unit, reported by its worker. It is stored, so it contains no addresses and no row values.
 */
export type UnitResult = Readonly<Record<string, unknown>> & {
  /** Messages of the worker, which the run shows. */
  readonly notes: readonly string[];
};

/** How a unit ended, as reported to the run that handed it out. */
export type UnitEnd =
  | { readonly kind: 'done'; readonly result: UnitResult }
  /** An error with which the run would have ended if it had done the unit itself. */
  | { readonly kind: 'failed'; readonly problem: KnownErrorDetails }
  /** Its worker died or failed repeatedly. */
  | { readonly kind: 'given_up'; readonly message: string }
  /** Not done: there are no workers any more, or the run is ending. */
  | { readonly kind: 'left' };

export type SpreadOptions = {
  readonly kind: UnitKind;
  /**
   * Divides the work into units for this number of places that work in parallel. A single unit is not worth
   * handing out.
   */
  readonly cut: (places: number) => Promise<readonly UnitPayload[]>;
  /** Called with the amount of additional work done, in what the units count. */
  readonly onProgress: (count: number) => void;
  /** Called with each unit that ends. @returns true if no further unit is to begin. */
  readonly onEnd: (end: UnitEnd) => boolean;
  /** Aborts when the run must end. */
  readonly signal: AbortSignal;
  /** False once the run may have lost its leases. No process then begins or continues a unit of this run. */
  readonly isLeaseHeld: () => boolean;
};

/**
 * Hands out units of a run to workers, and waits until all of them have ended.
 *
 * @returns how each unit ended, in the order of the payloads. Null if nothing was handed out, because there
 * is no worker or too little to do.
 */
export type Spread = (options: SpreadOptions) => Promise<readonly UnitEnd[] | null>;

/** A worker without a heartbeat for this long counts as dead. Heartbeats are sent every 5 seconds. */
export const GONE_AFTER_MS = 20_000;
/** The same as an interval of Postgres. */
export const GONE_AFTER = `${GONE_AFTER_MS} milliseconds`;

/** A process that does units of work. */
export type WorkerSeen = {
  readonly workerId: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Kinds of units that it accepts. */
  readonly kinds: readonly string[];
  /** Number of units of each kind that it does in parallel. */
  readonly concurrency: number;
  readonly startedAt: Date;
  /** Its last sign of life. */
  readonly seenAt: Date;
  /** Since when it has been stopping and begins no more units; null if it does begin units. */
  readonly drainingSince: Date | null;
  /** Number of units that it is doing now. */
  readonly units: number;
};

/** What a unit is about, as far as people are told. */
export type UnitSubject = {
  readonly job: string;
  readonly kind: string;
  /** The source that it reads; null for other kinds. */
  readonly source: string | null;
  /** The backfill whose orders it posts; null for other kinds. */
  readonly backfillId: string | null;
};

/** A unit that no worker could do. The next run of the job does its work. */
export type GivenUpUnit = UnitSubject & { readonly runId: string; readonly at: Date };
