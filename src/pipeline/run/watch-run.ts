import type { JobTiming } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { Progress } from '../../model/progress.ts';

export type WatchRunOptions = {
  readonly timing: Pick<JobTiming, 'deadlineMinutes' | 'stepMinutes' | 'stallMinutes'>;
  /** Aborts when all runs are to end. */
  readonly draining: AbortSignal;
  /** A run that was ended may take so long to finish what is on its way; then its connections are cut. */
  readonly graceMs: number;
  /** Cuts them. */
  readonly cut: () => void;
};

/** What a run that is watched uses. */
export type WatchedRun = {
  /** Shows no progress, but notices that the run moves. */
  readonly progress: Progress;
  /** Aborts when the run is to end: with all others, or because it takes too long (then the reason is a KnownError). */
  readonly draining: AbortSignal;
  /** Aborts when the run did not end and is given up. */
  readonly abandoned: AbortSignal;
  /** To be called at any other sign that the run moves, for example an answer of the service. */
  notice(): void;
  stop(): void;
};

const MS_PER_MINUTE = 60_000;
const CHECK_EVERY_MS = 250;
/** After its connections were cut a flow has errors to return with; what does not return by then hangs. */
const GIVE_UP_AFTER_MS = 5_000;

/**
 * Sees to it that a run ends: one that takes longer than its deadline, one step of which does, or that makes no progress at all, is asked
 * to end, like by SIGTERM. If it does not within the grace period, its connections are cut; and at last it is given up. Time is the
 * monotonic clock, so a machine that slept has not stalled.
 */
export function watchRun({ timing, draining, graceMs, cut }: WatchRunOptions): WatchedRun {
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
    if (isOver(now - movedAt, stallMinutes))
      return `The run made no progress for ${stallMinutes} minutes (stall_minutes) in step ${step.name} and was ended.`;
    if (isOver(now - step.beganAt, stepMinutes))
      return `The step ${step.name} took longer than ${stepMinutes} minutes (step_minutes), and the run was ended.`;
    if (isOver(now - beganAt, deadlineMinutes))
      return `The run took longer than ${deadlineMinutes} minutes (deadline_minutes) and was ended.`;
    return null;
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

function isOver(elapsedMs: number, minutes: number | null): boolean {
  return minutes !== null && elapsedMs >= minutes * MS_PER_MINUTE;
}

function overdue(message: string): KnownError {
  return new KnownError({
    code: 'run_overdue',
    message,
    help: 'The next run continues where this one stopped. If a run needs this long, raise the limit in the configuration.',
    safe: 'Requests in flight were finished if possible; the others are in doubt, and `review` shows them.',
    exitCode: EXIT.crash,
  });
}
