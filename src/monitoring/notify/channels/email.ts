import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ChannelSettings } from '../../../config/notify-fields.ts';
import { toPrintableLine } from '../../../core/text/printable.ts';
import { cut, factsOf, headline, type Send } from './channel.ts';

type Email = Extract<ChannelSettings, { kind: 'email' }>;

/** RFC 5322 recommends lines of 78 characters, and mail programs truncate longer subjects in lists. */
const SUBJECT_CHARS = 150;
const TIMEOUT_MS = 10_000;

/**
 * Sends a plain-text mail. Mails about the same problem form one thread. The connection is ours, because
 * nodemailer cannot cut its own: a server that answers each command slowly would keep a mail under way after its
 * time limit, while another process sends it again.
 */
export const sendEmail: Send<Email> = async (settings, notice, { signal }) => {
  const { host, port, encryption, user, password, from, to } = settings;
  const { createTransport } = await import('nodemailer');
  const sockets: Socket[] = [];
  const transport = createTransport({
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
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
    const thread = `<${notice.problemId}@influencer-sync>`;
    const sending = transport.sendMail({
      from,
      to: [...to],
      // The value of a header must be a single line.
      subject: cut(toPrintableLine(`[influencer-sync] ${headline(notice)}`), SUBJECT_CHARS),
      text: bodyOf(notice),
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Notice-Id': notice.id },
      ...(notice.event === 'opened' ? { messageId: thread } : { inReplyTo: thread, references: thread }),
    });
    await Promise.race([sending, aborted(signal)]);
    return { kind: 'sent' };
  } catch (error) {
    const reason = signal.aborted ? 'no answer in time' : reasonOf(error);
    return { kind: 'failed', reason, retryAfterMs: null };
  } finally {
    for (const socket of sockets) socket.destroy();
    transport.close();
  }
};

/** Rejects once the signal is aborted. */
async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

function bodyOf(notice: Parameters<Send<Email>>[1]): string {
  const facts = factsOf(notice).map(([label, text]) => `${label}: ${text}`);
  return [
    notice.summary,
    '',
    ...facts,
    ...(notice.link === null ? [] : [`Console: ${notice.link}`]),
    '',
  ].join('\n');
}

/**
 * Returns a code of nodemailer or the connection, with the status of the server. Messages are left out,
 * because they may contain addresses.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return 'responseCode' in error && typeof error.responseCode === 'number'
    ? `${code} ${error.responseCode}`
    : code;
}
