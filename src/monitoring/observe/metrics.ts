import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import type { Exchange } from '../../core/http/exchange.ts';
import { GAUGES, type Sample } from '../../reports/status/read-gauges.ts';

export type MetricsOptions = {
  readonly version: string;
  /** Reads the gauges of the database, when metrics are requested. Null if it is unreachable. */
  readonly readSamples: () => Promise<readonly Sample[] | null>;
  readonly nextSlots: () => readonly { readonly job: string; readonly at: Date }[];
  /** When this process last polled the schedule successfully. Null if it has not yet. */
  readonly lastPoll: () => Date | null;
  readonly atWork: () => readonly string[];
  /** Whether the database had every claim that was made from here, at the last check. */
  readonly isLedgerContinuous: () => boolean;
};

export type Metrics = {
  text(): Promise<string>;
  readonly contentType: string;
  /** The same metrics as values, for other exporters. */
  values(): Promise<readonly MetricValues[]>;
  requestBegun(operation: string): void;
  requestEnded(operation: string, exchange: Exchange, seconds: number): void;
  /** @param run.counts the counts of the run's report. Those named rows and rejected_rows are added to the metrics. */
  runEnded(run: { readonly job: string; readonly status: string; readonly counts: object }): void;
};

/** A metric with its value for each combination of labels. */
export type MetricValues = MetricObjectWithValues<MetricValueWithName<string>>;

/** The service answers within tens of milliseconds to seconds. api.timeout_seconds is 30 by default. */
const LATENCY_BUCKETS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const PREFIX = 'influencer_sync';

/** The metrics of /metrics: counters of this process, and the state of the database. Dashboards depend on the names. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const define = (name: string, help: string, labelNames: readonly string[] = []) => ({
    name: `${PREFIX}_${name}`,
    help,
    labelNames: [...labelNames],
    registers,
  });

  const runs = new Counter(define('runs_total', 'Runs that ended in this process.', ['job', 'status']));
  const rows = new Counter(define('rows_total', 'Rows of exports, by outcome.', ['job', 'outcome']));
  const requests = new Histogram({
    ...define('request_duration_seconds', 'Requests to the service, from the start to the complete answer.', [
      'operation',
      'outcome',
    ]),
    buckets: LATENCY_BUCKETS_S,
  });
  const throttled = new Counter(
    define('requests_throttled_total', 'Answers of the service with status 429.', ['operation']),
  );
  const inFlight = new Gauge(define('requests_in_flight', 'Requests in flight.'));
  const build = new Gauge(
    define('build_info', 'Always 1; the labels name the version.', ['version', 'node']),
  );
  build.set({ version: options.version, node: process.version }, 1);

  const continuous = new Gauge(
    define(
      'ledger_continuous',
      'Whether the database has every claim that this machine made; 0 means that nothing is posted.',
    ),
  );
  const lastPoll = new Gauge(
    define('last_poll_timestamp_seconds', 'When this process last polled for due slots.'),
  );
  const database = new Gauge(
    define('database_up', 'Whether the database could be read for the metrics below.'),
  );
  const nextSlot = new Gauge(
    define('next_slot_timestamp_seconds', 'Time of the next slot of the job.', ['job']),
  );
  const atWork = new Gauge(define('jobs_at_work', 'Jobs running in this process.'));
  // Memory, CPU, garbage collection. The default precision would wake the process a hundred times per second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });

  const fromDatabase = new Map(
    Object.entries(GAUGES).map(([name, [labels, help]]) => [name, new Gauge(define(name, help, labels))]),
  );

  async function gather(): Promise<void> {
    atWork.set(options.atWork().length);
    continuous.set(options.isLedgerContinuous() ? 1 : 0);
    const polledAt = options.lastPoll();
    if (polledAt !== null) lastPoll.set(polledAt.getTime() / 1000);
    for (const { job, at } of options.nextSlots()) nextSlot.set({ job }, at.getTime() / 1000);
    const samples = await options.readSamples();
    database.set(samples === null ? 0 : 1);
    for (const gauge of fromDatabase.values()) gauge.reset();
    for (const [name, labels, value] of samples ?? []) fromDatabase.get(name)?.set(labels, value);
    // A gauge without labels is 0 after a reset, which would look like a value.
    if (samples === null) fromDatabase.get('serving_processes')?.remove();
  }

  return {
    contentType: registry.contentType,
    async text() {
      await gather();
      return registry.metrics();
    },
    async values() {
      await gather();
      return (await registry.getMetricsAsJSON()) as MetricValues[];
    },
    requestBegun: () => inFlight.inc(),
    requestEnded(operation, exchange, seconds) {
      inFlight.dec();
      requests.observe({ operation, outcome: outcomeOf(exchange) }, seconds);
      if (exchange.kind === 'answer' && exchange.verdict?.kind === 'rate_limited')
        throttled.inc({ operation });
    },
    runEnded({ job, status, counts }) {
      runs.inc({ job, status });
      for (const outcome of ['rows', 'rejected_rows'] as const) {
        const count: unknown = (counts as Readonly<Record<string, unknown>>)[outcome];
        if (typeof count === 'number')
          rows.inc({ job, outcome: outcome === 'rows' ? 'read' : 'rejected' }, count);
      }
    },
  };
}

function outcomeOf(exchange: Exchange): string {
  if (exchange.kind === 'answer') return `${Math.floor(exchange.status / 100)}xx`;
  return exchange.written ? 'lost' : 'not_written';
}
