import { randomUUID } from 'node:crypto';
import type { ChannelSettings, NotifySettings, PingSettings } from '../../config/notify-fields.ts';
import type { Notice } from '../../core/notify/notice.ts';
import type { Attempt } from './channels/channel.ts';
import { sendToChannel } from './channels/index.ts';
import { testPing } from './ping.ts';

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
  { now, link }: { readonly now: Date; readonly link: string | null },
): AsyncGenerator<{ readonly channel: TestableChannel; readonly attempt: Attempt }> {
  for (const channel of channels) {
    const { signal } = new AbortController();
    const attempt =
      channel.kind === 'ping'
        ? await testPing(channel)
        : await sendToChannel(channel, testNotice(now, link), { signal, now });
    yield { channel, attempt };
  }
}
