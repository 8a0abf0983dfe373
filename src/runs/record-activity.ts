import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Exchange } from '../core/http/exchange.ts';
import { storableText } from '../core/json/storable-json.ts';
import type { Progress, ProgressStep } from '../core/progress.ts';
import type { RunActivity, RunMessage, RunRequests, RunStep } from '../core/run.ts';
import { type Database, execute } from '../db/statement.ts';
import { type Client, observeClient } from '../service/client.ts';

/**
 * Frequent enough for the console to show progress, and rare enough to add only one statement to a second in
 * which a run posts 500 orders.
 */
const SAVE_EVERY_MS = 1_000;
/** Limits the messages of a run over thousands of faulty files. Command `files` lists the files. */
const MAX_MESSAGES = 200;
/** Longer than any `api.timeout_seconds`. */
const HOUR_US = 3_600_000_000;

export type RecordedRun = {
  /** Writes the activity to the database and forwards it to the previous listener. */
  readonly progress: Progress;
  /** Measures each request. Null for a plan. */
  readonly client: Client | null;
  /**
   * Writes the remaining activity. Never throws, because a run must not fail because of its activity record.
   */
  stop(): Promise<void>;
};

/** Records the activity of a run in the database: its steps, requests and messages. */
export function recordActivity(
  db: Database,
  { runId, progress, client }: { runId: string; progress: Progress; client: Client | null },
): RecordedRun {
  const steps = new Map<string, TimedStep>();
  const requests = new Map<string, Measured>();
  let current: TimedStep | null = null;
  const messages: RunMessage[] = [];
  let savedMessages = 0;
  let hasNews = false;
  let saving: Promise<void> | null = null;

  function enter(step: ProgressStep): void {
    leave();
    current = steps.get(step.name) ?? {
      label: step.label,
      times: 0,
      startedAt: new Date(),
      finishedAt: null,
      unit: step.unit,
      done: 0,
      total: 0,
      spentMs: 0,
      enteredAtMs: null,
    };
    steps.set(step.name, current);
    current.label = step.label;
    current.times += 1;
    current.total = step.total === null || current.total === null ? null : current.total + step.total;
    current.enteredAtMs = performance.now();
    hasNews = true;
  }
  function leave(): void {
    if (current === null) return;
    current.spentMs = spentIn(current);
    current.enteredAtMs = null;
    current.finishedAt = new Date();
    current = null;
    hasNews = true;
  }
  async function save(): Promise<void> {
    if (!hasNews) return;
    hasNews = false;
    const activity: RunActivity = {
      steps: [...steps].map(([name, step]) => toStep(name, step)),
      requests: [...requests].map(([operation, measured]) => toRequests(operation, measured)),
      messages: messages.slice(savedMessages),
    };
    try {
      await saveRunActivity(db, { runId, activity });
      savedMessages += activity.messages.length;
    } catch {
      hasNews = true;
    }
  }
  // Only one save at a time, so that no others queue up behind a statement that hangs.
  const timer = setInterval(() => {
    saving ??= save().finally(() => {
      saving = null;
    });
  }, SAVE_EVERY_MS);
  timer.unref();

  return {
    progress: {
      begin(step) {
        enter(step);
        progress.begin(step);
      },
      advance(count, rows) {
        if (current !== null) current.done += count;
        hasNews = true;
        progress.advance(count, rows);
      },
      note(message) {
        if (messages.length < MAX_MESSAGES) {
          messages.push({ number: messages.length, at: new Date(), message: storableText(message) });
          hasNews = true;
        }
        progress.note(message);
      },
      end() {
        leave();
        progress.end();
      },
    },
    client: client === null ? null : measureClient(client, requests, () => (hasNews = true)),
    async stop() {
      clearInterval(timer);
      leave();
      await saving;
      await save();
    },
  };
}

type TimedStep = {
  label: string;
  times: number;
  readonly startedAt: Date;
  finishedAt: Date | null;
  readonly unit: string;
  done: number;
  total: number | null;
  /** Time spent in the step, without the current visit. */
  spentMs: number;
  /** Null while the run is in another step. */
  enteredAtMs: number | null;
};

function spentIn({ spentMs, enteredAtMs }: TimedStep): number {
  return spentMs + (enteredAtMs === null ? 0 : performance.now() - enteredAtMs);
}

