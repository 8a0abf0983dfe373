import { formatInstant } from '../../core/text/format-instant.ts';
import { type Html, type HtmlValue, joinMarkup } from '../../core/text/html.ts';
import { toPrintable } from '../../core/text/printable.ts';
import type { Block } from '../block.ts';
import type { Letterhead } from '../letterhead.ts';
import { describeOutcome, describeRun, type ReportRenderer, type RunSummary } from '../report-renderer.ts';
import { blockMarkup } from './block-markup.ts';
import { html } from './html.ts';
import { pageStyle } from './page-style.ts';

/** The summary of a run and its renderer. */
export type ReportedSummary = {
  readonly summary: RunSummary;
  readonly renderer: ReportRenderer;
  /** What the page shows below the summary. */
  readonly appendix?: readonly Block[];
};

/**
 * Renders runs as one HTML file that a person without a terminal can open, print and pass on. It has the
 * blocks of the terminal, and those of the appendix. It loads nothing from the network and contains no script; its content security
 * policy enforces both. It contains neither cells of files nor e-mail addresses.
 *
 * @param runs in the order of the page.
 */
export function renderReportPage(
  runs: readonly ReportedSummary[],
  { title, madeAt }: { readonly title: string; readonly madeAt: Date },
): string {
  return renderPage(html`${runs.map(runMarkup)}`, { title, madeAt });
}

/** Renders blocks as such a page. */
export function renderBlocksPage(blocks: readonly Block[], options: PageOptions): string {
  return renderPage(html`<article>${blocks.map(blockMarkup)}</article>`, options);
}

type PageOptions = {
  readonly title: string;
  readonly madeAt: Date;
  /** What stands above the title of a document for somebody outside. */
  readonly letterhead?: Letterhead;
};

function renderPage(content: Html, { title, madeAt, letterhead }: PageOptions): string {
  return html`<!DOCTYPE html>
<html lang="${letterhead?.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${letterhead === undefined ? '' : '; img-src data:'}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${pageStyle}
</head>
<body>
<header>
${letterhead === undefined ? null : letterheadMarkup(letterhead)}<h1>${title}</h1>
${letterhead === undefined ? madeBy(madeAt) : null}</header>
<main>
${content}</main>
</body>
</html>
`.toString();
}

/** The lines are those of the sender and the addressee themselves, so addresses in them are not masked. */
export function letterheadMarkup({ logo, sender, addressee }: Letterhead): Html {
  const unmasked = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
    joinMarkup(strings, values, toPrintable);
  const lines = (all: readonly string[]) =>
    all.map((line, index) => (index === 0 ? line : unmasked`<br>${line}`));
  return unmasked`${logo === null ? null : unmasked`<p><img src="data:${logo.type};base64,${logo.content.toString('base64')}" alt="${sender[0] ?? ''}" height="48"></p>\n`}<p>${lines(sender)}</p>
<p>${lines(addressee)}</p>
`;
}

function madeBy(madeAt: Date): Html {
  return html`<p class="dim">Made by influencer-sync at ${formatInstant(madeAt)} UTC. All times are UTC. Amounts are never added up across currencies.</p>
`;
}

function runMarkup({ summary, renderer, appendix = [] }: ReportedSummary): Html {
  const { finished, problem = null } = summary;
  return html`<article>
<h2>${finished.job} <span class="status ${finished.status}">${describeOutcome(summary, renderer)}</span></h2>
<p class="dim">Run ${finished.run_id}${finished.service === null ? null : `, sent to ${finished.service}`}</p>
${problem === null ? null : html`<p class="red">${problem}</p>`}
${[...describeRun(summary, renderer), ...appendix].map(blockMarkup)}</article>
`;
}
