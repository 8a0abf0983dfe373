import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ExitCode } from '../model/exit-code.ts';
import type { PingSettings } from '../model/notify/settings.ts';
import { request } from './channels/post-json.ts';

/** A run is not kept waiting for longer: a check that hears nothing raises its alarm, which is what it is for. */
const WITHIN_MS = 5_000;
/** Of a run that has ended: longer than an answer takes. */
const START_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 500;

/** Tells the dead-man's switches of a job that a run has begun. Waits for nothing. */
export type StartedPing = {
  /** Tells them how it ended. Never throws, and takes some seconds at most. */
  ended(exitCode: ExitCode): Promise<void>;
};

/**
 * A ping of healthchecks.io and what speaks like it: `/start`, then the address alone for success, or `/<exit code>`.
 *
 * @param pings all that are configured; those of other jobs are told nothing.
 */
export function startPing(pings: readonly PingSettings[], job: string): StartedPing {
  const mine = pings.filter(({ jobs }) => jobs?.includes(job) !== false);
  const starting = new AbortController();
  const started = Promise.all(mine.map((ping) => send(addressOf(ping, job, '/start'), starting.signal)));
  return {
    async ended(exitCode) {
      // The run that keeps this one out tells how the job is.
      if (exitCode === EXIT.alreadyRunning) return;
      const path = exitCode === 0 ? '' : `/${exitCode}`;
      // It must not come after the end. What does not get through is not worth waiting for.
      await Promise.race([started, sleep(START_WITHIN_MS)]);
      starting.abort();
      await started;
      const signal = AbortSignal.timeout(WITHIN_MS);
      await Promise.all(mine.map((ping) => send(addressOf(ping, job, path), signal)));
    },
  };
}

/** Leaves a line in the log of a check, which changes nothing of its state: for `notify test`. */
export function testPing(ping: PingSettings): ReturnType<typeof request> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const init = { method: 'POST', body: 'Test of influencer-sync.' };
  return request(addressOf(ping, ping.jobs?.[0] ?? 'test', '/log'), { signal, now: new Date(), init });
}

/** An address may have a query, before which the path ends. */
function addressOf({ url }: PingSettings, job: string, path: string): string {
  const address = new URL(url.replaceAll('{job}', encodeURIComponent(job)));
  address.pathname = `${address.pathname.endsWith('/') ? address.pathname.slice(0, -1) : address.pathname}${path}`;
  return address.href;
}

async function send(address: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const attempt = await request(address, { signal, now: new Date(), init: { method: 'POST' } });
    if (attempt.kind === 'sent') return;
    await sleep(RETRY_AFTER_MS, undefined, { signal }).catch(() => {});
  }
}
