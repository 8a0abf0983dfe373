import { hostname } from 'node:os';
import type { ChannelSettings } from '../../../config/notify-fields.ts';
import type { Notice } from '../../../core/notify/notice.ts';
import { type Attempt, cut, headline, type Send, type SendOptions } from './channel.ts';
import { postJson } from './post-json.ts';

type PagerDuty = Extract<ChannelSettings, { kind: 'pagerduty' }>;

/** Limits of the Events API v2. */
const SUMMARY_CHARS = 1_024;
const DEDUP_KEY_CHARS = 255;

/**
 * Triggers an alert when a problem opens, and resolves it when the problem is over. Both use the same
 * `dedup_key`, so that a reminder updates the alert and does not open another one. A test is triggered and
 * resolved at once.
 */
export const sendPagerDuty: Send<PagerDuty> = async (settings, notice, options) => {
  if (notice.event === 'resolved') return enqueue(settings, notice, { ...options, action: 'resolve' });
  const triggered = await enqueue(settings, notice, { ...options, action: 'trigger' });
  if (notice.event !== 'test' || triggered.kind === 'failed') return triggered;
  return enqueue(settings, notice, { ...options, action: 'resolve' });
};

function enqueue(
  { url, routingKey }: PagerDuty,
  notice: Notice,
  { action, ...options }: SendOptions & { readonly action: 'trigger' | 'resolve' },
): Promise<Attempt> {
  const { problem, job, severity, since, amounts, summary, command, link } = notice;
  const event = {
    routing_key: routingKey,
    event_action: action,
    dedup_key: cut(`influencer-sync/${notice.problemId}`, DEDUP_KEY_CHARS),
  };
  const details = {
    payload: {
      summary: cut(`${headline(notice)}. ${summary}`, SUMMARY_CHARS),
      source: hostname(),
      severity,
      timestamp: since,
      component: job ?? 'influencer-sync',
      class: problem,
      custom_details: { summary, since, amounts, command },
    },
    client: 'influencer-sync',
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Open the console' }] }),
  };
  const body = JSON.stringify(action === 'resolve' ? event : { ...event, ...details });
  return postJson(url, body, options);
}
