import type { Logger } from 'pino';
import { jobKinds } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { errorCode } from '../../core/error-code.ts';
import type { Database } from '../../db/connect.ts';
import type { StartedPing } from '../../monitoring/notify/ping.ts';

/**
 * Sends notices about a run that a command made, so that people are notified even if no `serve` is running.
 * It takes a few seconds at most. Without channels, it loads, queries and writes nothing. Never throws.
 */
export async function notifyAfter(
  db: Database,
  { config, log }: { config: PipelineConfig; log: Logger },
): Promise<void> {
  if (config.notify.channels.length === 0) return;
  const { notifyWithin } = await import('../../monitoring/notify/keep-notices.ts');
  await notifyWithin(db, { config, kinds: jobKinds, ...noticeLog(log) });
}

/**
 * Notifies the dead man's switches of a job that a run begins. Call `ended` when it has ended. Without any
 * switches, nothing is loaded.
 */
export async function pingStart(
  { notify }: PipelineConfig,
  job: string,
): Promise<Pick<StartedPing, 'ended'>> {
  if (notify.pings.length === 0) return { ended: async () => {} };
  const { startPing } = await import('../../monitoring/notify/ping.ts');
  return startPing(notify.pings, job);
}

/** Logs the failures and recovery of the checks for problems. */
export function noticeLog(log: Logger) {
  return {
    onTrouble: (kind: string, error: unknown) =>
      log.warn({ kind, code: errorCode(error) ?? 'unknown' }, 'the check for a kind of problem failed'),
    onFailure: (error: unknown) =>
      log.warn({ code: errorCode(error) ?? 'unknown' }, 'notices cannot be created; retrying'),
    onRecovered: () => log.info('notices can be created again'),
  };
}
