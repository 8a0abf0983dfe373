import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { ChannelSettings } from '../config/notify-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import { formatInstant } from '../core/text/format-instant.ts';
import type { Language } from '../core/text/language.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { databaseClock } from '../db/clock.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { type Database, execute, rowOf } from '../db/statement.ts';
import { isEmailAddress } from '../money/load-creators.ts';
import { findClosed } from '../money/read-statement.ts';
import { composeMail, deliverMail } from '../monitoring/notify/channels.ts';
import { ATTEMPT_WITHIN_MS } from '../monitoring/notify/deliveries.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';
import { renderBlocksPage } from '../render/html/report-page.ts';
import { openCreatorStatement, whyNoDocument } from '../reports/money/creator-statement.ts';
import {
  listStatementMails,
  type StatementAbout,
  type StatementMail,
  sayAbout,
} from '../reports/money/statement-mails.ts';

/*
 * Sends statements by mail, each once. A person's request and its audit record are one transaction, with the whole mail.
 * A process claims the mail before SMTP begins, and records what the server said. If it dies between, or no answer comes,
 * nobody knows whether the mail was taken: it is unclear, and a person decides. Only a mail that was provably not taken
 * has failed. The address and the mail are deleted as soon as nobody has to send it.
 */

type EmailChannel = Extract<ChannelSettings, { readonly kind: 'email' }>;
type MailConfig = Pick<PipelineConfig, 'statements' | 'notify'>;

/** A claim that is older belongs to a process that died. An attempt takes at most a third of it. */
const LEASE_MS = 3 * ATTEMPT_WITHIN_MS;
/**
 * A mail is sent right after its request. One that still waits after this long may come from a backup, and have been sent
 * since.
 */
const MAX_WAIT_MS = 15 * 60_000;

/** The channel by which statements are sent. Null if there is none, or it is not said which of several. */
export function mailChannel({ statements, notify }: MailConfig): EmailChannel | null {
  const channels = notify.channels.filter((channel) => channel.kind === 'email');
  const named = statements.sender.channel;
  if (named !== null) return channels.find(({ name }) => name === named) ?? null;
  return channels.length === 1 ? (channels[0] ?? null) : null;
}

/** Stands for the last mail about a statement. */
export const LAST = 'last';

export type StatementToSend = DecidedWhy & {
  /** For example `2026-10`. */
  readonly month: string;
  readonly dealId: string;
  /** Handle of a former creator of the deal, of whom the month corrects something. Null: of the one who has it. */
  readonly creator?: string | null;
  /** Instead of the address in creators.csv. */
  readonly recipient: string | null;
  readonly language: Language | null;
  /** The last mail about it that the person saw, which may have been sent; `LAST`: whichever it is. Null: none. */
  readonly after: string | null;
  readonly config: MailConfig;
};

export type StatementRequested =
  | { readonly kind: 'requested'; readonly about: StatementAbout }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Puts the statement of a deal, or of a former creator of it, into the outbox. `sendStatementMails` sends it after the
 * commit.
 */
export async function requestStatementMail(
  trx: DatabaseTransaction,
  {
    month,
    dealId,
    creator = null,
    language,
    after,
    reason,
    config,
    decidedBy,
    audit,
    ...asked
  }: StatementToSend,
): Promise<StatementRequested> {
  const refused = (why: string): StatementRequested => ({ kind: 'refused', why });
  const channel = mailChannel(config);
  if (channel === null)
    return refused(
      'There is no mail server for statements. Add an e-mail channel to notify.channels, and name it in statements.sender.channel if there are several; or save the PDF.',
    );
  const closed = await findClosed(trx, month);
  if (closed === null)
    return refused(`The statement of ${month} is not closed, so it may still change. Close it first.`);
  const document = await openCreatorStatement(trx, { month, dealId, creator, language, config });
  if (document === null) return refused(whyNoDocument({ month, dealId, creator }));
  const about = { month, dealId, formerCreator: document.former };
  const recipient = asked.recipient ?? document.addressee?.email ?? null;
  if (recipient === null)
    return refused(
      `statements.creators has no address for ${document.former ?? `deal ${dealId}`}. Type it, or add it there.`,
    );
  const notAnAddress = refused('This is not one e-mail address without a name.');
  if (!isEmailAddress(recipient)) return notAnAddress;
  await settleInterrupted(trx);
  const [last] = await listStatementMails(trx, { about, limit: 1 });
  if (last !== undefined && last.state !== 'failed' && after !== LAST && last.mailId !== after)
    return refused(`${describeMail(last)} To send it again, confirm that.`);
  if (last?.state === 'waiting' || last?.state === 'sending') return refused(describeMail(last));
  // Loaded here, because every process that serves the console looks for mails to send.
  const { renderBlocksPdf } = await import('../render/render-pdf.ts');
  const pdf = await renderBlocksPdf(document.blocks, document);
  const documentHash = createHash('sha256').update(pdf).digest('hex');
  const message = await composeMail(channel, {
    to: recipient,
    fromName: document.from,
    replyTo: config.statements.sender.replyTo,
    ...document.mail,
    html: renderBlocksPage(document.blocks, document),
    attachment: { filename: `statement-${month}.pdf`, content: pdf },
  });
  if (message === null) return notAnAddress;
  const of = { deal_id: dealId, former_creator: document.former };
  const what = { statement_id: closed.statementId, ...of, replaces: last?.mailId ?? null };
  const how = { channel: channel.name, language: document.language, document_hash: documentHash };
  const written = await trx
    .insertInto('ops.statement_mails')
    .values({ ...what, ...how, recipient, message, requested_by: maskAddresses(decidedBy) })
    .onConflict((sent) => sent.doNothing())
    .returning('mail_id as id')
    .executeTakeFirst();
  if (written === undefined) return refused('Somebody else has just sent it. Look at it again.');
  await audit({
    action: 'send_statement',
    subjectKind: 'statement',
    subject: month,
    summary: `The statement of ${sayAbout(about)} is sent to ${recipient === document.addressee?.email ? 'its creator' : 'an address that was typed'}${last === undefined || last.state === 'failed' ? '' : ' again'}.`,
    reason,
    after: {
      mail: written.id,
      deal: dealId,
      creator: document.former,
      language: document.language,
      sha256: documentHash,
    },
  });
  return { kind: 'requested', about };
}

