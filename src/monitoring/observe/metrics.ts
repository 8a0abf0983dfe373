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
import type { Gauges } from '../../core/report.ts';

export type MetricsOptions = {
  readonly version: string;
  /** Reads figures from the database, when metrics are requested. Null if it is unreachable. */
  readonly readGauges: () => Promise<Gauges | null>;
  /** The next slot of each job. */
  readonly nextSlots: () => readonly { readonly job: string; readonly at: Date }[];
  /**
   * How late each job is by its schedule, and how late it may be. @param lastBegunAt returns the start of the
   * last completed run.
   */
  readonly overdue: (
    lastBegunAt: (job: string) => Date | null,
  ) => readonly { readonly job: string; readonly seconds: number; readonly limitSeconds: number }[];
  /**
   * What a run left for later because its budget was used up, from its counts. Null for a job without a
   * budget.
   */
  readonly beyondBudget: (job: string, counts: object) => number | null;
  /** When this process last polled the schedule successfully. Null if it has not yet. */
  readonly lastPoll: () => Date | null;
  /** Names of the jobs that are running in this process. */
  readonly atWork: () => readonly string[];
  /** Whether the database had every claim that was made from here, at the last check. */
  readonly isLedgerContinuous: () => boolean;
};

export type Metrics = {
  /** The metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
  /** The same metrics as values, for other exporters. */
  values(): Promise<readonly MetricValues[]>;
  requestBegun(operation: string): void;
  requestEnded(operation: string, exchange: Exchange, seconds: number): void;
  /**
   * @param run.counts the counts of the run's report. Those named rows and rejected_rows are added to the
   * metrics.
   */
  runEnded(run: { readonly job: string; readonly status: string; readonly counts: object }): void;
};

/** A metric with its value for each combination of labels. */
export type MetricValues = MetricObjectWithValues<MetricValueWithName<string>>;

/** The service answers within tens of milliseconds to seconds. api.timeout_seconds is 30 by default. */
const LATENCY_BUCKETS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const PREFIX = 'influencer_sync';

