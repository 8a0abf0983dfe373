import { createHmac } from 'node:crypto';
import type { Notice } from '../../model/notify/notice.ts';
import type { ChannelSettings } from '../../model/notify/settings.ts';
import type { Send } from './channel.ts';
import { postJson } from './post-json.ts';

type Webhook = Extract<ChannelSettings, { kind: 'webhook' }>;

/** Posts the notice as one JSON object, signed as Standard Webhooks has it, so that the receiver can verify it with any library of that. */
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

/** Names are a promise to receivers: add some, and do not rename these. */
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

/** `v1,<base64>`: HMAC-SHA256 over id, timestamp and body. */
function sign(content: string, secret: string): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`;
}

/** `whsec_` begins a key in base64, as Standard Webhooks writes it; any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  const [, encoded] = /^whsec_(.+)$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
}
