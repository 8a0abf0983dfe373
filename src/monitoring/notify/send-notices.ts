import type { ChannelSettings } from '../../config/notify-fields.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Database } from '../../db/connect.ts';
import { sendToChannel } from './channels/index.ts';
import {
  ATTEMPT_WITHIN_MS,
  type ClaimedDelivery,
  claimDeliveries,
  giveUpOld,
  settleFailed,
  settleSent,
} from './deliveries.ts';
import { nextAttempt } from './retry.ts';

/** The part of the configuration that sending needs. */
export type SendingConfig = {
  readonly notify: Pick<PipelineConfig['notify'], 'channels'>;
  readonly console: Pick<PipelineConfig['console'], 'url'>;
};

/** Number of deliveries of a channel that are claimed at once and sent in parallel. */
const BATCH = 8;

export type SendNoticesOptions = {
  readonly config: SendingConfig;
  /**
   * Begins no attempt any more once it is aborted. An attempt that was begun is not cut off: a channel that is
   * slow may have accepted it already, and would get it once more from each process.
   */
  readonly signal: AbortSignal;
};

/**
 * Sends due notices until none is left. Failed ones are tried again later, by any process. Each channel has a
 * queue of its own, so that none waits for a slow one.
 *
 * @returns the number of deliveries that a channel accepted.
 */
export async function sendNotices(db: Database, options: SendNoticesOptions): Promise<number> {
  await giveUpOld(db);
  const sent = await Promise.all(
    options.config.notify.channels.map((channel) => sendToOne(db, channel, options)),
  );
  return sent.reduce((sum, count) => sum + count, 0);
}

/** Sends the due notices of one channel. */
export async function sendToOne(
  db: Database,
  channel: ChannelSettings,
  { config, signal }: SendNoticesOptions,
): Promise<number> {
  let sent = 0;
  while (!signal.aborted) {
    const claimed = await claimDeliveries(db, { channel: channel.name, limit: BATCH });
    if (claimed.length === 0) break;
    const results = await Promise.all(claimed.map((delivery) => send(db, delivery, { channel, config })));
    sent += results.filter((isSent) => isSent).length;
  }
  return sent;
}

async function send(
  db: Database,
  delivery: ClaimedDelivery,
  { channel, config }: { readonly channel: ChannelSettings; readonly config: SendingConfig },
): Promise<boolean> {
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
