import type { JobTiming } from '../config/job-fields.ts';
import { KnownError } from '../core/known-error.ts';
import type { Progress } from '../core/progress.ts';
import { plural } from '../core/text/plural.ts';

export type WatchRunOptions = {
  readonly timing: Pick<JobTiming, 'deadlineMinutes' | 'stepMinutes' | 'stallMinutes'>;
  /** Aborts when all runs have to end. */
  readonly draining: AbortSignal;
  /**
   * How long a run that was ended may take to finish its requests in flight. Then its connections are cut.
   */
  readonly graceMs: number;
  /** Cuts the connections of the run. */
  readonly cut: () => void;
  /** What is watched, as it begins a sentence. Default: `The run`. */
  readonly subject?: string;
};

export type WatchedRun = {
  /** Shows no progress, but registers each step as a sign of life. */
  readonly progress: Progress;
  /**
   * Aborts when the run has to end, either with all others or because it takes too long (the reason is then a
   * KnownError).
   */
  readonly draining: AbortSignal;
  /** Aborts when the run did not end in time and is abandoned. */
  readonly abandoned: AbortSignal;
  /** Registers any other sign of life, for example an answer of the service. */
  notice(): void;
  stop(): void;
};

const MS_PER_MINUTE = 60_000;
const CHECK_EVERY_MS = 250;
/** Once its connections are cut, a flow fails quickly. If it has not returned within this time, it hangs. */
const GIVE_UP_AFTER_MS = 5_000;

/**
 * Ensures that a run ends. A run that exceeds its deadline, has a step that exceeds its limit, or makes no
 * progress at all is asked to end, like by SIGTERM. If it does not end within the grace period, its
 * connections are cut. If it still does not end, it is abandoned. Times are measured with the monotonic
 * clock, so suspending the machine does not count as a stall.
 */
export function watchRun({
  timing,
  draining,
  graceMs,
  cut,
  subject = 'The run',
}: WatchRunOptions): WatchedRun {
  const ending = new AbortController();
  const abandoning = new AbortController();
  const beganAt = performance.now();
  let step = { name: 'begin', beganAt };
  let movedAt = beganAt;
  let cutAt = Number.POSITIVE_INFINITY;
  let giveUpAt = Number.POSITIVE_INFINITY;

  const drain = () => ending.abort(draining.reason);
  draining.addEventListener('abort', drain);
  if (draining.aborted) drain();

  function overdueBecause(now: number): string | null {
    const { deadlineMinutes, stepMinutes, stallMinutes } = timing;
    const over = (ms: number, minutes: number | null): string | null =>
      minutes !== null && ms >= minutes * MS_PER_MINUTE ? plural(minutes, 'minute') : null;
    const stalled = over(now - movedAt, stallMinutes);
    if (stalled !== null)
      return `${subject} made no progress for ${stalled} (stall_minutes) in step ${step.name} and was ended.`;
    const inStep = over(now - step.beganAt, stepMinutes);
    if (inStep !== null)
      return `The step ${step.name} took longer than ${inStep} (step_minutes), and the run was ended.`;
    const inAll = over(now - beganAt, deadlineMinutes);
    return inAll === null ? null : `${subject} took longer than ${inAll} (deadline_minutes) and was ended.`;
  }
  function check(): void {
    const now = performance.now();
    const why = ending.signal.aborted ? null : overdueBecause(now);
    if (why !== null) {
      ending.abort(overdue(why));
      cutAt = now + graceMs;
    }
    if (now >= cutAt) {
      cut();
      cutAt = Number.POSITIVE_INFINITY;
      giveUpAt = now + GIVE_UP_AFTER_MS;
    }
    if (now >= giveUpAt) abandoning.abort(ending.signal.reason);
  }

  const timer = setInterval(check, CHECK_EVERY_MS);
  timer.unref();
  const notice = (): void => {
    movedAt = performance.now();
  };
  return {
    draining: ending.signal,
    abandoned: abandoning.signal,
    notice,
    progress: {
      begin({ name }) {
        notice();
        step = { name, beganAt: movedAt };
      },
      advance: notice,
      note: notice,
      end: notice,
    },
    stop() {
      clearInterval(timer);
      draining.removeEventListener('abort', drain);
    },
  };
}

/**
 * Stops waiting for the work once the run is abandoned. A flow that ignores its signal cannot be ended from
 * outside.
 */
export async function unlessAbandoned<Result>(
  work: Promise<Result>,
  abandoned?: AbortSignal,
): Promise<Result> {
  if (abandoned === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(abandoned.reason);
  abandoned.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    abandoned.removeEventListener('abort', onAbort);
  }
}

function overdue(message: string): KnownError {
  return new KnownError({
    code: 'run_overdue',
    message,
    help: 'The next run continues where this one stopped. If a run needs this long, raise the limit in the configuration.',
    safe: 'Requests in flight were finished if possible; the others are in doubt, and `review` shows them.',
  });
}
