import type { Html } from '../../../core/text/html.ts';
import { isLanguage, LANGUAGES, type Language } from '../../../core/text/language.ts';
import { isMonth } from '../../../core/time/month.ts';
import { describeMail, mailChannel } from '../../../decisions/send-statement.ts';
import { blocksMarkup } from '../../../render/html/block-markup.ts';
import { html, htmlWithAddresses } from '../../../render/html/html.ts';
import { letterheadMarkup, renderBlocksPage } from '../../../render/html/report-page.ts';
import { openCreatorStatement, type StatementDocument } from '../../../reports/money/creator-statement.ts';
import { listStatementMails, type StatementMail } from '../../../reports/money/statement-mails.ts';
import { definePage, type Shown, type Visit } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import { anchor, describeKnown, missing } from '../../markup/parts.ts';
import { textOf } from '../../read-query.ts';

/** The statement of one deal as its creator gets it, to look at, to save, or to send. */
export const statementDocumentPage = definePage('/statements/:month/document', async (visit) => {
  const { month = '' } = visit.params;
  const dealId = textOf(visit, 'deal');
  if (!isMonth(month) || dealId === null)
    return missing('Statement', 'The address names no month, or no deal.');
  const language = textOf(visit, 'language');
  const path = `/statements/${month}/document`;
  const document = await openCreatorStatement(visit.db, {
    ...{ month, dealId, config: visit.config },
    language: language !== null && isLanguage(language) ? language : null,
  }).catch((error: unknown) => ({ problem: describeKnown(error) }));
  if (document === null) return missing(`Deal ${dealId}`, `Nothing is known of a deal ${dealId}.`);
  if ('problem' in document)
    return { title: `Statement of ${month}: deal ${dealId}`, content: document.problem };
  const format = visit.query.get('download');
  if (format === 'pdf' || format === 'html') return save(document, { format, month, dealId });
  const file = (name: string) =>
    visit.link(path, { deal: dealId, download: name, language: document.language });
  return {
    title: `Statement of ${month}: deal ${dealId}`,
    content: html`<p>${anchor(visit.link(`/statements/${month}`, { deal: dealId }), 'Lines of this deal')}. Download as ${anchor(file('pdf'), 'PDF')} or ${anchor(file('html'), 'HTML')}.</p>
<p>In another language: ${LANGUAGES.filter((other) => other !== document.language).map((other, index) => html`${index === 0 ? '' : ', '}${anchor(visit.link(path, { deal: dealId, language: other }), nameOf(other))}`)}.</p>
${await mails(visit, document, { month, dealId })}
<article lang="${document.letterhead.language}" class="document">
${letterheadMarkup(document.letterhead)}<h2>${document.title}</h2>
${blocksMarkup(document.blocks)}</article>`,
  };
});

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

function nameOf(language: Language): string {
  return NAMES.of(language) ?? language;
}

const SHOWN_MAILS = 10;

/** What was sent, and the form that sends it. */
async function mails(
  visit: Visit,
  { language, addressee, isClosed }: StatementDocument,
  { month, dealId }: { readonly month: string; readonly dealId: string },
): Promise<Html> {
  const sent = await listStatementMails(visit.db, { month, dealId, limit: SHOWN_MAILS });
  const [last] = sent;
  const isOpen = last?.state === 'waiting' || last?.state === 'sending' || last?.state === 'unclear';
  return html`<h2>Send it</h2>
${sent.map((mail) => html`<p>${describeMail(mail)} <small>${mail.language}, SHA-256 ${mail.documentHash.slice(0, 12)}</small></p>`)}
${last?.state === 'unclear' ? settleForm(visit, last) : null}
${isOpen ? null : sendForm(visit, { month, dealId, language, isClosed, email: addressee?.email ?? null, last: last ?? null })}`;
}

function settleForm(visit: Visit, { mailId }: StatementMail): Html {
  return html`<p>It is never sent again by itself. Ask the creator, or look at the log of the mail server.</p>
${actionForm(visit, '/statements/settle-mail', {
  hidden: { mail: mailId },
  fields: html`<label><input type="radio" name="outcome" value="sent" required> It has arrived</label>
<label><input type="radio" name="outcome" value="failed" required> It has not arrived, and can be sent again</label>`,
  reasonLabel: 'How do you know',
  button: 'Decide',
})}`;
}

function sendForm(
  visit: Visit,
  {
    month,
    dealId,
    language,
    isClosed,
    email,
    last,
  }: {
    readonly month: string;
    readonly dealId: string;
    readonly language: string;
    readonly isClosed: boolean;
    readonly email: string | null;
    readonly last: StatementMail | null;
  },
): Html {
  if (mailChannel(visit.config) === null)
    return html`<p class="none">No mail server is configured for statements (an e-mail channel of <code>notify</code>): save the document and send it yourself.</p>`;
  if (!isClosed) return html`<p class="none">Close the month first: until then, it may change.</p>`;
  return actionForm(visit, '/statements/send', {
    hidden: { month, deal: dealId, language, after: last?.mailId ?? '' },
    // What the person sees is what is sent to, even if the file changes meanwhile.
    fields: htmlWithAddresses`<label>To <input type="email" name="recipient" value="${email ?? ''}" maxlength="254" autocomplete="off" required></label>
<small>${email === null ? 'statements.creators has no address for this deal.' : 'As in statements.creators.'}</small>`,
    reason: `Statement of ${month}`,
    button: last === null || last.state === 'failed' ? 'Send it by mail' : 'Send it again',
    ...(last?.state === 'sent' ? { confirm: 'It was sent before. Send it again.' } : {}),
  });
}

async function save(
  document: StatementDocument,
  {
    format,
    month,
    dealId,
  }: { readonly format: 'pdf' | 'html'; readonly month: string; readonly dealId: string },
): Promise<Shown> {
  const name = `statement-${month}-${dealId.replace(/[^\w-]/g, '_')}.${format}`;
  if (format === 'html')
    return { download: { name, type: 'text/html', content: renderBlocksPage(document.blocks, document) } };
  const { renderBlocksPdf } = await import('../../../render/render-pdf.ts');
  return {
    download: { name, type: 'application/pdf', content: await renderBlocksPdf(document.blocks, document) },
  };
}
