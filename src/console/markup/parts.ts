import { KnownError, sayWhere } from '../../core/known-error.ts';
import { isWithoutDeal } from '../../core/money/payments.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { isDay } from '../../core/time/day.ts';
import { type Block, type ColumnOf, column, number } from '../../render/block.ts';
import { blocksMarkup, keepAmounts, rowsMarkup } from '../../render/html/block-markup.ts';
import { type Html, type HtmlValue, html, prose } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import type { ListedOrder } from '../../reports/list-orders.ts';
import type { Answer } from '../../reports/lives/answer-order.ts';
import type { EntryEvent } from '../../reports/lives/entry-lives.ts';
import type { Showing, ShownPage, Visit } from '../console-page.ts';
import { nextKey, PAGE_ROWS, queryWithout, type RowKey, wordOf } from '../read-query.ts';

/** Building blocks of pages. */

/**
 * A link to a page of the console.
 * @param href result of `visit.link`.
 */
export function anchor(href: string, label: HtmlValue): Html {
  return html`<a href="${href}">${label}</a>`;
}

/** The address of an order's page. */
export function orderLink(
  { link }: Pick<Visit, 'link'>,
  order: { readonly source: string | null; readonly orderId: string },
): string {
  return link(`/orders/${encodeURIComponent(order.source ?? '-')}/${encodeURIComponent(order.orderId)}`);
}

/** The address of a creator's page. */
export function creatorLink({ link }: Pick<Visit, 'link'>, handle: string): string {
  return link(`/creators/${encodeURIComponent(handle)}`);
}

/** The address of a deal's page. */
export function dealLink({ link }: Pick<Visit, 'link'>, dealId: string): string {
  return link(`/deals/${encodeURIComponent(dealId)}`);
}

/** Blocks that a command prints as well, in which creators, deals and orders are links. */
export function blockList(blocks: readonly Block[], shown: Showing): Html {
  return blocksMarkup(blocks, (names, name) =>
    names === 'order' ? shown.order({ source: null, orderId: name }) : shown[names](name),
  );
}

/** How a visit shows orders, creators, deals and times. */
export function showingOf({ link, zone }: Pick<Visit, 'link' | 'zone'>): Showing {
  return {
    instant(at, { seconds = false } = {}) {
      if (at === null) return html``;
      if (typeof at === 'string' && isDay(at))
        return html`<time datetime="${at}" title="${at}">${zonedTime(new Date(at), 'UTC').replace(/ 00:00$/, '')}</time>`;
      const when = new Date(at);
      return html`<time datetime="${when.toISOString()}" title="${formatInstant(at).slice(0, seconds ? 19 : 16)} UTC">${zonedTime(when, zone, { seconds })}</time>`;
    },
    order: (order, label = order.orderId) => anchor(orderLink({ link }, order), label),
    creator(handle) {
      if (handle === null) return null;
      return isWithoutDeal(handle) ? html`${handle}` : anchor(creatorLink({ link }, handle), handle);
    },
    deal: (dealId) => (dealId === null ? null : anchor(dealLink({ link }, dealId), dealId)),
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time in a zone: `10 Apr 11:15`, with the year if it is another than now: `10 Apr 2025 11:15`. */
export function zonedTime(at: Date, zone: string, { seconds = false }: { seconds?: boolean } = {}): string {
  const isOfNow = at.getUTCFullYear() === new Date().getUTCFullYear();
  const key = `${zone} ${isOfNow} ${seconds}`;
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      ...(isOfNow ? {} : { year: 'numeric' }),
      ...(seconds ? { second: '2-digit' } : {}),
    });
  formats.set(key, format);
  return format.format(at).replace(/,| at/, '').replace('Sept', 'Sep');
}

/** A count that a query limited: `10,000+` above `limit`. */
export function countUpTo(count: number, limit: number): string {
  return countOf(Math.min(count, limit), count > limit);
}

/** A count of a part: `10,000+` if there are more. */
export function countOf(count: number, isPart: boolean): string {
  return isPart ? `${formatCount(count)}+` : formatCount(count);
}

/** Amounts, one per currency. No line ends within one. */
export function amountList(
  amounts: readonly { readonly currency: string | null; readonly amount: string }[],
): Html {
  if (amounts.length === 0) return html``;
  return html`${formatAmounts(amounts)
    .split(/(?<=,) /)
    .map((amount) => html`<span class="amount">${amount}</span> `)}`;
}

export type TableColumn<Row> = ColumnOf<Row, HtmlValue>;

/** The columns of a table. Null: one that this person does not have. */
type Columns<Row> = readonly (TableColumn<Row> | null)[];

