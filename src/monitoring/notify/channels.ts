import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { domainToASCII } from 'node:url';
import type { SendMailOptions } from 'nodemailer';
import type { ChannelSettings } from '../../config/notify-fields.ts';
import { errorCode } from '../../core/error-code.ts';
import { formatAmounts } from '../../core/money.ts';
import type { Notice } from '../../core/notify/notice.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { parseRetryAfter } from '../../service/retry-after.ts';

/**
 * The result of an attempt. The reason is a status or one of our own codes, never an address or a message of
 * the channel.
 */
export type Attempt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

type SendOptions = {
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  readonly now: Date;
};

/** Sends a notice to a channel. Never throws; failures are part of the result. */
type Send<Settings> = (settings: Settings, notice: Notice, options: SendOptions) => Promise<Attempt>;

const BEGINS = {
  opened: 'Problem: ',
  reminded: 'Still open: ',
  resolved: 'Resolved: ',
  // Their titles say what they are.
  digest: '',
  test: '',
} as const;

/** For example `Problem: In doubt (nl-orders)`. */
function headline({ event, title, job }: Notice): string {
  return `${BEGINS[event]}${title}${job === null ? '' : ` (${job})`}`;
}

/** The facts of a notice with their labels. Each channel formats them in its own way. */
function factsOf(notice: Notice): readonly (readonly [label: string, text: string])[] {
  const { event, severity, since, amounts, command } = notice;
  const isOver = event === 'resolved';
  const ofProblem = [
    ['Severity', severity],
    ['Since', `${since.slice(0, 16).replace('T', ' ')} UTC`],
  ] as const;
  return [
    ...(event === 'digest' ? [] : ofProblem),
    ...(amounts.length === 0 ? [] : [['Amount', formatAmounts(amounts)] as const]),
    ...(isOver ? [] : [['Next', command] as const]),
  ];
}

/** Truncates a text to a maximum length in code points, and marks the cut with an ellipsis. */
function cut(text: string, maxChars: number): string {
  const characters = [...text];
  return characters.length <= maxChars ? text : `${characters.slice(0, maxChars - 1).join('')}…`;
}

/** Time limit of one attempt. */
const TIMEOUT_MS = 10_000;

/**
 * Posts a JSON body. A 2xx status is a success. Does not follow redirects, because the body is meant only for
 * the configured address.
 */
async function postJson(
  url: string,
  body: string,
  { signal, now, headers = {} }: SendOptions & { readonly headers?: Readonly<Record<string, string>> },
): Promise<Attempt> {
  return request(url, {
    signal,
    now,
    init: { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } },
  });
}

export async function request(
  url: string,
  { signal, now, init }: SendOptions & { readonly init: RequestInit },
): Promise<Attempt> {
  try {
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    // The answer is not needed, and may quote the notice.
    await answer.body?.cancel();
    if (answer.ok) return { kind: 'sent' };
    const retryAfter = answer.headers.get('retry-after') ?? undefined;
    return {
      kind: 'failed',
      reason: `HTTP ${answer.status}`,
      retryAfterMs: parseRetryAfter(retryAfter, now),
    };
  } catch (error) {
    return { kind: 'failed', reason: reasonOfRequest(error), retryAfterMs: null };
  }
}

/** Returns a code such as ECONNREFUSED. A message may contain the address. */
function reasonOfRequest(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return errorCode(error.cause) ?? errorCode(error) ?? error.name;
}

type Webhook = Extract<ChannelSettings, { kind: 'webhook' }>;

/**
 * Posts the notice as one JSON object, signed according to Standard Webhooks, so that the receiver can verify
 * it with any library for that standard.
 */
