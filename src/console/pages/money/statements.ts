import { KnownError } from '../../../core/known-error.ts';
import { formatAtLeast, formatMoney, formatNumber } from '../../../core/money.ts';
import { isLanguage, LANGUAGES } from '../../../core/text/language.ts';
import { isMonth, monthAfter, monthBefore } from '../../../core/time/month.ts';
import { describeMail, mailChannel } from '../../../decisions/send-statement.ts';
import { convertLines } from '../../../money/convert-lines.ts';
import { loadExchange, loadStatementRules } from '../../../money/load-rules.ts';
import { listPayments } from '../../../money/payments/keep-payments.ts';
import { findClosed, readStatement, refuseContained } from '../../../money/read-statement.ts';
import type { StatementLine, StatementRules } from '../../../money/statement.ts';
import {
  type CurrencySum,
  type DealSum,
  type LineKey,
  listDealLines,
  listOpenMonths,
  listStatements,
  type OpenMonth,
  type StatementSums,
  sumStatement,
} from '../../../money/sum-statement.ts';
import { column, number } from '../../../render/block.ts';
import { blocksMarkup } from '../../../render/html/block-markup.ts';
import { type Html, html, htmlWithAddresses } from '../../../render/html/html.ts';
import { letterheadMarkup, renderBlocksPage } from '../../../render/html/report-page.ts';
import { formatCount, plural } from '../../../render/text.ts';
import {
  openCreatorStatement,
  type StatementDocument,
  whyNoDocument,
} from '../../../reports/money/creator-statement.ts';
import { countUnknownEarnings } from '../../../reports/money/read-creators.ts';
import {
  describeLeftOut,
  describeStatement,
  describeToPay,
  describeTotal,
  narrowStatement,
  renderStatementCsv,
} from '../../../reports/money/statement.ts';
import {
  listStatementMails,
  type StatementAbout,
  type StatementMail,
  sayAbout,
} from '../../../reports/money/statement-mails.ts';
import { sumUnclaimed } from '../../../reports/payments/accruals.ts';
import { describePaid, isPaidElsewhere } from '../../../reports/payments/payments.ts';
import { definePage, type Shown, type Visit } from '../../console-page.ts';
import { actionForm, notOffered } from '../../markup/action-form.ts';
import { queryForm } from '../../markup/filter.ts';
import {
  amountList,
  anchor,
  badge,
  blockList,
  describeKnown,
  factList,
  missing,
  pagedTable,
  table,
} from '../../markup/parts.ts';
import { keyedPageOf, monthOf, PAGE_ROWS, textOf } from '../../read-query.ts';

const PATH = '/statements';

/**
 * The first month that is over and has something to pay, with its commission in each currency, as of the last refresh of
 * the reports. Null if there is none.
 */
export async function findMonthToClose({
  db,
  config,
  now,
}: Visit): Promise<{ readonly month: string; readonly commission: string } | null> {
  const over = monthBefore(now, config.statements.timeZone);
  const open = await listOpenMonths(db, { limit: Number.MAX_SAFE_INTEGER });
  const month = open.findLast((one) => one.month <= over)?.month;
  if (month === undefined) return null;
  return {
    month,
    commission: open
      .filter((one) => one.month === month)
      .map(sayCommission)
      .join('; '),
  };
}

function sayCommission({ amount, currency, unknownOrders }: OpenMonth): string {
  return formatAtLeast(formatMoney(amount, currency), unknownOrders);
}

/**
 * What a statement pays, in all currencies or in one: `at least` as much, if it is unknown what some orders earn, or
 * whether a fee is owed.
 */
function sayToPay(
  { currencies, uncountedSums, unknownFees }: StatementSums,
  of: string | null = null,
): string {
  const isOf = ({ currency }: { currency: string }) => of === null || currency === of;
  return describeToPay(currencies.filter(isOf), {
    uncounted: uncountedSums.filter(isOf),
    unknownFees: unknownFees.filter(isOf),
  });
}

