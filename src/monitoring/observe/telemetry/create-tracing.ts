import {
  type Context,
  context,
  createContextKey,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { KnownError } from '../../../core/known-error.ts';
import type { Leaf, Tracing } from '../../../ops/spans.ts';

/**
 * Number of leaves of each kind that are recorded in a run. Beyond that, only failed ones are recorded,
 * because no backend can show a trace of a million spans.
 */
const LEAVES_PER_RUN = 1_000;

type TracedRun = {
  readonly span: Span;
  /** The current step of the run. Steps follow each other and do not correspond to function calls. */
  step: Span | null;
  readonly left: Record<Leaf, number>;
};

/** Starts to record spans and to send them in batches. */
export function startTraces(resource: Resource, timeoutMillis: number) {
  const exporter = new OTLPTraceExporter({ timeoutMillis });
  const traces = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] });
  return { tracing: createTracing(traces.getTracer('influencer-sync')), shutdown: () => traces.shutdown() };
}

/** Records spans with OpenTelemetry. The asynchronous context determines which run a span belongs to. */
export function createTracing(tracer: Tracer): Tracing {
  const key = createContextKey('influencer-sync run');
  const currentRun = () => context.active().getValue(key) as TracedRun | undefined;

  function parent(): Context {
    const active = context.active();
    const run = currentRun();
    const isInStep = run !== undefined && run.step !== null && trace.getSpan(active) === run.span;
    return isInStep && run.step !== null ? trace.setSpan(active, run.step) : active;
  }

  async function work<Result>(
    span: Span,
    { below, doWork }: { below: Context; doWork: () => Promise<Result> },
  ): Promise<Result> {
    try {
      return await context.with(below, doWork);
    } catch (error) {
      markFailed(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    inRunSpan({ name, attributes }, doWork) {
      const span = tracer.startSpan(name, { attributes, root: true });
      const left = { request: LEAVES_PER_RUN, statement: LEAVES_PER_RUN };
      const run: TracedRun = { span, step: null, left };
      const below = trace.setSpan(context.active(), span).setValue(key, run);
      const enterStep = (step: string | null): void => {
        run.step?.end();
        run.step = step === null ? null : tracer.startSpan(`step ${step}`, {}, below);
      };
      const seen = {
        traceId: span.spanContext().traceId,
        describe: (more: Parameters<Span['setAttributes']>[0]) => void span.setAttributes(more),
        fail: (code: string) => markFailed(span, code),
        enterStep,
      };
      return work(span, { below, doWork: () => doWork(seen).finally(() => enterStep(null)) });
    },
    inSpan({ name, attributes }, doWork) {
      const above = parent();
      const span = tracer.startSpan(name, { attributes }, above);
      const seen = {
        describe: (more: Parameters<Span['setAttributes']>[0]) => void span.setAttributes(more),
      };
      return work(span, { below: trace.setSpan(above, span), doWork: () => doWork(seen) });
    },
    recordLeaf(leaf, { seconds, failure, describe }) {
      const run = currentRun();
      if (run === undefined || (run.left[leaf] <= 0 && failure === null)) return;
      run.left[leaf] -= 1;
      const { name, attributes } = describe();
      const endTime = Date.now();
      const options = { attributes, kind: SpanKind.CLIENT, startTime: endTime - seconds * 1000 };
      const span = tracer.startSpan(name, options, parent());
      if (failure !== null) markFailed(span, failure);
      span.end(endTime);
    },
  };
}

function markFailed(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The code of an error. Its text may quote a row. */
function codeOf(error: unknown): string {
  if (error instanceof KnownError) return error.details.code;
  return error instanceof Error ? error.name : 'unknown';
}
