/*
 * Spans of a run: run → step → file → batch, and below whichever of them is at work, requests to the service and statements of the database.
 * They are recorded where `telemetry/start-telemetry.ts` was asked for; everywhere else nothing of OpenTelemetry is loaded, and what is
 * here does nothing but the work.
 *
 * Attributes are names of the configuration, words of ours, ids of our own tables and numbers: never an order id, an address, the name of a
 * file, a value of a row, or the text of an error, which may quote one.
 */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** How a span begins. */
export type SpanStart = { readonly name: string; readonly attributes: SpanAttributes };

/** A run's own span, as its work sees it. */
export type RunSpan = {
  /** Of the trace, 32 hex digits; null where nothing is traced. */
  readonly traceId: string | null;
  /** Adds to what the span says. */
  describe(attributes: SpanAttributes): void;
  /** The run has failed; the code says why. */
  fail(code: string): void;
  /** A step begins, and the one before it ends; null: the last one has ended. */
  enterStep(name: string | null): void;
};

/** The span of a part of a run, as its work sees it. */
export type PartSpan = Pick<RunSpan, 'describe'>;

/** The smallest spans, of which a run may have millions. */
export type Leaf = 'request' | 'statement';

/** A leaf that has just ended. */
export type EndedLeaf = {
  readonly seconds: number;
  /** Why it failed, as a code; null: it did not. */
  readonly failure: string | null;
  /** Asked only if it is recorded. */
  readonly describe: () => SpanStart;
};

/** Records spans. */
export type Tracing = {
  inRunSpan<Result>(start: SpanStart, work: (span: RunSpan) => Promise<Result>): Promise<Result>;
  inSpan<Result>(start: SpanStart, work: (span: PartSpan) => Promise<Result>): Promise<Result>;
  recordLeaf(leaf: Leaf, ended: EndedLeaf): void;
};

const current: { tracing?: Tracing } = {};

/** From now on spans of this process are recorded so; undefined: not any more. */
export function useTracing(tracing: Tracing | undefined): void {
  if (tracing === undefined) delete current.tracing;
  else current.tracing = tracing;
}

/** Does the work of a run below a span of its own, which ends with it. */
export function inRunSpan<Result>(
  start: SpanStart,
  work: (span: RunSpan) => Promise<Result>,
): Promise<Result> {
  return current.tracing === undefined ? work(NOT_TRACED) : current.tracing.inRunSpan(start, work);
}

/** Does a part of a run's work below a span of its own. */
export function inSpan<Result>(start: SpanStart, work: (span: PartSpan) => Promise<Result>): Promise<Result> {
  return current.tracing === undefined ? work(NOT_TRACED) : current.tracing.inSpan(start, work);
}

/** Records a leaf below whatever is at work, if that belongs to a run. */
export function recordLeaf(leaf: Leaf, ended: EndedLeaf): void {
  current.tracing?.recordLeaf(leaf, ended);
}

const NOT_TRACED: RunSpan = { traceId: null, describe: () => {}, fail: () => {}, enterStep: () => {} };