/** Page that lists the open months with something to pay and the closed statements, and opens the statement of any month. */
export const statementsPage = definePage(PATH, async (visit) => {
  const chosen = monthOf(visit, 'month');
  if (chosen !== null) return { redirect: visit.link(`${PATH}/${chosen}`) };
  const after = textOf(visit, 'after');
  const rows = await listStatements(visit.db, {
    limit: PAGE_ROWS + 1,
    after: after !== null && isMonth(after) ? after : null,
  });
  const open = after === null ? await listOpenMonths(visit.db, { limit: PAGE_ROWS }) : [];
  const unknown = after === null ? await countUnknownEarnings(visit.db, null) : 0;
  const unclear = await listStatementMails(visit.db, { state: 'unclear', limit: PAGE_ROWS });
  const { timeZone } = visit.config.statements;
  const last = monthBefore(visit.now, timeZone);
  const month = (label: string) => anchor(visit.link(`${PATH}/${label}`), label);
  return {
    title: 'Statements',
    content: html`<p>What each deal earned in a month, net of refunds and cancellations. The last month that is over is ${month(last)}; days are those of ${timeZone}.</p>
${queryForm(
  visit,
  { asks: ['month', 'after'], label: 'Open a month', className: 'filter' },
  html`<label>Month <input type="text" name="month" placeholder="2026-10" pattern="\d{4}-(0[1-9]|1[0-2])" required></label>
<button type="submit">Open</button>`,
)}${unclear.length === 0 ? null : html`<p class="notice red" role="alert">Unclear whether these mails arrived: ${unclear.map((mail, index) => html`${index === 0 ? '' : ', '}${anchor(visit.link(`${PATH}/${mail.month}/document`, { deal: mail.dealId, creator: mail.formerCreator }), sayAbout(mail))}`)}.</p>`}
<h2>Open</h2>
<p>As of the last refresh of the reports. The statement of a month adds fixed fees, and what earlier months that are still open contain.${unknown === 0 ? null : html` It is unknown what ${plural(unknown, 'order')} earn${unknown === 1 ? 's' : null}: the month in which ${unknown === 1 ? 'it counts' : 'they count'} comes to at least its amount.`}</p>
${table({ rows: open, about: 'Open months', none: 'No open month has an order that counts.' }, [
  column('Month', ({ month: label }) => month(label)),
  column('State', ({ month: label }) =>
    label <= last ? 'can be closed' : 'not over: orders can still be returned',
  ),
  number('Orders', ({ orders }) => formatCount(orders)),
  number('Commission', sayCommission),
])}
<h2>Closed</h2>
<p>A closed statement never changes. To check that, run <code>npx influencer-sync statement verify</code>.</p>
${pagedTable({ rows, visit, about: 'Closed statements', none: 'No statement is closed yet.', key: 'month' }, [
  column('Month', ({ month: label }) => month(label)),
  number('Lines', ({ lines }) => formatCount(lines)),
  number('Amount', ({ amounts }) => amountList(amounts)),
  column('Closed', ({ at }) => visit.instant(at)),
  column('Who', ({ by }) => by),
  column('Why', ({ reason }) => reason),
  column('SHA-256', ({ hash }) => html`<code>${hash.slice(0, 12)}</code>`),
])}`,
  };
});

/**
 * Page of the statement of one month: the amounts owed to each deal, with one table per currency, and the
 * orders that it does not contain yet.
 */
