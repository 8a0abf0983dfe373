import { formatInstant } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import type { Block } from '../block.ts';
import type { Letterhead } from '../letterhead.ts';
import { describeOutcome, describeRun, type ReportRenderer, type RunSummary } from '../report-renderer.ts';
import { blocksMarkup } from './block-markup.ts';
import { html, htmlWithAddresses } from './html.ts';

export type ReportedSummary = {
  readonly summary: RunSummary;
  readonly renderer: ReportRenderer;
  /** What the page shows below the summary. */
  readonly appendix?: readonly Block[];
};

/**
 * Renders runs as one HTML file that a person without a terminal can open, print and pass on. It has the
 * blocks of the terminal, and those of the appendix. It loads nothing from the network and contains no script; its
 * content security policy enforces both. It contains neither cells of files nor e-mail addresses.
 *
 * @param runs in the order of the page.
 */
export function renderReportPage(
  runs: readonly ReportedSummary[],
  { title, madeAt }: { title: string; madeAt: Date },
): string {
  return renderPage(html`${runs.map(runMarkup)}`, { title, madeAt });
}

/** Renders blocks as such a page. */
export function renderBlocksPage(blocks: readonly Block[], options: PageOptions): string {
  return renderPage(html`<article>${blocksMarkup(blocks)}</article>`, options);
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
  const lines = (all: readonly string[]) =>
    all.map((line, index) => (index === 0 ? line : htmlWithAddresses`<br>${line}`));
  return htmlWithAddresses`${logo === null ? null : htmlWithAddresses`<p><img src="data:${logo.type};base64,${logo.content.toString('base64')}" alt="${sender[0] ?? ''}" height="48"></p>\n`}<p>${lines(sender)}</p>
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
${blocksMarkup([...describeRun(summary, renderer), ...appendix])}</article>
`;
}

/** The style of a page: light or dark like the reader's system, and for print. */
const pageStyle = html`<style>
:root { --text: #1d2530; --dim: #5b6675; --line: #d9dee5; --page: #ffffff; --card: #f6f8fa; --accent: #1f6f5c; --green: #1a7f37; --yellow: #8a5a00; --red: #b42318; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e6eaf0; --dim: #9aa5b4; --line: #333c48; --page: #12171e; --card: #1a212b; --accent: #5ec4a6; --green: #57c878; --yellow: #e0b04c; --red: #ff8a7a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.25rem; margin: 0; }
h3 { font-size: 1.05rem; margin: 0 0 0.5rem; }
small { font-size: 0.9em; font-weight: normal; color: var(--dim); }
p { margin: 0.25rem 0; white-space: pre-line; }
article { margin-top: 2rem; padding-top: 1.25rem; border-top: 2px solid var(--line); }
section { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
section.alarm { border-color: var(--red); }
.wide { overflow-x: auto; }
.long { overflow-wrap: anywhere; min-width: 9rem; }
table { border-collapse: collapse; width: 100%; margin: 0.25rem 0 0.75rem; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { text-align: left; font-weight: normal; padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--dim); font-size: 0.9em; }
.counts th { width: 11rem; }
.counts .number { width: 5rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; }
svg rect { fill: var(--accent); }
.count, .status { font-weight: 600; color: var(--dim); }
.status { display: block; font-size: 1rem; }
.status.ok, .green .number { color: var(--green); }
.status.issues, p.yellow, .yellow .number { color: var(--yellow); }
.status.failed, .status.interrupted, .red, .alarm h3, p.alarm { color: var(--red); }
.dim, .none { color: var(--dim); }
p.bold { font-weight: 600; }
.item { margin: 0.5rem 0; }
.help::before { content: "What to do: "; font-weight: 600; }
details { margin-top: 0.5rem; color: var(--dim); }
pre { white-space: pre-wrap; margin: 0.25rem 0; }
@media print {
  :root { --text: #000000; --page: #ffffff; --card: #ffffff; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  section, tr { break-inside: avoid; }
  svg rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
</style>`;
