import { KnownError } from '../../../core/known-error.ts';
import { isLanguage, LANGUAGES } from '../../../core/text/language.ts';
import { isMonth } from '../../../core/time/month.ts';
import { blockMarkup } from '../../../render/html/block-markup.ts';
import { html } from '../../../render/html/html.ts';
import { letterheadMarkup, renderBlocksPage } from '../../../render/html/report-page.ts';
import { openCreatorStatement, type StatementDocument } from '../../../reports/money/creator-statement.ts';
import type { ConsolePage, Shown } from '../../console-page.ts';
import { anchor, missing } from '../../markup/parts.ts';
import { textOf } from '../../read-query.ts';

/** The statement of one deal as its creator gets it, to look at, to save, or to send. */
export const statementDocumentPage: ConsolePage = {
  path: '/statements/:month/document',
  place: 'Money',
  tab: null,
  async show(visit) {
    const { month = '' } = visit.params;
    const dealId = textOf(visit, 'deal');
    if (!isMonth(month) || dealId === null)
      return missing('Statement', 'The address names no month, or no deal.');
    const language = textOf(visit, 'language');
    const path = `/statements/${month}/document`;
    const document = await openCreatorStatement(visit.db, {
      ...{ month, dealId, config: visit.config },
      language: language !== null && isLanguage(language) ? language : null,
    }).catch((error: unknown) => {
      if (error instanceof KnownError) return error;
      throw error;
    });
    if (document instanceof KnownError)
      return {
        title: `Statement of ${month}: deal ${dealId}`,
        content: html`<p class="notice red" role="alert">${document.details.message} ${document.details.where}. ${document.details.help}</p>
<ul>${(document.details.problems ?? []).map((problem) => html`<li>${problem.where}: ${problem.message} ${problem.help}</li>`)}</ul>`,
      };
    if (document === null) return missing(`Deal ${dealId}`, `Nothing is known of a deal ${dealId}.`);
    const format = visit.query.get('download');
    if (format === 'pdf' || format === 'html') return save(document, { format, month, dealId });
    const file = (name: string) =>
      visit.link(path, { deal: dealId, download: name, language: document.language });
    return {
      title: `Statement of ${month}: deal ${dealId}`,
      content: html`<p>${anchor(visit.link(`/statements/${month}`, { deal: dealId }), 'Its lines')}, ${anchor(file('pdf'), 'save as PDF')}, ${anchor(file('html'), 'save as a page')}.</p>
<p>In another language: ${LANGUAGES.filter((other) => other !== document.language).map((other, index) => html`${index === 0 ? '' : ', '}${anchor(visit.link(path, { deal: dealId, language: other }), other)}`)}.</p>
<article lang="${document.letterhead.language}" class="document">
${letterheadMarkup(document.letterhead)}<h2>${document.title}</h2>
${document.blocks.map(blockMarkup)}</article>`,
    };
  },
};

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