/** A value, and what is said beside it in small letters. Without a note, the value alone. */
export function noted(value: HtmlValue, note: HtmlValue): Html {
  return html`${value}${note == null || note === '' ? null : html` <small>${note}</small>`}`;
}

type TableOf<Row> = {
  readonly rows: readonly Row[];
  /** What the rows are, for screen readers. */
  readonly about: string;
  /** The text if there are no rows. Default: nothing is shown then. */
  readonly none?: HtmlValue;
  /** The page whose filter narrows the rows. Default: no filter does, so an empty list always means the same. */
  readonly visit?: Visit;
  /** How many rows are shown. The others are counted below the table, or as `others` says. Default: all. */
  readonly most?: number;
  readonly others?: HtmlValue;
};

/** Says that there are no rows: if the filter leaves none, that it does, and not what an empty list means. */
export function nothing({ none, visit }: Pick<TableOf<unknown>, 'none' | 'visit'>): Html {
  const said =
    visit === undefined
      ? none
      : visit.query.has('after')
        ? 'The list has no more rows.'
        : isFiltered(visit)
          ? html`Nothing matches this filter. ${anchor(visit.link(visit.path, Object.fromEntries([...visit.query].filter(([name]) => VIEW.includes(name)))), 'Show all')}`
          : none;
  return html`<p class="none">${said}</p>`;
}

/** Renders a table, or says that there are no rows. */
export function table<Row>(
  { rows, about, most = rows.length, others, ...of }: TableOf<Row>,
  columns: Columns<Row>,
): Html {
  if (rows.length === 0) return of.none === undefined ? html`` : nothing(of);
  const shown = rowsMarkup(
    rows.slice(0, most),
    columns.filter((one) => one !== null),
    { about },
  );
  if (rows.length <= most) return shown;
  return html`${shown}<p class="dim">and ${others ?? `${formatCount(rows.length - most)} more`}</p>`;
}

/** A part of a page: a table below its heading. Nothing if it has no rows. */
export function tablePart<Row>(
  heading: string,
  of: Omit<TableOf<Row>, 'about'> & { readonly about?: string },
  columns: Columns<Row>,
): Html | null {
  if (of.rows.length === 0) return null;
  return html`<h2>${heading}</h2>
${table({ about: heading, ...of }, columns)}`;
}

/** A table whose newest rows are in view, and the rest folded. @param of.shown how many are in view. */
export function foldedTable<Row>(
  { rows, shown, ...of }: TableOf<Row> & { readonly shown: number },
  columns: Columns<Row>,
): Html {
  const more = rows.slice(shown);
  return html`${table({ rows: rows.slice(0, shown), ...of }, columns)}${more.length === 0 ? null : html`<details><summary>${formatCount(more.length)} more</summary>${table({ rows: more, ...of }, columns)}</details>`}`;
}

/**
 * Renders a list that the address narrows as a table, with links to its other pages.
 *
 * @param of.rows those of the page, and one more if there is a next page (`PAGE_ROWS`).
 * @param of.key the columns of a row after which the next page begins. Without it, all rows are on one page.
 */
export function pagedTable<Row extends object>(
  { rows, key, ...of }: TableOf<Row> & { readonly visit: Visit; readonly key?: RowKey<Row> },
  columns: Columns<Row>,
): Html {
  if (key === undefined) return table({ ...of, rows }, columns);
  return html`${table({ ...of, rows: rows.slice(0, PAGE_ROWS) }, columns)}
${pager(of.visit, nextKey(rows, key))}`;
}

/** The columns of a list of orders. */
export function orderColumns(visit: Visit): readonly TableColumn<ListedOrder>[] {
  return [
    column('Order', (row) => visit.order(row, row.orderName ?? row.orderId)),
    column('Ordered', ({ orderedAt }) => visit.instant(orderedAt)),
    column(
      'Outcome',
      ({ disposition, reason }) =>
        html`${badge(disposition)}${reason === null ? null : html` <small>${reason.replaceAll('_', ' ')}</small>`}`,
    ),
    column('By', ({ matchedBy, matchedValue }) =>
      matchedBy === null ? matchedValue : `${matchedBy} ${matchedValue ?? ''}`,
    ),
    column('Creator', ({ influencerHandle }) => visit.creator(influencerHandle)),
    column('Deal', ({ dealId }) => visit.deal(dealId)),
    number('Amount', ({ amount, currency }) =>
      amount === null ? 'unknown' : amountList([{ amount, currency }]),
    ),
    column('Source', ({ source, job }) => noted(source, job)),
  ];
}