export const statementPage = definePage('/statements/:month', async (visit) => {
  const { month = '' } = visit.params;
  if (!isMonth(month)) return missing(`Statement of ${month}`, 'There is no such month.');
  const contained = await refuseContained(visit.db, month).then(() => null, describeKnown);
  if (contained !== null) return { title: `Statement of ${month}`, content: contained };
  const read = readRules(visit);
  // A closed statement is shown as it was stored, even if the terms cannot be read now.
  const isClosed = 'problem' in read && (await findClosed(visit.db, month)) !== null;
  if ('problem' in read && !isClosed) return { title: `Statement of ${month}`, content: read.problem };
  const rules = 'problem' in read ? { ...visit.config.statements, terms: [] } : read;
  const format = visit.query.get('download');
  const dealId = textOf(visit, 'deal');
  // What a creator gets is the document.
  if (format === 'pdf' && dealId !== null) {
    const asked = { deal: dealId, creator: textOf(visit, 'creator'), download: format };
    return { redirect: visit.link(`/statements/${month}/document`, asked) };
  }
  if (format === 'csv' || format === 'pdf') return download(visit, { month, rules, format, dealId });
  return dealId === null
    ? showMonth(visit, { month, rules })
    : showDealLines(visit, { month, rules, dealId });
});

/** Maximum number of lines of a download, which is built in memory. A PDF of that size has 150 pages. */
const MAX_DOWNLOAD_LINES = { csv: 100_000, pdf: 5_000 } as const;

/** Describes the total of all currencies in the reporting currency. Null if none is configured. */
function convertedTotal({ config }: Visit, { days, closed, exchange: stored }: StatementSums): string | null {
  try {
    const exchange = closed === null ? loadExchange(config.statements) : stored;
    return exchange === null ? null : describeTotal(convertLines(days, exchange));
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    return 'Unknown: the exchange rates cannot be used. To see why: npx influencer-sync statement';
  }
}

type Month = { readonly month: string; readonly rules: StatementRules };

/**
 * Reads the rules, or describes why they cannot be read. An open statement cannot be computed without them.
 */
export function readRules({ config }: Visit): StatementRules | { readonly problem: Html } {
  try {
    return loadStatementRules(config.statements);
  } catch (error) {
    return { problem: describeKnown(error) };
  }
}

/**
 * Returns the statement, or the part of one deal, as a file. Returns a page with a command if it is too long.
 */
async function download(
  visit: Visit,
  {
    month,
    rules,
    format,
    dealId,
  }: Month & { readonly format: 'csv' | 'pdf'; readonly dealId: string | null },
): Promise<Shown> {
  const { currencies } = await sumStatement(visit.db, { month, rules, dealId, limit: 1 });
  const lines = currencies.reduce((sum, one) => sum + one.lines, 0);
  if (lines > MAX_DOWNLOAD_LINES[format])
    return {
      title: 'No file to save',
      content: html`<p class="notice red" role="alert">The statement has ${plural(lines, 'line')}. Save it with a command:</p>
<p><code>npx influencer-sync statement --month ${month} --format ${format} > statement-${month}.${format}</code></p>`,
      status: 404,
    };
  const statement = narrowStatement(await readStatement(visit.db, { month, rules }), { dealId });
  const name = `statement-${month}${dealId === null ? '' : `-${dealId.replace(/[^\w-]/g, '_')}`}.${format}`;
  if (format === 'csv')
    return { download: { name, type: 'text/csv', content: renderStatementCsv(statement) } };
  const { renderBlocksPdf } = await import('../../../render/render-pdf.ts');
  const madeAt = statement.closed?.at ?? new Date(`${month}-01T00:00:00Z`);
  const content = await renderBlocksPdf(describeStatement(statement, { showsLines: true }), {
    title: `Statement of ${month}`,
    madeAt,
  });
  return { download: { name, type: 'application/pdf', content } };
}

