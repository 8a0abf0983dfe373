import { createHmac } from 'node:crypto';
import type { ChannelSettings } from '../../../config/notify-fields.ts';
import type { Notice } from '../../../core/notify/notice.ts';
import type { Send } from './channel.ts';
import { postJson } from './post-json.ts';

type Webhook = Extract<ChannelSettings, { kind: 'webhook' }>;

/**
 * Posts the notice as one JSON object, signed according to Standard Webhooks, so that the receiver can verify
 * it with any library for that standard.
 */
export const sendWebhook: Send<Webhook> = ({ url, secret }, notice, options) => {
  const body = JSON.stringify(toBody(notice));
  const timestamp = Math.floor(options.now.getTime() / 1000);
  const headers = {
    'webhook-id': notice.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(`${notice.id}.${timestamp}.${body}`, secret),
  };
  return postJson(url, body, { ...options, headers });
};

/** Receivers depend on these names. Add new ones, but never rename any. */
function toBody(notice: Notice): object {
  const { event, problem, title, job, severity, since, amounts, summary, command, link } = notice;
  return {
    event,
    problem,
    problem_id: notice.problemId,
    title,
    job,
    severity,
    since,
    amounts,
    summary,
    command,
    link,
  };
}

/** Signs id, timestamp and body with HMAC-SHA256. Returns `v1,<base64>`. */
function sign(content: string, secret: string): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`;
}

/** In Standard Webhooks, `whsec_` precedes a base64-encoded key. Any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  const [, encoded] = /^whsec_(.+)$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
}
