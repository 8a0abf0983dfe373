import type { ChannelSettings } from '../../../config/notify-fields.ts';
import type { Notice } from '../../../core/notify/notice.ts';
import type { Attempt, SendOptions } from './channel.ts';
import { sendEmail } from './email.ts';
import { sendPagerDuty } from './pagerduty.ts';
import { sendSlack } from './slack.ts';
import { sendTeams } from './teams.ts';
import { sendWebhook } from './webhook.ts';

/**
 * Sends a notice to a channel of any kind. To add a kind, create a file in this folder, and add a case here,
 * its settings to `src/config/notify-fields.ts`.
 */
export function sendToChannel(
  channel: ChannelSettings,
  notice: Notice,
  options: SendOptions,
): Promise<Attempt> {
  switch (channel.kind) {
    case 'webhook':
      return sendWebhook(channel, notice, options);
    case 'slack':
      return sendSlack(channel, notice, options);
    case 'teams':
      return sendTeams(channel, notice, options);
    case 'email':
      return sendEmail(channel, notice, options);
    case 'pagerduty':
      return sendPagerDuty(channel, notice, options);
  }
}