async function showMonth(visit: Visit, { month, rules }: Month): Promise<Shown> {
  const after = textOf(visit, 'after');
  const sums = await sumStatement(visit.db, {
    month,
    rules,
    after,
    limit: PAGE_ROWS + 1,
    currency: textOf(visit, 'currency'),
    withDays: true,
  });
  const { closed, currencies, timeZone, returnWindowDays } = sums;
  const total = currencies.length === 0 ? null : convertedTotal(visit, sums);
  const paid = await sayPaid(visit, sums, null);
  return {
    title: `Statement of ${month}`,
    content: html`<p>${badge(closed === null ? 'open' : 'closed')} ${closed === null ? 'It may still change.' : 'It never changes. Later changes are in the next statement.'} ${anchor(visit.link('/statements'), 'All statements')}</p>
${factList([
  ['To pay', sayToPay(sums)],
  [
    'Payments',
    paid === null || !visit.may('GET /money/payments') ? paid : anchor(visit.link('/money/payments'), paid),
  ],
  ['In one currency', total],
  ['Closed', closed === null ? null : html`${visit.instant(closed.at)} by ${closed.by}`],
  ['SHA-256', closed?.hash ?? null],
  ['Days', `of ${timeZone}; an order counts ${plural(returnWindowDays, 'day')} after it was placed`],
  [
    'Every line',
    html`${anchor(visit.link(`/statements/${month}`, { download: 'csv' }), 'Download as CSV, for a spreadsheet')} or ${anchor(visit.link(`/statements/${month}`, { download: 'pdf' }), 'as PDF, to pass on')}`,
  ],
])}
${currencies.length === 0 ? html`<p class="none">No order counts in this month, and there is nothing to correct.</p>` : null}
${currencies.map(({ currency }) => currencyTable(currency, { sums, visit }))}
${leftOut(sums, visit)}
${closed === null ? closeForm(visit, sums) : null}`,
  };
}

/** What became of the payments of a closed statement, or of one deal in it. Null while it is open. */
async function sayPaid({ db, config }: Visit, { month, closed }: StatementSums, dealId: string | null) {
  if (closed === null) return null;
  const payments = await listPayments(db, { of: { statementId: closed.statementId, dealId } });
  return describePaid(payments, {
    unclaimed: payments.length === 0 ? [] : await sumUnclaimed(db, { month, dealId }),
    isEarlier: isPaidElsewhere(month, config.statements),
  });
}

function currencyTable(currency: string, { sums, visit }: { sums: StatementSums; visit: Visit }): Html {
  const { deals, month, closed } = sums;
  const rows = deals.filter((deal) => deal.currency === currency);
  const ids = [...new Set(rows.map(({ dealId }) => dealId))];
  const shown = ids.slice(0, PAGE_ROWS);
  const money = (title: string, of: 'netAmount' | 'commission' | 'corrections' | 'fees') =>
    number(title, ({ [of]: sum }: DealSum) =>
      sum === null ? null : formatNumber({ amount: sum, currency }),
    );
  const path = `/statements/${month}`;
  return html`<h2>To pay in ${currency}: ${sayToPay(sums, currency)}</h2>
${table(
  {
    rows: rows.filter(({ dealId }) => shown.includes(dealId)),
    about: `What deals are owed in ${currency}`,
    none: 'No deal.',
  },
  [
    column('Deal', ({ dealId }) =>
      dealId === null ? 'fees of codes' : anchor(visit.link(path, { deal: dealId }), dealId),
    ),
    column('Creator', ({ influencerHandle }) => visit.creator(influencerHandle)),
    number('Orders', ({ orders }) => formatCount(orders)),
    money('Net revenue', 'netAmount'),
    money('Commission', 'commission'),
    money('Corrections', 'corrections'),
    money('Fees', 'fees'),
    number('To pay', (deal) => formatMoney(deal.amount, currency)),
    column('Document', ({ dealId, influencerHandle, isFormer }) =>
      closed === null ? null : pdfLink(visit, { month, dealId, creator: isFormer ? influencerHandle : null }),
    ),
  ],
)}
${ids.length > PAGE_ROWS ? html`<p>${anchor(visit.link(path, { currency, after: shown.at(-1) ?? '' }), `More deals in ${currency}`)}</p>` : null}`;
}