/**
 * The metrics of /metrics: counters of this process, and the state of the database. Dashboards depend on the
 * names.
 */
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
  const serving = new Gauge(
    define('serving_processes', 'Processes that run jobs on schedule, according to the database.'),
  );
  const entries = new Gauge(define('entries', 'Unsettled entries of the ledger.', ['job', 'state']));
  const doubtAmount = new Gauge(
    define('doubt_amount', 'Money of the entries in doubt, in units of the currency.', ['job', 'currency']),
  );
  const refused = new Gauge(
    define('refused_entries', 'Entries that the service refused and that the job still wants to post.', [
      'job',
    ]),
  );
  const held = new Gauge(define('held_files', 'Files that are held; none of their rows count.', ['source']));
  const backlog = new Gauge(define('backlog_entries', 'Entries that wait to be posted.', ['job']));
  const backlogAge = new Gauge(
    define('backlog_oldest_seconds', 'Age of the oldest entry that waits to be posted.', ['job']),
  );
  const beyondBudget = new Gauge(
    define('beyond_budget', 'How much the last run left for later because its budget was spent.', ['job']),
  );
  const lastSuccess = new Gauge(
    define('last_success_timestamp_seconds', 'When a run of the job last finished (ok or issues).', ['job']),
  );
  const overdue = new Gauge(
    define('overdue_seconds', 'How long a scheduled run has been due without a run finishing.', ['job']),
  );
  const overdueLimit = new Gauge(
    define('overdue_limit_seconds', 'How long a run may be due: deadline_minutes of the job, or an hour.', [
      'job',
    ]),
  );
  const paused = new Gauge(define('paused', 'Always 1: a person has paused the job.', ['job']));
  const slots = new Gauge(
    define('slots', 'Slots of the last 24 hours, and older unsettled ones.', ['job', 'state']),
  );
  const nextSlot = new Gauge(
    define('next_slot_timestamp_seconds', 'Time of the next slot of the job.', ['job']),
  );
  const problems = new Gauge(
    define('problems_open', 'Open problems, where notices are configured.', ['kind', 'job', 'severity']),
  );
  const deliveries = new Gauge(
    define('notice_deliveries', 'Notices that a channel has not accepted: pending, or recently given_up.', [
      'channel',
      'state',
    ]),
  );
  const deliveryAge = new Gauge(
    define(
      'notice_oldest_seconds',
      'How long the oldest notice that a channel has not accepted has been due.',
      ['channel'],
    ),
  );
  const workers = new Gauge(define('workers', 'Processes that do units of work for runs.', ['version']));
  const units = new Gauge(define('work_units_open', 'Unfinished units of work.', ['kind']));
  const atWork = new Gauge(define('jobs_at_work', 'Jobs running in this process.'));
  // Memory, CPU, garbage collection. The default precision would wake the process a hundred times per second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });

  const fromDatabase = [
    ...[serving, entries, doubtAmount, refused, held, backlog, backlogAge, beyondBudget, lastSuccess],
    ...[overdue, overdueLimit, paused, slots, problems, deliveries, deliveryAge, workers, units],
  ];

  async function gather(): Promise<void> {
    atWork.set(options.atWork().length);
    continuous.set(options.isLedgerContinuous() ? 1 : 0);
    const polledAt = options.lastPoll();
    if (polledAt !== null) lastPoll.set(polledAt.getTime() / 1000);
    for (const { job, at } of options.nextSlots()) nextSlot.set({ job }, at.getTime() / 1000);
    const gauges = await options.readGauges();
    database.set(gauges === null ? 0 : 1);
    for (const gauge of fromDatabase) gauge.reset();
    if (gauges !== null) show(gauges);
    // A gauge without labels is 0 after a reset, which would look like a value.
    else serving.remove();
  }

  function show(gauges: Gauges): void {
    serving.set(gauges.servingProcesses);
    for (const { job, state, entries: count, oldestSeconds } of gauges.entries) {
      entries.set({ job, state }, count);
      if (state !== 'ready') continue;
      backlog.set({ job }, count);
      backlogAge.set({ job }, oldestSeconds);
    }
    for (const { job, currency, amount } of gauges.doubtAmounts) doubtAmount.set({ job, currency }, amount);
    for (const { job, entries: count } of gauges.refused) refused.set({ job }, count);
    for (const { source, files } of gauges.heldFiles) held.set({ source }, files);
    for (const { job, at, counts } of gauges.lastSuccess) {
      lastSuccess.set({ job }, at.getTime() / 1000);
      const left = options.beyondBudget(job, counts);
      if (left !== null) beyondBudget.set({ job }, left);
    }
    for (const job of gauges.pausedJobs) paused.set({ job }, 1);
    const begun = new Map(gauges.lastSuccess.map(({ job, startedAt }) => [job, startedAt]));
    for (const { job, seconds, limitSeconds } of options.overdue((name) => begun.get(name) ?? null)) {
      // A person has paused it, so nothing is due.
      if (gauges.pausedJobs.includes(job)) continue;
      overdue.set({ job }, seconds);
      overdueLimit.set({ job }, limitSeconds);
    }
    for (const { job, state, slots: count } of gauges.slots) slots.set({ job, state }, count);
    for (const { version, workers: count } of gauges.workers) workers.set({ version }, count);
    for (const { kind, units: count } of gauges.openUnits) units.set({ kind }, count);
    for (const { kind, job, severity } of gauges.problems) problems.set({ kind, job, severity }, 1);
    for (const { channel, state, deliveries: count, oldestSeconds } of gauges.deliveries) {
      deliveries.set({ channel, state }, count);
      if (state === 'pending') deliveryAge.set({ channel }, oldestSeconds);
    }
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
