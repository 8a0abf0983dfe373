import { randomUUID } from 'node:crypto';
import type { ChannelSettings, NotifySettings, PingSettings } from '../../config/notify-fields.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Notice, Problem } from '../../core/notify/notice.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import type { Database } from '../../db/connect.ts';
import { type Attempt, sendToChannel } from './channels.ts';
import {
  ATTEMPT_WITHIN_MS,
  type ClaimedDelivery,
  claimDeliveries,
  giveUpOld,
  nextAttempt,
  settleFailed,
  settleSent,
} from './deliveries.ts';
import { testPing } from './ping.ts';

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
  { channel, config }: { channel: ChannelSettings; config: SendingConfig },
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

/** A notice that says that it is a test. Each one is a separate message. */
function testNotice(now: Date, link: string | null): Notice {
  const id = `test-${randomUUID()}`;
  return {
    id,
    problemId: id,
    event: 'test',
    problem: 'test',
    title: 'Test notice',
    job: null,
    severity: 'warning',
    since: now.toISOString(),
    amounts: [{ amount: '12.50', currency: 'EUR' }],
    summary: 'This is a test of the channel. Nothing is wrong, and the amount is not real.',
    command: 'npx influencer-sync status',
    link,
  };
}

/** A channel of any kind, as in `notify test`. */
export type TestableChannel = ChannelSettings | ({ readonly kind: 'ping' } & PingSettings);

/** All configured channels and pings. */
export function testableChannels({ channels, pings }: NotifySettings): readonly TestableChannel[] {
  return [...channels, ...pings.map((ping) => ({ kind: 'ping' as const, ...ping }))];
}

/** Sends a test notice to each channel, one after the other. */
export async function* testChannels(
  channels: readonly TestableChannel[],
  { now, link }: { now: Date; link: string | null },
): AsyncGenerator<{ readonly channel: TestableChannel; readonly attempt: Attempt }> {
  for (const channel of channels) {
    const signal = AbortSignal.timeout(ATTEMPT_WITHIN_MS);
    const attempt =
      channel.kind === 'ping'
        ? await testPing(channel)
        : await sendToChannel(channel, testNotice(now, link), { signal, now });
    yield { channel, attempt };
  }
}

const MINUTE_MS = 60_000;

/** The channels that a problem is sent to: those of every matching route, or all channels if there are no routes. */
export function channelsOf(
  { kind, job, severity }: Pick<Problem, 'kind' | 'job' | 'severity'>,
  { channels, routes }: Pick<NotifySettings, 'channels' | 'routes'>,
): readonly string[] {
  const all = channels.map(({ name }) => name);
  if (routes.length === 0) return all;
  const wanted = routes
    .filter(
      (route) =>
        route.severities?.includes(severity) !== false &&
        route.problems?.includes(kind) !== false &&
        // A problem of no particular job concerns every job.
        (job === null || route.jobs?.includes(job) !== false),
    )
    .flatMap((route) => route.channels);
  return all.filter((name) => wanted.includes(name));
}

/** When a notice of this severity may be sent: now, or at the end of the quiet hours for a warning. */
export function dueAt(
  { severity }: Pick<Problem, 'severity'>,
  now: Date,
  { quietHours }: Pick<NotifySettings, 'quietHours'>,
): Date {
  if (quietHours === null || severity === 'error') return now;
  const clock = zoneClock(quietHours.timeZone);
  const wallMs = clock.toWallMs(now.getTime());
  const midnightMs = Math.floor(wallMs / DAY_MS) * DAY_MS;
  const fromMs = midnightMs + minutesOf(quietHours.from) * MINUTE_MS;
  const toMs = midnightMs + minutesOf(quietHours.to) * MINUTE_MS;
  // Quiet hours that pass midnight either started today or end today.
  const endMs =
    fromMs < toMs
      ? wallMs >= fromMs && wallMs < toMs
        ? toMs
        : null
      : wallMs >= fromMs
        ? toMs + DAY_MS
        : wallMs < toMs
          ? toMs
          : null;
  return endMs === null ? now : new Date(clock.toInstantMs(endMs));
}

/** Converts `22:30` to minutes. */
export function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}