/** The document of a deal, or of a former creator of it, to save. Null: of no deal, or not for this person. */
export function pdfLink(
  visit: Visit,
  { month, dealId, creator }: { month: string; dealId: string | null; creator: string | null },
): Html | null {
  return dealId && visit.may('GET /statements/:month/document')
    ? anchor(visit.link(`${PATH}/${month}`, { deal: dealId, creator, download: 'pdf' }), 'PDF')
    : null;
}

/** What the statement does not contain, as the command describes it. */
function leftOut(sums: StatementSums, visit: Visit): Html | null {
  const sections = describeLeftOut(sums, { sums: sums.uncountedSums, limit: PAGE_ROWS });
  return sections.length === 0
    ? null
    : html`<h2>Left out, or not settled</h2>${blockList(sections, visit)}${sums.held.length === 0 ? null : html`<p>${anchor(visit.link('/held'), 'Decide about held orders')}, or ${anchor(visit.link('/restated'), 'about those in another currency')}</p>`}`;
}

/**
 * Renders the form that closes the statement, once its month is over. The form submits the totals that it
 * shows; if they have changed by then, the statement is not closed.
 */
function closeForm(visit: Visit, sums: StatementSums): Html {
  const { month, timeZone } = sums;
  if (month > monthBefore(visit.now, timeZone))
    return html`<h2>Close it</h2><p class="none">${month} is not over. You can close it from ${monthAfter(month)}-01 on.</p>`;
  return html`<h2>Close it</h2>
<p>Close the statement when you pay it out: ${sayToPay(sums) || 'nothing to pay'}. A closed statement never changes. Later changes are corrections in the next statement.</p>
${actionForm(visit, '/statements/close', {
  hidden: { month, shown: describeSums(sums.currencies) },
  button: `Close ${month}`,
  confirm: 'I have checked it: a closed statement never changes.',
})}`;
}

/**
 * Describes the totals of a statement: `13.33 EUR in 2 lines, 5.00 USD in 1 line`. The page shows this text,
 * and closing compares it with the current totals.
 */
export function describeSums(currencies: readonly CurrencySum[]): string {
  return currencies.length === 0
    ? 'nothing to pay'
    : currencies
        .map(({ amount, currency, lines }) => `${formatMoney(amount, currency)} in ${plural(lines, 'line')}`)
        .join(', ');
}