const sendWebhook: Send<Webhook> = ({ url, secret }, notice, options) => {
  const body = JSON.stringify(toBody(notice));
  const timestamp = Math.floor(options.now.getTime() / 1000);
  const headers = {
    'webhook-id': notice.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${createHmac('sha256', keyOf(secret)).update(`${notice.id}.${timestamp}.${body}`).digest('base64')}`,
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

/** In Standard Webhooks, `whsec_` precedes a base64-encoded key. Any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  const [, encoded] = /^whsec_(.+)$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
}

type Slack = Extract<ChannelSettings, { kind: 'slack' }>;

/** Limits of Slack, which refuses messages with longer texts. */
const HEADER_CHARS = 150;
const SECTION_CHARS = 3_000;
/** Limit of the fallback text. Escaping makes a character at most five characters long. */
const TEXT_CHARS = 600;

/**
 * Posts to an incoming webhook: blocks of plain text without markup, and a fallback text for clients that
 * show no blocks.
 */
const sendSlack: Send<Slack> = ({ url }, notice, options) => {
  const facts = factsOf(notice).map(([label, text]) => `${label}: ${text}`);
  const blocks = [
    { type: 'header', text: plain(headline(notice), HEADER_CHARS) },
    { type: 'section', text: plain(notice.summary, SECTION_CHARS) },
    { type: 'section', text: plain(facts.join('\n'), SECTION_CHARS) },
    ...(notice.link === null ? [] : [linkTo(notice.link)]),
  ];
  const text = escapeMrkdwn(cut(`${headline(notice)}. ${notice.summary}`, TEXT_CHARS));
  return postJson(url, JSON.stringify({ text, blocks }), options);
};

function plain(text: string, maxChars: number) {
  return { type: 'plain_text', text: cut(text, maxChars), emoji: false };
}

function linkTo(link: string) {
  // A `|` would end the address.
  const address = escapeMrkdwn(link.replaceAll('|', '%7C'));
  return { type: 'section', text: { type: 'mrkdwn', text: `<${address}|Open the console>` } };
}

/** Escapes the characters that start links and mentions in Slack, because `<!channel>` would notify everyone. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Teams = Extract<ChannelSettings, { kind: 'teams' }>;

/** Teams refuses messages of more than 28 KB. Our texts are far shorter, unless something is wrong with them. */
const MAX_CHARS = 2_000;

/**
 * Posts an adaptive card to a workflow "Post to a channel when a webhook request is received", which reads
 * `attachments`.
 */
const sendTeams: Send<Teams> = ({ url }, notice, options) => {
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // The newest version that all Teams clients support.
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      {
        type: 'TextBlock',
        size: 'Medium',
        weight: 'Bolder',
        wrap: true,
        text: escapeMarkdown(headline(notice)),
      },
      { type: 'TextBlock', wrap: true, text: escapeMarkdown(cut(notice.summary, MAX_CHARS)) },
      {
        type: 'FactSet',
        facts: factsOf(notice).map(([title, value]) => ({
          title,
          value: escapeMarkdown(cut(value, MAX_CHARS)),
        })),
      },
    ],
    actions:
      notice.link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the console', url: notice.link }],
  };
  const attachment = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: card,
  };
  return postJson(url, JSON.stringify({ type: 'message', attachments: [attachment] }), options);
};

/**
 * Escapes Markdown, which a TextBlock renders: the start of links, lists and emphasis. A line break needs a
 * blank line.
 */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll('\n', '\n\n')
    .replace(/[\\`*[\]<>~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replace(/^([-+](?=\s|$)|#)/gm, '\\$&')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, '$1\\$2');
}

type PagerDuty = Extract<ChannelSettings, { kind: 'pagerduty' }>;

/** Limits of the Events API v2. */
const SUMMARY_CHARS = 1_024;
const DEDUP_KEY_CHARS = 255;

/**
 * Triggers an alert when a problem opens, and resolves it when the problem is over. Both use the same `dedup_key`, so
 * that a reminder updates the alert and does not open another one. A test is triggered and resolved at once.
 */
const sendPagerDuty: Send<PagerDuty> = async (settings, notice, options) => {
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

type Email = Extract<ChannelSettings, { kind: 'email' }>;

/** RFC 5322 recommends lines of 78 characters, and mail programs truncate longer subjects in lists. */
const SUBJECT_CHARS = 150;

/** Sends a plain-text mail. Mails about the same problem form one thread. */
const sendEmail: Send<Email> = async (settings, notice, { signal }) => {
  const thread = `<${notice.problemId}@influencer-sync>`;
  const mail = {
    from: settings.from,
    to: [...settings.to],
    // The value of a header must be a single line.
    subject: cut(toPrintableLine(`[influencer-sync] ${headline(notice)}`), SUBJECT_CHARS),
    text: [
      notice.summary,
      '',
      ...factsOf(notice).map(([label, text]) => `${label}: ${text}`),
      ...(notice.link === null ? [] : [`Console: ${notice.link}`]),
      '',
    ].join('\n'),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Notice-Id': notice.id },
    ...(notice.event === 'opened' ? { messageId: thread } : { inReplyTo: thread, references: thread }),
  };
  const delivered = await deliverMail(settings, mail, signal);
  return delivered.kind === 'sent'
    ? delivered
    : { kind: 'failed', reason: delivered.reason, retryAfterMs: null };
};

/** What became of a mail. `failed`: the server did not take it. `unclear`: it may have. */
export type Delivered =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed' | 'unclear'; readonly reason: string };

/**
 * Composes a mail to one person, with a document, as it goes over the wire.
 *
 * @param mail.fromName name beside the sender's address. Null: none.
 * @returns null if it would go to another address than `mail.to`, because that is written in a way that SMTP reads
 *   differently.
 */
export async function composeMail(
  { from }: Pick<Email, 'from'>,
  mail: {
    readonly to: string;
    readonly fromName: string | null;
    /** Where answers go. Null: to the sender. */
    readonly replyTo: string | null;
    readonly subject: string;
    readonly text: string;
    readonly html: string;
    readonly attachment: { readonly filename: string; readonly content: Buffer };
  },
): Promise<Buffer | null> {
  const { createTransport } = await import('nodemailer');
  const { to, fromName, replyTo, subject, text, html, attachment } = mail;
  const composed = await createTransport({ streamTransport: true, buffer: true }).sendMail({
    from: fromName === null ? from : { name: toPrintableLine(fromName), address: addressOf(from) },
    to,
    ...(replyTo === null ? {} : { replyTo: { name: '', address: replyTo } }),
    subject: cut(toPrintableLine(subject), SUBJECT_CHARS),
    text,
    html,
    attachDataUrls: true,
    attachments: [attachment],
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const at = to.lastIndexOf('@');
  const meant = `${to.slice(0, at)}@${domainToASCII(to.slice(at + 1))}`;
  return composed.envelope.to.join() === meant ? (composed.message as Buffer) : null;
}

/** The address in `Name <address>`. */
function addressOf(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
}

/**
 * Sends one mail. Never throws. The connection is ours, because nodemailer cannot cut its own: a server that answers
 * each command slowly would keep a mail under way after its time limit, while another process sends it again.
 *
 * The server certainly did not take the mail if it said no, or was never asked for it. Anything else is unclear: a
 * connection that breaks or falls silent after that says nothing about the mail.
 *
 * @param signal the only limit of an answer, because servers may check a mail for a while before they answer.
 */
export async function deliverMail(
  { host, port, encryption, user, password }: Email,
  mail: SendMailOptions,
  signal: AbortSignal,
): Promise<Delivered> {
  const { createTransport } = await import('nodemailer');
  const sockets: Socket[] = [];
  let wasGiven = false;
  const transport = createTransport({
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Shows the commands whether or not the connection is encrypted.
    transactionLog: true,
    logger: {
      ...SILENT,
      debug(_entry, text) {
        if (text === 'DATA') wasGiven = true;
      },
    },
    getSocket(_options, callback) {
      const socket = connect({ host, port, signal });
      sockets.push(socket);
      socket.once('error', callback);
      socket.once('connect', () => {
        socket.off('error', callback);
        callback(null, { connection: socket });
      });
    },
  });
  try {
    await Promise.race([transport.sendMail(mail), aborted(signal)]);
    return { kind: 'sent' };
  } catch (error) {
    const { responseCode } = error as { readonly responseCode?: unknown };
    const wasRefused = typeof responseCode === 'number' && responseCode >= 400;
    return {
      kind: wasRefused || !wasGiven ? 'failed' : 'unclear',
      reason: signal.aborted ? 'no answer in time' : reasonOfMail(error),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    transport.close();
  }
}

const SILENT = {
  level: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
};

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/**
 * Returns a code of nodemailer or the connection, with the status of the server. Messages are left out,
 * because they may contain addresses.
 */
function reasonOfMail(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = errorCode(error) ?? error.name;
  return 'responseCode' in error && typeof error.responseCode === 'number'
    ? `${code} ${error.responseCode}`
    : code;
}

/**
 * Sends a notice to a channel of any kind. To add a kind, add a function above, a case here, and its settings to
 * `src/config/notify-fields.ts`.
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
