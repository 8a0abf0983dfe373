import type { Html, HtmlValue } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import type { Visit } from '../console-page.ts';
import { pages } from '../pages/index.ts';
import { queryWithout } from '../read-query.ts';
import { instant } from './parts.ts';

/**
 * A constant, because the build would import a missing helper for a template that contains a literal end tag
 * of a script.
 */
const SCRIPT = 'script';

/**
 * Renders a whole page. It loads only resources of this server and contains no inline script; the content
 * security policy enforces both.
 *
 * @param options.notice message above the page: the result of the last action, or why it was refused.
 */
export function pageFrame(
  visit: Visit,
  {
    title,
    content,
    notice,
  }: { readonly title: string; readonly content: HtmlValue; readonly notice?: HtmlValue },
): string {
  const asset = (name: string): string => visit.link(`/assets/${name}`);
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content='{"includeIndicatorCSS":false,"history":false}'>
<title>${title} - influencer-sync</title>
<link rel="stylesheet" href="${asset('console.css')}">
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<script src="${asset('htmx.js')}" defer></${SCRIPT}>
<script src="${asset('console.js')}" defer data-live="${visit.link('/live')}"></${SCRIPT}>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="home" href="${visit.link('/')}">influencer-sync</a>
<nav aria-label="Pages"><ul>
${pages
  .filter(({ navigation }) => navigation !== null)
  .map(
    ({ path, navigation }) => html`<li><a href="${visit.link(path)}">${navigation}</a></li>
`,
  )}</ul></nav>
<form class="find" method="get" action="${visit.link('/orders')}" role="search" aria-label="Find an order">
<label for="find">Order</label> <input id="find" name="order" type="search" placeholder="id or #name" autocomplete="off" data-key="/">
<button type="submit">Find</button>
</form>
</header>
<main id="main" tabindex="-1">
${notice === undefined ? null : html`<p class="notice" role="status">${notice}</p>`}
<h1>${title}</h1>
${content}
</main>
<footer>
<p>As of ${instant(visit.now, visit)}. ${visit.actor.name === '' ? null : html`Signed in as ${visit.actor.name} (${visit.actor.role}). `}Amounts are never added up across currencies.</p>
${zoneForm(visit)}
${visit.config.console.oidc === null ? null : html`<form method="post" action="${visit.link('/sign-out')}"><button type="submit">Sign out</button></form>`}
<p class="live" hidden><button type="button" data-pause aria-pressed="false">Pause updates</button> <button type="button" data-keys>Keys</button></p>
<dialog data-help aria-label="Keys"><dl><dt><kbd>/</kbd></dt><dd>find an order</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next row, previous row</dd><dt><kbd>Enter</kbd></dt><dd>open the row</dd><dt><kbd>?</kbd></dt><dd>this help</dd></dl><form method="dialog"><button type="submit">Close</button></form></dialog>
</footer>
</body>
</html>
`.toString();
}

/** Form for the time zone, which is part of the address like every choice. */
function zoneForm(visit: Visit): Html {
  const others = Object.entries(queryWithout(visit, 'zone', 'done'));
  return html`<form method="get" action="${visit.link(visit.path, { zone: '' })}" aria-label="Zone of times">
${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Show times also in <input type="text" name="zone" value="${visit.zone}" placeholder="Europe/Amsterdam"></label> <button type="submit">Show</button>
</form>`;
}