/** Shows the lines of one deal in a statement, page by page. */
async function showDealLines(
  visit: Visit,
  options: { readonly month: string; readonly rules: StatementRules; readonly dealId: string },
): Promise<Shown> {
  const { month, dealId } = options;
  const page = keyedPageOf(visit, { currency: 'text', dueOn: 'day', kind: 'text', subject: 'text' });
  const { after: key } = page;
  const [sums, lines] = await Promise.all([
    sumStatement(visit.db, { ...options, limit: PAGE_ROWS }),
    listDealLines(visit.db, {
      ...options,
      ...page,
      after: key === null ? null : { ...key, kind: key.kind as LineKey['kind'] },
    }),
  ]);
  const { closed } = sums;
  const path = `/statements/${month}`;
  const handle = sums.deals.find(({ isFormer }) => !isFormer)?.influencerHandle;
  return {
    title: `Statement of ${month}: deal ${dealId}`,
    content: html`<p>${badge(closed === null ? 'open' : 'closed')} ${anchor(visit.link(path), `The whole statement of ${month}`)}</p>
${factList([
  ['To pay', sayToPay(sums) || 'nothing'],
  [
    'Carried forward',
    sums.carried
      .map(
        ({ amount, minimum, currency }) =>
          `${formatMoney(amount, currency)}, below the minimum of ${formatMoney(minimum, currency)}`,
      )
      .join('; ') || null,
  ],
  ['Payment', await sayPaid(visit, sums, dealId)],
  ['Deal', visit.deal(dealId)],
  ['Creator', visit.creator(handle ?? null)],
  [
    'Document',
    visit.may('GET /statements/:month/document')
      ? anchor(visit.link(`${path}/document`, { deal: dealId }), 'The statement for the creator')
      : notOffered(visit, 'GET /statements/:month/document'),
  ],
  ['Lines', formatCount(sums.currencies.reduce((sum, one) => sum + one.lines, 0))],
])}
${
  lines.length === 0 && key === null
    ? html`<p class="none">The statement has no line for this deal.</p>`
    : pagedTable(
        {
          rows: lines,
          visit,
          about: `Lines of deal ${dealId}`,
          none: 'The statement has no line for this deal.',
          key: ['currency', 'dueOn', 'kind', 'subject'],
        },
        [
          column('Day', ({ orderedOn, dueOn }) => orderedOn ?? dueOn),
          column('What', (line) => whatOf(line, visit)),
          new Set(lines.map(({ influencerHandle }) => influencerHandle)).size === 1
            ? null
            : column('Creator', ({ influencerHandle }) => visit.creator(influencerHandle)),
          number('Net revenue', ({ netAmount, excludedAmount, currency }) =>
            netAmount === null
              ? null
              : html`${formatMoney(netAmount, currency)}${excludedAmount === null ? null : html` <small>less ${formatNumber({ amount: excludedAmount, currency })} excluded</small>`}`,
          ),
          number('Rate', ({ ratePercent, rateFrom }) =>
            ratePercent === null ? null : html`${ratePercent} % <small>${rateFrom}</small>`,
          ),
          column('Terms', ({ termsText }) => termsText),
          number('Earned', ({ earnedAmount: amount, currency }) => formatNumber({ amount, currency })),
          number('Before', ({ closedBefore: amount, currency }) => formatNumber({ amount, currency })),
          number('Adds', ({ amount, currency }) => formatMoney(amount, currency)),
        ],
      )
}`,
  };
}

function whatOf({ kind, orderId, source }: StatementLine, visit: Visit) {
  const subject = orderId === null ? 'fee' : html`order ${visit.order({ source, orderId })}`;
  return kind === 'correction' ? html`${subject}, corrected` : subject;
}

/** The statement of one deal as its creator gets it, to look at, to save, or to send. */
export const statementDocumentPage = definePage('/statements/:month/document', async (visit) => {
  const { month = '' } = visit.params;
  const dealId = textOf(visit, 'deal');
  if (!isMonth(month) || dealId === null)
    return missing('Statement', 'The address names no month, or no deal.');
  const [creator, language] = [textOf(visit, 'creator'), textOf(visit, 'language')];
  const path = `/statements/${month}/document`;
  const document = await openCreatorStatement(visit.db, {
    month,
    dealId,
    creator,
    config: visit.config,
    language: language !== null && isLanguage(language) ? language : null,
  }).catch((error: unknown) => ({ problem: describeKnown(error) }));
  if (document === null) return missing(`Deal ${dealId}`, whyNoDocument({ month, dealId, creator }));
  if ('problem' in document)
    return { title: `Statement of ${month}: deal ${dealId}`, content: document.problem };
  const format = visit.query.get('download');
  if (format === 'pdf' || format === 'html')
    return save(document, { format, month, dealId: creator === null ? dealId : `${dealId}-${creator}` });
  const file = (name: string) =>
    visit.link(path, { deal: dealId, creator, download: name, language: document.language });
  return {
    title: `Statement of ${month}: deal ${dealId}`,
    content: html`<p>${anchor(visit.link(`/statements/${month}`, { deal: dealId }), 'Lines of this deal')}. Download as ${anchor(file('pdf'), 'PDF')} or ${anchor(file('html'), 'HTML')}.</p>
<p>In another language: ${LANGUAGES.filter((other) => other !== document.language).map((other, index) => html`${index === 0 ? '' : ', '}${anchor(visit.link(path, { deal: dealId, creator, language: other }), NAMES.of(other) ?? other)}`)}.</p>
${
  document.former === null
    ? document.formerCreators.map(
        (handle) =>
          html`<p>What was closed to a former creator is corrected in a document of its own: ${anchor(visit.link(path, { deal: dealId, creator: handle }), handle)}.</p>`,
      )
    : html`<p>${document.former} had the deal before. ${anchor(visit.link(path, { deal: dealId }), 'The document of its creator')}.</p>`
}
${await mails(visit, document, { month, dealId, formerCreator: document.former })}
<article lang="${document.letterhead.language}" class="document">
${letterheadMarkup(document.letterhead)}<h2>${document.title}</h2>
${blocksMarkup(document.blocks)}</article>`,
  };
});

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

