/*
 * Spans of a run: run → step → file → batch (or `files`, for small files that are read together), and below
 * the active one requests to the service and database statements. They are recorded only if
 * `telemetry/start-telemetry.ts` was started. Otherwise nothing of OpenTelemetry is loaded, and these functions
 * only do the work.
 *
 * Attributes are names of the configuration, our own words, ids of our own tables, and numbers. They never
 * contain an order id, an address, a file name, a value of a row, or the text of an error, which may quote
 * one.
 */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The name and attributes of a new span. */
export type SpanStart = { readonly name: string; readonly attributes: SpanAttributes };

/** The span of a run, as seen by its work. */
export type RunSpan = {
  /** Id of the trace, 32 hex digits. Null if nothing is traced. */
  readonly traceId: string | null;
  describe(attributes: SpanAttributes): void;
  /** Marks the run as failed, with a code for the reason. */
  fail(code: string): void;
  /** Starts a step, and ends the previous one. Null only ends the previous one. */
  enterStep(name: string | null): void;
};

/** The span of a part of a run, as seen by its work. */
export type PartSpan = Pick<RunSpan, 'describe'>;

/** The smallest spans. A run may have millions of them. */
export type Leaf = 'request' | 'statement';

/** A leaf that has just ended. */
export type EndedLeaf = {
  readonly seconds: number;
  /** Code of the failure. Null if it succeeded. */
  readonly failure: string | null;
  /** Called only if the leaf is recorded. */
  readonly describe: () => SpanStart;
};

/** Records spans. */
export type Tracing = {
  inRunSpan<Result>(start: SpanStart, work: (span: RunSpan) => Promise<Result>): Promise<Result>;
  inSpan<Result>(start: SpanStart, work: (span: PartSpan) => Promise<Result>): Promise<Result>;
  recordLeaf(leaf: Leaf, ended: EndedLeaf): void;
};

const current: { tracing?: Tracing } = {};

/** Sets how spans of this process are recorded from now on. Undefined turns recording off. */
export function useTracing(tracing: Tracing | undefined): void {
  if (tracing === undefined) delete current.tracing;
  else current.tracing = tracing;
}

/** Does the work of a run in a span of its own, which ends with the work. */
export function inRunSpan<Result>(
  start: SpanStart,
  work: (span: RunSpan) => Promise<Result>,
): Promise<Result> {
  return current.tracing === undefined ? work(NOT_TRACED) : current.tracing.inRunSpan(start, work);
}

/** Does a part of a run's work in a span of its own. */
export function inSpan<Result>(start: SpanStart, work: (span: PartSpan) => Promise<Result>): Promise<Result> {
  return current.tracing === undefined ? work(NOT_TRACED) : current.tracing.inSpan(start, work);
}

/** Records a leaf below the active span, if that belongs to a run. */
export function recordLeaf(leaf: Leaf, ended: EndedLeaf): void {
  current.tracing?.recordLeaf(leaf, ended);
}

const NOT_TRACED: RunSpan = { traceId: null, describe: () => {}, fail: () => {}, enterStep: () => {} };
