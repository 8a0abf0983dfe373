import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { type Client, observeClient } from '../../api/client.ts';
import type { Database } from '../../db/connect.ts';
import type { Exchange } from '../../model/http/exchange.ts';
import type { Progress, ProgressStep } from '../../model/progress.ts';
import type { RunActivity, RunMessage, RunRequests, RunStep } from '../../model/run.ts';
import { cleanText } from '../../model/text/storable-json.ts';
import { saveRunActivity } from '../../schedule/run-activity.ts';

/** Somebody who follows a run in the console sees it move, and a run that posts 500 orders a second writes one statement more. */
const SAVE_EVERY_MS = 1_000;
/** A run over ten thousand faulty files says so ten thousand times; the files are in `files`. */
const MAX_MESSAGES = 200;
/** Longer than any `api.timeout_seconds`. */
const HOUR_US = 3_600_000_000;

export type RecordedRun = {
  /** Tells both the database and whom it was told before. */
  readonly progress: Progress;
  /** Measures each request. */
  readonly client: Client | null;
  /** Writes what is left. Never throws: what a run did with its time is worth less than the run. */
  stop(): Promise<void>;
};

/** Keeps in the database what a run does with its time: its steps, its requests, and what it says while it goes on. */
export function recordActivity(
  db: Database,
  {
    runId,
    progress,
    client,
  }: { readonly runId: string; readonly progress: Progress; readonly client: Client | null },
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
    current = steps.get(step.name) ?? newStep(step);
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
  // One at a time: a statement that hangs is not followed by a queue of others.
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
          messages.push({ number: messages.length, at: new Date(), message: cleanText(message) });
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
  /** In times that have ended. */
  spentMs: number;
  /** Null while the run is elsewhere. */
  enteredAtMs: number | null;
};

function newStep({ label, unit }: ProgressStep): TimedStep {
  return {
    label,
    times: 0,
    startedAt: new Date(),
    finishedAt: null,
    unit,
    done: 0,
    total: 0,
    spentMs: 0,
    enteredAtMs: null,
  };
}

function spentIn({ spentMs, enteredAtMs }: TimedStep): number {
  return spentMs + (enteredAtMs === null ? 0 : performance.now() - enteredAtMs);
}

function toStep(name: string, step: TimedStep): RunStep {
  const { label, times, startedAt, finishedAt, unit, done, total, enteredAtMs } = step;
  return {
    name,
    label: cleanText(label),
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
  /** Microseconds of each request, within 0.1 percent. */
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