const SHOWN_MAILS = 10;

/** What was sent, and the form that sends it. */
async function mails(visit: Visit, document: StatementDocument, about: StatementAbout): Promise<Html> {
  const sent = await listStatementMails(visit.db, { about, limit: SHOWN_MAILS });
  const [last] = sent;
  const isOpen = last?.state === 'waiting' || last?.state === 'sending' || last?.state === 'unclear';
  return html`<h2>Send it</h2>
${sent.map((mail) => html`<p>${describeMail(mail)} <small>${mail.language}, SHA-256 ${mail.documentHash.slice(0, 12)}</small></p>`)}
${last?.state === 'unclear' ? settleForm(visit, last) : null}
${isOpen ? null : sendForm(visit, { document, about, last: last ?? null })}`;
}

function settleForm(visit: Visit, { mailId }: StatementMail): Html {
  return html`<p>It is never sent again by itself. Ask the creator, or look at the log of the mail server.</p>
${actionForm(visit, '/statements/settle-mail', {
  hidden: { mail: mailId },
  fields: html`<label><input type="radio" name="outcome" value="sent" required> It has arrived</label>
<label><input type="radio" name="outcome" value="failed" required> It has not arrived, and can be sent again</label>`,
  reasonLabel: 'How do you know',
  button: 'Decide',
  isMain: true,
})}`;
}

function sendForm(
  visit: Visit,
  {
    document: { language, addressee, isClosed },
    about: { month, dealId, formerCreator },
    last,
  }: { document: StatementDocument; about: StatementAbout; last: StatementMail | null },
): Html {
  const email = addressee?.email ?? null;
  if (mailChannel(visit.config) === null)
    return html`<p class="none">No mail server is configured for statements (an e-mail channel of <code>notify</code>): save the document and send it yourself.</p>`;
  if (!isClosed) return html`<p class="none">Close the month first: until then, it may change.</p>`;
  return actionForm(visit, '/statements/send', {
    hidden: { month, deal: dealId, creator: formerCreator ?? '', language, after: last?.mailId ?? '' },
    // What the person sees is what is sent to, even if the file changes meanwhile.
    fields: htmlWithAddresses`<label>To <input type="email" name="recipient" value="${email ?? ''}" maxlength="254" autocomplete="off" required></label>
<small>${email === null ? `statements.creators has no address for ${formerCreator ?? 'this deal'}.` : 'As in statements.creators.'}</small>`,
    reason: `Statement of ${month}`,
    button: last === null || last.state === 'failed' ? 'Send it by mail' : 'Send it again',
    isMain: true,
    ...(last?.state === 'sent' ? { confirm: 'It was sent before. Send it again.' } : {}),
  });
}

async function save(
  document: StatementDocument,
  { format, month, dealId }: { format: 'pdf' | 'html'; month: string; dealId: string },
): Promise<Shown> {
  const name = `statement-${month}-${dealId.replace(/[^\w-]/g, '_')}.${format}`;
  if (format === 'html')
    return { download: { name, type: 'text/html', content: renderBlocksPage(document.blocks, document) } };
  const { renderBlocksPdf } = await import('../../../render/render-pdf.ts');
  return {
    download: { name, type: 'application/pdf', content: await renderBlocksPdf(document.blocks, document) },
  };
}
