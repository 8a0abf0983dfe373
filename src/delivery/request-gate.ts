import { setTimeout as sleep } from 'node:timers/promises';
import { specifiedService } from '../api/description/schema.ts';
import type { Outcome } from '../model/ledger.ts';
import type { RunStop } from '../model/run.ts';
import { createBreaker } from './breaker.ts';
import { createConcurrencyLimiter } from './concurrency-limiter.ts';

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
  /** How long to wait before each probe, in milliseconds. After the last one the gate stops. By default `PROBE_WAITS_MS`. */
  readonly probeWaitsMs?: readonly number[];
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
  /** Counts a request that may be repeated and has no clear answer. What it is about waits for the next run. */
  leaveUnanswered(outcome: Outcome): void;
  /** Returns why the run has not done all its work: the gate is stopped, or requests have no clear answer. */
  unfinished(): RunStop | null;
  /** Returns how many requests may be in flight now. */
  concurrency(): number;
  /** Aborts when the gate stops, for callers that wait for something else. */
  readonly signal: AbortSignal;
};

/** If the service requests a longer pause than this, the run ends and the next run continues. */
const LONGEST_PAUSE_MS = 120_000;

/** A dead service is given a minute. */
export const PROBE_WAITS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

export function createRequestGate(options: RequestGateOptions): RequestGate {
  const { noCreditStatuses = specifiedService.answers.no_credits } = options;
  const now = () => performance.now();
  const limiter = createConcurrencyLimiter(options.concurrency);
  const breaker = createBreaker(now);
  const stopping = new AbortController();
  let stopped: RunStop | null = null;
  let pausedUntil = 0;
  let unanswered = 0;
  let firstUnanswered: Outcome | null = null;
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
    for (const waitMs of options.probeWaitsMs ?? PROBE_WAITS_MS) {
      options.onWait(`${reason}; polling the service`, waitMs);
      await wait(waitMs);
      if (stopped !== null) return;
      if (await options.probe()) {
        breaker.close();
        limiter.reset();
        return;
      }
    }
    stop({ kind: 'unavailable', message: `${reason}, and the service has not answered since` });
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
    leaveUnanswered(outcome) {
      unanswered += 1;
      firstUnanswered ??= outcome;
    },
    unfinished: () => stopped ?? (firstUnanswered === null ? null : toStop(unanswered, firstUnanswered)),
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

function toStop(requests: number, outcome: Outcome): RunStop {
  const count = requests === 1 ? 'One request' : `${requests} requests`;
  const status = 'httpStatus' in outcome ? outcome.httpStatus : null;
  const why = 'reason' in outcome ? outcome.reason : `HTTP ${status}: the service asks to slow down`;
  return {
    kind: 'unanswered',
    message: `${count} got no clear answer, although each was repeated (${why}). What they are about waits for the next run.`,
  };
}