function toStep(name: string, step: TimedStep): RunStep {
  const { label, times, startedAt, finishedAt, unit, done, total, enteredAtMs } = step;
  return {
    name,
    label: storableText(label),
    times,
    startedAt,
    finishedAt: enteredAtMs === null ? finishedAt : null,
    seconds: spentIn(step) / 1_000,
    unit,
    done,
    total,
  };
}

type Measured = {
  answered: number;
  refused: number;
  throttled: number;
  failed: number;
  /** Duration of each request in microseconds, within 0.1 percent. */
  readonly took: RecordableHistogram;
};

function measureClient(client: Client, requests: Map<string, Measured>, onNews: () => void): Client {
  return observeClient(client, {
    begun: () => {},
    ended(operation, exchange, seconds) {
      const measured = requests.get(operation) ?? newMeasured();
      requests.set(operation, measured);
      measured.took.record(Math.max(1, Math.round(seconds * 1e6)));
      measured[outcomeOf(exchange)] += 1;
      onNews();
    },
  });
}

function newMeasured(): Measured {
  return { answered: 0, refused: 0, throttled: 0, failed: 0, took: createHistogram({ highest: HOUR_US }) };
}

function outcomeOf(exchange: Exchange): 'answered' | 'refused' | 'throttled' | 'failed' {
  if (exchange.kind === 'failure') return 'failed';
  const { status } = exchange;
  if (status >= 200 && status <= 299) return 'answered';
  if (status === 429) return 'throttled';
  return status >= 400 && status <= 499 ? 'refused' : 'failed';
}

function toRequests(operation: string, { took, ...outcomes }: Measured): RunRequests {
  const { answered, refused, throttled, failed } = outcomes;
  return {
    operation,
    requests: answered + refused + throttled + failed,
    ...outcomes,
    medianMs: took.percentile(50) / 1_000,
    p95Ms: took.percentile(95) / 1_000,
    slowestMs: took.max / 1_000,
  };
}

/**
 * Writes what a run has done so far, in one statement. Replaces the steps and requests written before;
 * messages are only added.
 *
 * @param activity complete steps and operations, and the messages that were not written before.
 */
export async function saveRunActivity(
  db: Database,
  { runId, activity }: { runId: string; activity: RunActivity },
): Promise<void> {
  const steps = activity.steps.map((step, position) => ({ ...step, position }));
  await execute(db)`
    with steps as (
      insert into ops.run_steps (run_id, step, position, label, times, started_at, seconds, finished_at, unit,
        done, total)
      select ${runId}::bigint, s.name, s.position, s.label, s.times, s."startedAt", s.seconds, s."finishedAt",
        s.unit, s.done, s.total
      from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as s (
        name text, position integer, label text, times integer, "startedAt" timestamptz, seconds numeric,
        "finishedAt" timestamptz, unit text, done bigint, total bigint)
      on conflict (run_id, step) do update set label = excluded.label, times = excluded.times,
      seconds = excluded.seconds,
        finished_at = excluded.finished_at, done = excluded.done, total = excluded.total
    ), requests as (
      insert into ops.run_requests (run_id, operation, requests, answered, refused, throttled, failed,
        median_ms, p95_ms, slowest_ms)
      select ${runId}::bigint, r.operation, r.requests, r.answered, r.refused, r.throttled, r.failed,
        r."medianMs", r."p95Ms", r."slowestMs"
      from jsonb_to_recordset(${JSON.stringify(activity.requests)}::jsonb) as r (
        operation text, requests bigint, answered bigint, refused bigint, throttled bigint, failed bigint,
        "medianMs" numeric, "p95Ms" numeric, "slowestMs" numeric)
      on conflict (run_id, operation) do update set requests = excluded.requests,
      answered = excluded.answered, refused = excluded.refused,
        throttled = excluded.throttled, failed = excluded.failed, median_ms = excluded.median_ms,
        p95_ms = excluded.p95_ms, slowest_ms = excluded.slowest_ms
    )
    insert into ops.run_messages (run_id, message_no, at, message)
    select ${runId}::bigint, m.number, m.at, m.message
    from jsonb_to_recordset(${JSON.stringify(activity.messages)}::jsonb) as m (number integer, at timestamptz,
      message text)
    on conflict do nothing`;
}
