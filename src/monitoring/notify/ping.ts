import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { PingSettings } from '../../config/notify-fields.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type Attempt, request } from './channels.ts';

/**
 * Time limit of a ping, so that a run does not wait longer. A check that receives no ping raises its alarm,
 * which is its purpose.
 */
const WITHIN_MS = 5_000;
/** How long the end of a run waits for the start ping. Longer than an answer usually takes. */
const START_WITHIN_MS = 1_000;
/** First wait after an attempt that failed. Doubles each time. */
const FIRST_WAIT_MS = 500;
/** Number of times that a ping is repeated: for 15 seconds. A start ping that is later than that helps nobody. */
const RETRIES = 5;
/** Refusals that may pass: a time limit, and too many requests. Others are final, as of a check that does not exist. */
const REFUSED_FOR_NOW = ['HTTP 408', 'HTTP 429'];

/** Pings that a run has started, sent to the dead-man's switches of its job. The run does not wait for them. */
export type StartedPing = {
  /** Pings the result of the run. Never throws, and takes at most a few seconds. */
  ended(exitCode: ExitCode): Promise<void>;
};

/**
 * Pings healthchecks.io or a compatible service: `/start` at the start, then the plain address for success,
 * or `/<exit code>`.
 *
 * @param pings all configured pings. Those of other jobs are skipped.
 */
export function startPing(pings: readonly PingSettings[], job: string): StartedPing {
  const mine = pings.filter(({ jobs }) => jobs?.includes(job) !== false);
  const starting = new AbortController();
  const signal = AbortSignal.any([starting.signal, AbortSignal.timeout(WITHIN_MS)]);
  const started = Promise.all(mine.map((ping) => send(addressOf(ping, job, '/start'), signal)));
  return {
    async ended(exitCode) {
      // The active run of the job will report its result.
      if (exitCode === EXIT.alreadyRunning) return;
      const path = exitCode === 0 ? '' : `/${exitCode}`;
      // The start ping must not arrive after the end. If it does not get through in time, it is aborted.
      await Promise.race([started, sleep(START_WITHIN_MS)]);
      starting.abort();
      await started;
      const signal = AbortSignal.timeout(WITHIN_MS);
      await Promise.all(mine.map((ping) => send(addressOf(ping, job, path), signal)));
    },
  };
}

/** Adds a line to the log of a check without changing its state, for `notify test`. */
export function testPing(ping: PingSettings): ReturnType<typeof request> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const init = { method: 'POST', body: 'Test of influencer-sync.' };
  return request(addressOf(ping, ping.jobs?.[0] ?? 'test', '/log'), { signal, now: new Date(), init });
}

/** Appends a path to an address, before its query if it has one. */
function addressOf({ url }: PingSettings, job: string, path: string): string {
  const address = new URL(url.replaceAll('{job}', encodeURIComponent(job)));
  address.pathname = `${address.pathname.endsWith('/') ? address.pathname.slice(0, -1) : address.pathname}${path}`;
  return address.href;
}

class NotAccepted extends Error {
  readonly retryAfterMs: number;
  readonly isFinal: boolean;

  constructor({ reason, retryAfterMs }: Extract<Attempt, { readonly kind: 'failed' }>) {
    super('not accepted');
    this.retryAfterMs = retryAfterMs ?? 0;
    this.isFinal = /^HTTP [34]/.test(reason) && !REFUSED_FOR_NOW.includes(reason);
  }
}

async function send(address: string, signal: AbortSignal): Promise<void> {
  async function attempt(): Promise<void> {
    const answer = await request(address, { signal, now: new Date(), init: { method: 'POST' } });
    if (answer.kind === 'failed') throw new NotAccepted(answer);
  }
  await pRetry(attempt, {
    retries: RETRIES,
    minTimeout: FIRST_WAIT_MS,
    signal,
    shouldRetry: ({ error }) => !(error instanceof NotAccepted && error.isFinal),
    onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
      if (!(error instanceof NotAccepted) || error.isFinal || retriesLeft === 0) return;
      await sleep(Math.max(0, error.retryAfterMs - retryDelay), undefined, { signal });
    },
  }).catch(() => {});
}
