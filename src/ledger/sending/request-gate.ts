import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { Outcome } from '../../core/ledger.ts';
import type { RunStop } from '../../core/run.ts';
import { specifiedService } from '../../service/description/schema.ts';

export type RequestGateOptions = {
  readonly concurrency: number;
  /**
   * Takes a turn, which is shared with other processes. Resolves to the time until that turn, in milliseconds.
   * Omitted if there is no limit.
   */
  readonly takeTurn?: (signal: AbortSignal) => Promise<number>;
  /** Checks that the service answers (`GET /v1/account/hello`). Never sends an order. */
  readonly probe: () => Promise<boolean>;
  /** False once this process may no longer claim entries. */
  readonly isLeaseHeld: () => boolean;
  /** By default `PROBES`. */
  readonly probes?: Probes;
  /**
   * Statuses that mean that the account cannot pay for the request. The specification does not say what was
   * processed before the credits ran out. By default those of the specified service.
   */
  readonly noCreditStatuses?: readonly number[];
  /** Called when the gate waits, so that a person sees why nothing happens. */
  readonly onWait: (reason: string, waitMs: number) => void;
};

/**
 * Decides whether and when the next request may be sent. Each run has one gate, and reports every outcome to
 * it.
 */
export type RequestGate = {
  /** Waits for a turn: rate limit, pause, breaker. Resolves to false if the gate is stopped. */
  enter(): Promise<boolean>;
  report(outcome: Outcome): void;
  /**
   * False if a claimed request must not be written any more: the gate is stopped, or the lease may have
   * expired.
   */
  mayWrite(): boolean;
  stop(stop: RunStop): void;
  /** Returns why the gate is stopped, or null. Entries that are ready stay ready for the next run. */
  stopped(): RunStop | null;
  /**
   * Counts a request without an answer that can be used, after its repetitions. What it is about waits for the
   * next run.
   */
  leaveUnanswered(reason: string): void;
  /** Returns why the run has not done all its work: the gate is stopped, or requests have no usable answer. */
  unfinished(): RunStop | null;
  /** Returns how many requests may be in flight now. */
  concurrency(): number;
  /** Aborts when the gate stops, for callers that wait for something else. */
  readonly signal: AbortSignal;
};

/** If the service requests a longer pause than this, the run ends and the next run continues. */
const LONGEST_PAUSE_MS = 120_000;

/** How often the service is probed. The wait before the first probe doubles for each further one. */
export type Probes = {
  /** After the last one the gate stops. */
  readonly count: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

/** A dead service is given a minute: 1, 2, 4, 8, 16 and 30 seconds. */
export const PROBES: Probes = { count: 6, firstWaitMs: 1_000, longestWaitMs: 30_000 };

/** The service did not answer a probe. The only failure that p-retry may retry. */
class NotAlive extends Error {}

export function createRequestGate(options: RequestGateOptions): RequestGate {
  const { noCreditStatuses = specifiedService.answers.no_credits } = options;
  const now = () => performance.now();
  const limiter = createConcurrencyLimiter(options.concurrency);
  const breaker = createBreaker(now);
  const stopping = new AbortController();
  let stopped: RunStop | null = null;
  let pausedUntil = 0;
  let unanswered = 0;
  let firstReason = '';
  let probing: Promise<void> | null = null;

  function stop(reason: RunStop): void {
    stopped ??= reason;
    stopping.abort();
  }

  /** Waits. If `stop` ends the wait early, it resolves without an error. */
  async function wait(waitMs: number): Promise<void> {
    await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
  }

  async function probeUntilAlive(reason: string): Promise<void> {
    const { count, firstWaitMs, longestWaitMs } = options.probes ?? PROBES;
    const { signal } = stopping;
    const tell = (waitMs: number): void => options.onWait(`${reason}; polling the service`, waitMs);
    async function probe(): Promise<void> {
      if (!(await options.probe())) throw new NotAlive();
    }

    tell(firstWaitMs);
    await wait(firstWaitMs);
    try {
      await pRetry(probe, {
        retries: count - 1,
        minTimeout: 2 * firstWaitMs,
        maxTimeout: longestWaitMs,
        shouldRetry: ({ error }) => error instanceof NotAlive,
        onFailedAttempt: ({ retriesLeft, retryDelay }) => {
          if (retriesLeft > 0) tell(retryDelay);
        },
        signal,
      });
      breaker.close();
      limiter.reset();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof NotAlive)) throw error;
      stop({ kind: 'unavailable', message: `${reason}, and the service has not answered since` });
    }
  }

  async function enter(): Promise<boolean> {
    while (stopped === null) {
      if (!options.isLeaseHeld()) {
        stop({
          kind: 'lease_lost',
          message: 'another process took over, or the database was unreachable for too long',
        });
      } else if (breaker.openBecause() !== null) {
        probing ??= probeUntilAlive(breaker.openBecause() ?? '').finally(() => {
          probing = null;
        });
        await probing;
      } else if (pausedUntil > now()) {
        await wait(pausedUntil - now());
      } else {
        const turnInMs = (await options.takeTurn?.(stopping.signal)) ?? 0;
        if (turnInMs <= 0 && stopped === null) return true;
        await wait(turnInMs);
        // Check again what happened while waiting. The turn itself is kept.
        if (
          stopped === null &&
          breaker.openBecause() === null &&
          pausedUntil <= now() &&
          options.isLeaseHeld()
        )
          return true;
      }
    }
    return false;
  }

  return {
    enter,
    stop,
    mayWrite: () => stopped === null && options.isLeaseHeld(),
    stopped: () => stopped,
    leaveUnanswered(reason) {
      if (unanswered === 0) firstReason = reason;
      unanswered += 1;
    },
    unfinished: () => stopped ?? (unanswered === 0 ? null : toStop(unanswered, firstReason)),
    concurrency: () => limiter.size(),
    signal: stopping.signal,
    report(outcome) {
      limiter.report(outcome);
      breaker.report(outcome);
      if (outcome.kind === 'rejected' && outcome.stopsGate)
        stop({ kind: 'unauthorised', message: outcome.message });
      // Without credits, every further request would be another doubt.
      if (outcome.kind === 'in_doubt' && noCreditStatuses.includes(outcome.httpStatus ?? 0))
        stop({ kind: 'unavailable', message: `the account has no credits left (${outcome.reason})` });
      if (outcome.kind !== 'throttled') return;
      const pauseMs = outcome.retryAfterMs ?? 1_000;
      if (pauseMs > LONGEST_PAUSE_MS) {
        stop({
          kind: 'throttled',
          message: `the service asks to wait for ${Math.ceil(pauseMs / 60_000)} minutes`,
        });
        return;
      }
      pausedUntil = Math.max(pausedUntil, now() + pauseMs);
      options.onWait(`the service asks to slow down (${outcome.httpStatus})`, pauseMs);
    },
  };
}

