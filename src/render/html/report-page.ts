import { formatInstant } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import type { Block } from '../block.ts';
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
export function renderBlocksPage(
  blocks: readonly Block[],
  { title, madeAt }: { readonly title: string; readonly madeAt: Date },
): string {
  return renderPage(html`<article>${blocks.map(blockMarkup)}</article>`, { title, madeAt });
}

function renderPage(
  content: Html,
  { title, madeAt }: { readonly title: string; readonly madeAt: Date },
): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${pageStyle}
</head>
<body>
<header>
<h1>${title}</h1>
<p class="dim">Made by influencer-sync at ${formatInstant(madeAt)} UTC. All times are UTC. Amounts are never added up across currencies.</p>
</header>
<main>
${content}</main>
</body>
</html>
`.toString();
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