/** What became of a mail, in a sentence. */
export function describeMail({ state, requestedBy, requestedAt, failure, settledBy }: StatementMail): string {
  const when = `${formatInstant(requestedAt)} UTC`;
  // A person found out; the mail server said nothing.
  if (settledBy !== null && (state === 'sent' || state === 'failed'))
    return `${requestedBy} sent it at ${when}, and ${settledBy} said that it has ${state === 'sent' ? '' : 'not '}arrived.`;
  switch (state) {
    case 'waiting':
      return `${requestedBy} sent it at ${when}; it waits for a process.`;
    case 'sending':
      return `${requestedBy} sent it at ${when}; it is being sent now.`;
    case 'sent':
      return `${requestedBy} sent it at ${when}, and the mail server took it.`;
    case 'unclear':
      return `${requestedBy} sent it at ${when}, and it is unclear whether the mail server took it (${failure}).`;
    case 'failed':
      return `${requestedBy} sent it at ${when}, and it was not sent (${failure}).`;
  }
}

/**
 * Records what a person found out about an unclear mail.
 *
 * @returns false if the mail is not unclear any more.
 */
export async function settleStatementMail(
  trx: DatabaseTransaction,
  {
    mailId,
    outcome,
    reason,
    decidedBy,
    audit,
  }: DecidedWhy & { readonly mailId: string; readonly outcome: 'sent' | 'failed' },
): Promise<boolean> {
  const settled = await trx
    .updateTable('ops.statement_mails as m')
    .from('ops.statements as s')
    .set({ state: outcome, settled_at: databaseClock, settled_by: maskAddresses(decidedBy) })
    .whereRef('s.statement_id', '=', 'm.statement_id')
    .where((eb) => eb.and({ 'm.mail_id': mailId, 'm.state': 'unclear' }))
    .returning([
      'm.deal_id as dealId',
      'm.former_creator as formerCreator',
      sql<string>`to_char(s.month, 'YYYY-MM')`.as('month'),
    ])
    .executeTakeFirst();
  if (settled === undefined) return false;
  await audit({
    action: 'settle_statement_mail',
    subjectKind: 'statement',
    subject: settled.month,
    summary: `The mail with the statement of ${sayAbout(settled)} ${outcome === 'sent' ? 'has arrived' : 'has not arrived'}.`,
    reason,
    before: { mail: mailId, state: 'unclear' },
    after: { state: outcome },
  });
  return true;
}

/** Finds the mails of processes that died: it is unclear whether they were taken. They are not sent again. */
export async function settleInterrupted(db: Database): Promise<void> {
  const before = (ms: number) => sql`clock_timestamp() - ${ms} * interval '1 millisecond'`;
  await execute(db)`
    update ops.statement_mails
    set state = 'unclear',
      failure = case state when 'sending' then 'interrupted' else 'no process sent it in time' end,
      recipient = null, message = null, settled_at = clock_timestamp()
    where (state = 'sending' and claimed_at < ${before(LEASE_MS)})
      or (state = 'waiting' and requested_at < ${before(MAX_WAIT_MS)})`;
}

/**
 * Sends the mails that wait, one after the other. Call it after the commit; any process may.
 *
 * @param options.signal begins no mail any more once it is aborted.
 * @param options.mayDecide called before the first one; throws what forbids every decision: on a database that lost
 *   claims, a mail that waits may have been sent, and what it says may be wrong.
 */
export async function sendStatementMails(
  db: Database,
  {
    config,
    signal,
    mayDecide = async () => {},
  }: { config: MailConfig; signal?: AbortSignal; mayDecide?: () => Promise<void> },
): Promise<void> {
  await settleInterrupted(db);
  const waiting = await listStatementMails(db, { state: 'waiting', limit: 1 });
  if (waiting.length === 0) return;
  await mayDecide();
  for (const channel of config.notify.channels)
    while (channel.kind === 'email' && signal?.aborted !== true && (await sendNext(db, channel)));
}

/** @returns false if no mail waits for the channel. */
async function sendNext(db: Database, channel: EmailChannel): Promise<boolean> {
  const mail = await rowOf<{ mailId: string; recipient: string; message: Buffer }>(db)`
    update ops.statement_mails set state = 'sending', claimed_at = clock_timestamp()
    where mail_id = (
      select mail_id from ops.statement_mails where state = 'waiting' and channel = ${channel.name}
      order by mail_id limit 1 for update skip locked)
    returning mail_id as "mailId", recipient, message`;
  if (mail === undefined) return false;
  const { mailId, recipient, message } = mail;
  const delivered = await deliverMail(
    channel,
    { envelope: { from: channel.from, to: recipient }, raw: message },
    AbortSignal.timeout(ATTEMPT_WITHIN_MS),
  );
  // If the answer comes after another process took this one for dead, it still is the answer.
  const failure = delivered.kind === 'sent' ? null : delivered.reason;
  await db
    .updateTable('ops.statement_mails')
    .set({ state: delivered.kind, failure, recipient: null, message: null, settled_at: databaseClock })
    .where('mail_id', '=', mailId)
    .where('state', 'in', ['sending', 'unclear'])
    .where('settled_by', 'is', null)
    .execute();
  return true;
}