function toStop(requests: number, reason: string): RunStop {
  const [count, they] = requests === 1 ? ['One request', 'it is'] : [`${requests} requests`, 'they are'];
  return {
    kind: 'unanswered',
    message: `${count} got no clear answer, not even when repeated (${reason}). What ${they} about waits for the next run.`,
  };
}

/** Why an outcome is not the end of a request, for people. */
export function reasonOf(outcome: Outcome): string {
  if (outcome.kind === 'throttled') return 'HTTP 429: the service asks to slow down';
  if (outcome.kind === 'rejected') return `HTTP ${outcome.httpStatus}: ${outcome.message}`;
  return 'reason' in outcome ? outcome.reason : outcome.kind;
}

/** Number of doubts within the period that opens the breaker. It replaces blind retries. */
const DOUBTS_AT_MOST = 5;
const PERIOD_MS = 60_000;
/**
 * This number of consecutive requests that could not be written also opens the breaker: the service is
 * unreachable.
 */
const UNREACHED_AT_MOST = 5;

type Breaker = {
  report(outcome: Outcome): void;
  /** Returns why the breaker is open, or null while it is closed. */
  openBecause(): string | null;
  /** Closes the breaker. Called after a probe with `GET /v1/account/hello` succeeded. */
  close(): void;
};

/** Creates a breaker. @param now returns milliseconds on a monotonic clock. */
export function createBreaker(now: () => number): Breaker {
  let doubts: number[] = [];
  let unreached = 0;
  return {
    report(outcome) {
      unreached = outcome.kind === 'not_written' ? unreached + 1 : 0;
      if (outcome.kind !== 'in_doubt') return;
      const at = now();
      doubts = [...doubts.filter((doubt) => at - doubt < PERIOD_MS), at];
    },
    openBecause() {
      if (doubts.length >= DOUBTS_AT_MOST)
        return `${doubts.length} requests in ${PERIOD_MS / 1000} s are in doubt`;
      if (unreached >= UNREACHED_AT_MOST) return `${unreached} requests in a row could not be sent`;
      return null;
    },
    close() {
      doubts = [];
      unreached = 0;
    },
  };
}

/** Initial size. It is small, so that a wrong setting shows before many orders are affected. */
const FIRST_SIZE = 2;

/** Limits the number of requests in flight. */
type ConcurrencyLimiter = {
  size(): number;
  /**
   * Adapts the size: an accepted request increases it by one, up to the limit. A throttled request or a doubt
   * halves it.
   */
  report(outcome: Outcome): void;
  /** Resets the size after the breaker was open. */
  reset(): void;
};

/**
 * Creates a limiter with additive increase and multiplicative decrease. It starts small and grows with each
 * accepted request.
 */
export function createConcurrencyLimiter(limit: number): ConcurrencyLimiter {
  let size = Math.min(FIRST_SIZE, limit);
  return {
    size: () => size,
    report(outcome) {
      if (outcome.kind === 'accepted') size = Math.min(limit, size + 1);
      if (outcome.kind === 'throttled' || outcome.kind === 'in_doubt')
        size = Math.max(1, Math.floor(size / 2));
    },
    reset() {
      size = Math.min(FIRST_SIZE, limit);
    },
  };
}
