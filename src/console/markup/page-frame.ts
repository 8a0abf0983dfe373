import type { Problem, ProblemKind } from '../../core/notify/notice.ts';
import { type Html, type HtmlValue, html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import type { Visit } from '../console-page.ts';
import { type Place, type PlacedPage, pages, places } from '../pages/index.ts';
import { queryForm } from './filter.ts';

/**
 * A constant, because the build would import a missing helper for a template that contains a literal end tag
 * of a script.
 */
const SCRIPT = 'script';

export type Framed = {
  readonly title: string;
  readonly content: HtmlValue;
  /** Message above the page: the result of the last action, or why it was refused. */
  readonly notice?: HtmlValue;
  /** The page, whose place and tab are marked. Null if there is no such page. */
  readonly page: PlacedPage | null;
  /** What waits for a person. Null if it is not known. */
  readonly waiting: readonly Problem[] | null;
};

/**
 * Renders a whole page. It loads only resources of this server and contains no inline script; the content
 * security policy enforces both.
 */
export function pageFrame(visit: Visit, { title, content, notice, page, waiting }: Framed): string {
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
<nav class="places" aria-label="Places"><ul>
${places.map(
  (place) => html`<li>${placeLink(place, { visit, page, waiting })}</li>
`,
)}</ul></nav>
${queryForm(
  visit,
  { asks: ['q'], label: 'Search', path: '/search', className: 'find' },
  html`<input name="q" type="search" aria-label="Search orders, creators, deals, codes, files, runs" placeholder="Search: order, creator, code …" autocomplete="off" list="found" data-suggest="${visit.link('/search', { suggest: 'yes' })}"><datalist id="found"></datalist>
<button type="submit">Search</button>`,
)}</header>
<main id="main" tabindex="-1" data-waits="${places.map((place) => formatCount(countWaiting(place, waiting))).join(' ')}">
${page === null || page.place === null ? null : tabList({ ...page, place: page.place }, visit)}
${notice === undefined ? null : html`<p class="notice" role="status">${notice}</p>`}
<h1>${title}</h1>
${content}
<p class="dim">As of ${visit.instant(visit.now)}.</p>
</main>
<footer>
<p class="lost" hidden role="status">Not connected: this page may be old.</p>
<p class="live" hidden><button type="button" data-pause aria-pressed="false">Pause updates</button> <button type="button" data-keys>Keys</button></p>
<p>Times are in ${visit.zone}. ${visit.actor.name === '' ? null : html`Signed in as ${visit.actor.name} (${visit.actor.role}). `}Amounts are never added up across currencies.</p>
${zoneForm(visit)}
${visit.config.console.oidc === null ? null : html`<form method="post" action="${visit.link('/sign-out')}"><button type="submit">Sign out</button></form>`}
<dialog data-help aria-label="Keys"><dl><dt><kbd>/</kbd></dt><dd>search</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next row, previous row</dd><dt><kbd>Enter</kbd> <kbd>e</kbd></dt><dd>open the row</dd><dt><kbd>x</kbd></dt><dd>choose the row</dd><dt><kbd>g</kbd> then <kbd>h</kbd> <kbd>o</kbd> <kbd>c</kbd> <kbd>m</kbd> <kbd>f</kbd> <kbd>s</kbd></dt><dd>go to Home, Orders, Creators, Money, Fix, System</dd><dt><kbd>?</kbd></dt><dd>this help</dd></dl><form method="dialog"><button type="submit">Close</button></form></dialog>
</footer>
</body>
</html>
`.toString();
}

function placeLink(
  place: Place,
  { visit, page, waiting }: Pick<Framed, 'page' | 'waiting'> & { readonly visit: Visit },
): Html {
  const path = tabsOf(place, visit)[0]?.path ?? '/';
  const count = countWaiting(place, waiting);
  const inner = html`${place} <span class="waits" title="${formatCount(count)} waiting for a person"${count === 0 ? html` hidden` : null}>${formatCount(count)}</span>`;
  const key = place.charAt(0).toLowerCase();
  if (page?.place !== place) return html`<a href="${visit.link(path)}" data-go="${key}">${inner}</a>`;
  return html`<a href="${visit.link(path)}" data-go="${key}" aria-current="${page.path === path ? 'page' : 'true'}">${inner}</a>`;
}

function countWaiting(place: Place, waiting: Framed['waiting']): number {
  return (waiting ?? []).filter((problem) => place === 'Home' || placeOf(problem) === place).length;
}

/** Problems that Fix lists, although the page of each is in another place. */
const LISTED_IN_FIX: readonly ProblemKind[] = ['codes_unowned', 'files_held', 'entries_refused'];

/** The place of the page where a problem is dealt with. */
function placeOf({ kind, page }: Problem): Place | null {
  if (LISTED_IN_FIX.includes(kind)) return 'Fix';
  const [path = ''] = page.split('?');
  return pages.find((one) => one.path.replace(/:\w+/, path.split('/')[2] ?? '') === path)?.place ?? null;
}

/** The pages of a place that this person may see. */
function tabsOf(place: Place, visit: Visit): readonly PlacedPage[] {
  return pages.filter((page) => page.place === place && page.tab !== null && visit.may(`GET ${page.path}`));
}

/** Links to the pages of a place. None if there is only one. A page that has no tab is below the one of its address. */
function tabList({ place, path: current }: { place: Place; path: string }, visit: Visit): Html | null {
  const tabs = tabsOf(place, visit);
  if (tabs.length < 2) return null;
  const [above] = tabs
    .filter(({ path }) => `${current}/`.startsWith(`${path}/`))
    .toSorted((one, other) => other.path.length - one.path.length);
  return html`<nav class="tabs" aria-label="${place}">${tabs.map(
    ({ path, tab }) =>
      html`<a href="${visit.link(path)}"${path === above?.path ? html` aria-current="${path === current ? 'page' : 'true'}"` : null}>${tab}</a>`,
  )}</nav>`;
}

/** Form for the time zone, which is part of the address like every choice. */
function zoneForm(visit: Visit): Html {
  return queryForm(
    visit,
    { asks: ['zone'], label: 'Zone of times' },
    html`<label>Show times in <input type="text" name="zone" value="${visit.zone}" placeholder="Europe/Amsterdam"></label> <button type="submit">Show</button>`,
  );
}
