import { z } from 'zod';
import { PROBLEM_KINDS, SEVERITIES } from '../core/notify/notice.ts';
import {
  type CamelCased,
  camelCased,
  exactNumber,
  NAME,
  oneOrMore,
  optional,
  section,
  text,
  textOrEmpty,
  wholeNumber,
} from './fields.ts';

const webhook = z
  .strictObject({
    kind: z.literal('webhook'),
    url: text(2_000).describe('Address that each notice is posted to, as one JSON object.'),
    secret: text(500).describe(
      `Secret that signs each request (Standard Webhooks); create one with \`openssl rand -hex 32\`. Use an environment variable.`,
    ),
  })
  .describe('Your own web address, with signed requests.');

const slack = z
  .strictObject({
    kind: z.literal('slack'),
    url: text(2_000).describe(
      'Address of the incoming webhook. It is a secret: use an environment variable.',
    ),
  })
  .describe('A Slack channel.');

const teams = z
  .strictObject({
    kind: z.literal('teams'),
    url: text(2_000).describe(
      'Address of the workflow "Post to a channel when a webhook request is received". It is a secret: use an environment variable.',
    ),
  })
  .describe('A Teams channel.');

const email = z
  .strictObject({
    kind: z.literal('email'),
    host: text(253).describe('Mail server.'),
    port: wholeNumber(1, 65_535).prefault(587).describe('Its port: 587 for starttls, 465 for tls.'),
    encryption: z
      .enum(['starttls', 'tls', 'none'])
      .default('starttls')
      .describe('starttls: required before anything is said; tls: from the first byte; none: not encrypted.'),
    user: textOrEmpty().describe('Name to sign in with. Empty: do not sign in.'),
    password: textOrEmpty().describe('Password. Use an environment variable.'),
    from: text(320).describe('Address of the sender.'),
    to: oneOrMore(text(320), { error: 'addresses' }).describe('Address, or a list of addresses.'),
  })
  .describe('E-mail, by SMTP.');

const pagerduty = z
  .strictObject({
    kind: z.literal('pagerduty'),
    routing_key: text(100).describe(
      'Integration key of the service (Events API v2). Use an environment variable.',
    ),
    url: text(2_000)
      .default('https://events.pagerduty.com/v2/enqueue')
      .describe('Address of the Events API v2. In the EU: https://events.eu.pagerduty.com/v2/enqueue.'),
  })
  .describe('PagerDuty: an alert that is triggered and resolved.');

const ping = z
  .strictObject({
    kind: z.literal('ping'),
    url: text(2_000).describe(
      'Address of the check, for example at healthchecks.io. The tool adds /start, /<exit code> or nothing. {job} is replaced by the name of the job. Use an environment variable.',
    ),
    jobs: optional(oneOrMore(z.string().regex(NAME), { error: 'names' })).describe(
      'Job, or a list of jobs. Omit it for every job, with {job} in url.',
    ),
  })
  .describe("A dead-man's switch: it raises an alarm if a job does not run.");

const noticeChannel = z.discriminatedUnion('kind', [webhook, slack, teams, email, pagerduty]);

/** A time of day such as `22:00`. */
const clockTime = () => z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'time' });

const zone = (of: string) =>
  text(100).default('UTC').describe(`IANA zone of ${of}, for example Europe/Amsterdam.`);

const DURATION = /^(\d{1,5})\s*(m|h|d)$/;

/** Section `notify`: which problems are reported to which channels. */
export const notifySchema = section('Notices: who is told when something is wrong, and when it is over.', {
  channels: z
    .record(z.string().regex(NAME), z.discriminatedUnion('kind', [...noticeChannel.options, ping]))
    .default({})
    .describe('Where notices go. Choose the names.'),
  routes: z
    .array(
      z
        .strictObject({
          severity: optional(oneOrMore(z.enum(SEVERITIES))).describe('error, warning, or both.'),
          jobs: optional(oneOrMore(z.string().regex(NAME), { error: 'names' })).describe(
            'Jobs. Problems that concern every job match any value.',
          ),
          problems: optional(oneOrMore(z.enum(PROBLEM_KINDS))).describe('Kinds of problems.'),
          channels: oneOrMore(z.string().regex(NAME), { error: 'names' }).describe(
            'Channels that get the problems that match all of the above.',
          ),
        })
        .describe('A problem goes to the channels of every route that it matches.'),
    )
    .default([])
    .describe('Which problems go to which channels. If you omit it, every problem goes to every channel.'),
  remind_after: exactNumber(DURATION, 'duration')
    .nullable()
    .default('24h')
    .describe('How often to remind you of an open problem: 30m, 24h, 7d. null: never.'),
  unowned_codes_above: z
    .record(z.string().regex(/^[A-Z]{3}$/), exactNumber(/^\d+(\.\d{1,4})?$/))
    .default({})
    .describe(
      'Revenue of codes without an owner, by currency, above which that is a problem: {EUR: 1000}. Omit a currency to get no notices about it.',
    ),
  quiet_hours: optional(
    z.strictObject({
      from: clockTime().describe('Begin, for example "22:00".'),
      to: clockTime().describe('End, for example "07:00".'),
      time_zone: zone('both'),
    }),
  ).describe('Warnings wait until its end; errors are sent at once.'),
  digest: optional(
    z.strictObject({
      at: clockTime().describe('When, for example "08:00".'),
      time_zone: zone('it'),
      channels: oneOrMore(z.string().regex(NAME), { error: 'names' }).describe('Channels that get it.'),
    }),
  ).describe('A summary once a day: open problems, money in doubt, codes without an owner.'),
});

/** The settings of a channel for notices. Each kind is a function in `src/monitoring/notify/channels.ts`. */
export type ChannelSettings = { readonly name: string } & CamelCased<z.output<typeof noticeChannel>>;

/** A dead-man's switch. It is called when runs of its jobs begin and end, and raises an alarm when the calls stop. */
export type PingSettings = { readonly name: string } & Omit<z.output<typeof ping>, 'kind'>;

export type NotifySettings = ReturnType<typeof toNotifySettings>;

/** Routes problems to channels. A criterion that is null matches every problem. */
export type Route = NotifySettings['routes'][number];

export function toNotifySettings(file: z.output<typeof notifySchema>) {
  const channels: ChannelSettings[] = [];
  const pings: PingSettings[] = [];
  for (const [name, channel] of Object.entries(file.channels)) {
    if (channel.kind === 'ping') pings.push({ name, url: channel.url, jobs: channel.jobs });
    else channels.push({ name, ...camelCased(channel) });
  }
  return {
    channels: channels as readonly ChannelSettings[],
    pings: pings as readonly PingSettings[],
    routes: file.routes.map(({ severity: severities, ...route }) => ({ severities, ...route })),
    remindAfterMs: file.remind_after === null ? null : toMs(file.remind_after),
    unownedCodesAbove: file.unowned_codes_above,
    quietHours: file.quiet_hours === null ? null : camelCased(file.quiet_hours),
    digest: file.digest === null ? null : camelCased(file.digest),
  };
}

const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a duration such as `24h` to milliseconds. */
function toMs(duration: string): number {
  const [, count = '0', unit = 'h'] = DURATION.exec(duration) ?? [];
  return Number(count) * MS[unit as keyof typeof MS];
}