/** The sentence with which a page begins, and the next step. */
export function answerBox({ text, tone, next }: Answer, { config }: Pick<Visit, 'config'>): Html {
  return html`<div class="answer ${tone}"><p>${prose(text)}</p>${next === null ? null : html`<p><a class="button primary" href="${config.console.basePath}${next.page}">${next.label}</a></p>`}</div>
`;
}

/** A page for what does not exist. */
export function missing(title: string, text: HtmlValue): ShownPage {
  return { title, content: html`<p>${text}</p>`, status: 404 };
}

/** Explains what is wrong with a setting or a file instead of a part of the page. @throws an error of any other kind. */
export function describeKnown(error: unknown): Html {
  if (!(error instanceof KnownError)) throw error;
  const { help, problems = [] } = error.details;
  return html`<p class="notice red" role="alert">${prose(sayWhere(error.details))} ${prose(help)}</p>
<ul>${problems.map((problem) => html`<li>${problem.where}: ${prose(problem.message)} ${prose(problem.help)}</li>`)}</ul>`;
}

/** A choice that narrows a list, with its count in the label. */
export function facet(href: string, label: HtmlValue, isChosen: boolean): Html {
  return html`<a href="${href}"${isChosen ? html` aria-current="true"` : null}>${label}</a>`;
}

/** Parameters of a query that choose what a page shows, and not which rows. */
const VIEW = ['show', 'by', 'in'];
const NO_FILTER = ['zone', 'done', 'after', ...VIEW];

/** Whether the address narrows the list of the page. */
export function isFiltered({ query }: Pick<Visit, 'query'>): boolean {
  return [...query].some(([name, value]) => value.trim() !== '' && !NO_FILTER.includes(name));
}

/**
 * Links to the pages of a list. A page begins after a key, not at a row number, so that every page costs the
 * same and no row appears twice when rows are added.
 *
 * @param after key of the last row of this page; null for the last page.
 */
function pager(visit: Visit, after: string | null): Html {
  const others = queryWithout(visit, 'after', 'zone', 'done');
  const isFirst = !visit.query.has('after');
  if (isFirst && after === null) return html``;
  return html`<nav class="pager" aria-label="Parts of the list">
${isFirst ? null : anchor(visit.link(visit.path, others), 'First')}
${after === null ? null : html`<a rel="next" href="${visit.link(visit.path, { ...others, after })}">Next</a>`}
</nav>
`;
}

/** A number with its label, which links to the rows that it counts, or to what makes it known. Several are lines. */
export function figure(
  label: string,
  value: string | readonly string[],
  { href, note }: { href?: string | undefined; note?: HtmlValue | undefined } = {},
): Html {
  const inner = html`<span class="label">${label}</span> <span class="value">${[value].flat().map((text) => {
    const [known = '', unknown] = text.split(/, (?=\d[^A-Z]* unknown$)/);
    return html`<span>${keepAmounts(known)}${unknown === undefined ? null : html` <small>${unknown}</small>`}</span> `;
  })}</span>${note === undefined ? null : html` <span class="note">${note}</span>`}`;
  return href === undefined
    ? html`<div class="figure">${inner}</div>\n`
    : html`<a class="figure" href="${href}">${inner}</a>\n`;
}

/** A list of names and values. Empty values are left out. */
export function factList(facts: readonly (readonly [name: string, value: string | Html | null])[]): Html {
  return html`<dl class="facts">${facts
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

const TONES = {
  green: ['ok', 'accepted', 'done', 'sealed', 'read', 'resolved', 'sent'],
  yellow: ['issues', 'ready', 'held', 'skipped', 'paused', 'warn', 'warning', 'pending', 'stopping'],
  red: ['failed', 'interrupted', 'lost', 'in_doubt', 'rejected', 'missed', 'late', 'error', 'given_up'],
};

/** A state as a coloured word. The word alone is sufficient. */
export function badge(state: string): Html {
  const [tone] = Object.entries(TONES).find(([, states]) => states.includes(state)) ?? ['plain'];
  return html`<span class="badge ${tone}">${wordOf(state)}</span>`;
}

/** The events of an entry in chronological order. */
export function lifeList(events: readonly EntryEvent[], visit: Visit): Html {
  return html`<ol class="life">${events.map(
    ({ at, kind, text, detail }) =>
      html`<li>${visit.instant(at, { seconds: true })} <strong>${kind}</strong> ${text.replaceAll('_', ' ')}${detail === null ? null : html`<br><small>${detail}</small>`}</li>
`,
  )}</ol>
`;
}
