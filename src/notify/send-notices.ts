import type { Database } from '../db/connect.ts';
import type { PipelineConfig } from '../model/config.ts';
import { sendToChannel } from './channels/index.ts';
import { type ClaimedDelivery, claimDeliveries, giveUpOld, settleFailed, settleSent } from './deliveries.ts';
import { nextAttempt } from './retry.ts';

/** The part of the configuration that sending needs. */
export type SendingConfig = {
  readonly notify: Pick<PipelineConfig['notify'], 'channels'>;
  readonly console: Pick<PipelineConfig['console'], 'url'>;
};

/** Number of deliveries that are claimed at once and sent in parallel. */
const BATCH = 8;
/** Limits one attempt: shorter than the lease of a delivery. HTTP has a shorter limit of its own. */
export const ATTEMPT_WITHIN_MS = 20_000;

/**
 * Sends due notices until none is left. Failed ones are tried again later, by any process.
 *
 * @param signal begins no attempt any more once it is aborted. An attempt that was begun is not cut off: a
 * channel that is slow may have accepted it already, and would get it once more from each process.
 * @returns the number of deliveries that a channel accepted.
 */
export async function sendNotices(
  db: Database,
  { config, signal }: { readonly config: SendingConfig; readonly signal: AbortSignal },
): Promise<number> {
  const channels = config.notify.channels.map(({ name }) => name);
  let sent = 0;
  await giveUpOld(db);
  while (!signal.aborted) {
    const claimed = await claimDeliveries(db, { channels, limit: BATCH });
    if (claimed.length === 0) break;
    const results = await Promise.all(claimed.map((delivery) => send(db, delivery, config)));
    sent += results.filter((isSent) => isSent).length;
  }
  return sent;
}

async function send(db: Database, delivery: ClaimedDelivery, config: SendingConfig): Promise<boolean> {
  const channel = config.notify.channels.find(({ name }) => name === delivery.channel);
  if (channel === undefined) throw new Error(`channel ${delivery.channel} was claimed and is not configured`);
  const { page, ...notice } = delivery.notice;
  const link = linkTo(page, config);
  const signal = AbortSignal.timeout(ATTEMPT_WITHIN_MS);
  const attempt = await sendToChannel(channel, { ...notice, link }, { signal, now: new Date() });
  if (attempt.kind === 'sent') {
    await settleSent(db, delivery);
    return true;
  }
  const { reason, retryAfterMs } = attempt;
  const next = nextAttempt({ ...delivery, now: new Date(), retryAfterMs });
  await settleFailed(db, delivery, { reason, next });
  return false;
}

/** The address of a console page. Null if the address of the console is not configured. */
export function linkTo(page: string, { console: pages }: Pick<SendingConfig, 'console'>): string | null {
  return pages.url === '' ? null : `${pages.url}${page}`;
}
