import { formatInstant } from '../../core/text/format-instant.ts';
import type { Html, HtmlValue } from '../../core/text/html.ts';
import {
  type BarRow,
  type Bars,
  type Block,
  type ColumnOf,
  type Commands,
  type CountsBlock,
  column,
  type Facts,
  type Fault,
  type Part,
  type Section,
  type Table,
  type TextBlock,
} from '../block.ts';
import { shownLines } from '../render-blocks.ts';
import type { Column } from '../table.ts';
import { capital, formatCount } from '../text.ts';
import { html, prose } from './html.ts';

/** What a column names as a link to its page; null if the reader has no such pages. */
export type LinkOf = ((names: NonNullable<Column['names']>, name: string) => HtmlValue) | null;

/** Renders blocks as HTML; the counterpart of `renderBlocks` for the terminal. */
export function blocksMarkup(blocks: readonly Block[], linkOf: LinkOf = null): Html {
  return html`${blocks.map((block) => blockMarkup(block, linkOf))}`;
}

function blockMarkup(block: Block, linkOf: LinkOf): Html {
  switch (block.kind) {
    case 'text':
      return textMarkup(block, linkOf);
    case 'counts':
      return countsMarkup(block);
    case 'section':
      return sectionMarkup(block, linkOf);
    case 'table':
    case 'facts':
      return partMarkup(block, linkOf);
  }
}

function textMarkup({ text, tone, parts = [], commands }: TextBlock, linkOf: LinkOf): Html {
  return html`<p class="${tone ?? 'plain'}">${prose(text)}</p>
${parts.map((part) => partMarkup(part, linkOf))}${commandsMarkup(commands)}`;
}

function countsMarkup({ whole, meaning, lines, note }: CountsBlock): Html {
  return html`<section>
<h3>${whole} <small>${meaning}</small></h3>
<table class="counts"><tbody>
${shownLines(lines).map(
  ([label, count, { note: about = '', color } = {}]) =>
    html`<tr class="${count === 0 ? 'none' : (color ?? 'plain')}"><th scope="row">${label}</th><td class="number">${formatCount(count)}</td><td>${count === 0 ? '' : about}</td></tr>
`,
)}</tbody></table>
${note === undefined ? null : html`<p class="dim">${note}</p>`}</section>
`;
}

function sectionMarkup(section: Section, linkOf: LinkOf): Html {
  const { title, count, note = '', tone, why, parts = [], help, commands } = section;
  const more = (count ?? 0) - (section.shown ?? count ?? 0);
  return html`<section class="${tone ?? 'plain'}">
<h3>${title}${count === undefined ? null : html` <span class="count">(${formatCount(count)})</span>`}${note === '' ? null : html`: <small>${note}</small>`}</h3>
${why === undefined ? null : html`<p>${prose(why)}</p>`}
${parts.map((part) => partMarkup(part, linkOf))}${more > 0 ? html`<p class="dim">and ${formatCount(more)} more</p>` : null}
${help == null ? null : html`<p class="help">${prose(help)}</p>`}
${commandsMarkup(commands)}</section>
`;
}

function partMarkup(part: Part, linkOf: LinkOf): Html {
  switch (part.kind) {
    case 'item':
      return html`<div class="item"><p>${prose(part.text)}</p>${part.help == null ? null : html`<p class="help">${prose(part.help)}</p>`}</div>
`;
    case 'aside':
      return html`<p class="dim">${part.text}</p>
`;
    case 'fault':
      return faultMarkup(part);
    case 'table':
      return tableMarkup(part, linkOf);
    case 'bars':
      return barsMarkup(part);
    case 'facts':
      return factsMarkup(part);
    case 'dated':
      return html`<p>${part.at === null ? null : `${formatInstant(part.at)} UTC `}${part.text}${part.detail === null ? null : html`<br><small>${part.detail}</small>`}</p>
`;
  }
}

/** Renders a fault without its value, because a page may be passed on. */
function faultMarkup({ place, source, reason, help }: Fault): Html {
  return html`<div class="item"><p><strong>${place}</strong>${source === null ? null : ` (source ${source})`}: ${reason}</p>${help === null ? null : html`<p class="help">${prose(help)}</p>`}</div>
`;
}

function tableMarkup({ columns, rows }: Table, linkOf: LinkOf): Html {
  return rowsMarkup(
    rows,
    columns.map((column, index) => ({
      ...column,
      title: capital(column.title),
      cell: (row): HtmlValue => {
        const text = row[index] ?? '';
        if (column.names === undefined || linkOf === null || text === '') return text;
        return linkOf(column.names, text);
      },
    })),
  );
}

/** The longest word that a column of text shows whole; longer ones may break anywhere. */
const WHOLE_WORD = 19;
/** The longest amount with its sign or share that a column of numbers shows on one line. */
const WHOLE_NUMBER = 22;
/** Tables with fewer columns fit on a phone. */
const CARD_COLUMNS = 3;

/**
 * Renders a table. Columns without any value are left out. The first one is the header of its row. A style sheet can show
 * the rows of a table with many columns as cards on a narrow window, with the title of a column above each value, so that
 * no column is ever cut.
 *
 * @param options.about what the rows are, for screen readers.
 */
export function rowsMarkup<Row>(
  rows: readonly Row[],
  columns: readonly ColumnOf<Row, HtmlValue>[],
  { about, caption = null }: { about?: string; caption?: string | null } = {},
): Html {
  const shown = columns
    .map(({ title, align, cell }) => {
      const isNumber = align === 'right';
      return { title, isNumber, cells: rows.map((row) => cellOf(cell(row), isNumber)) };
    })
    .filter(({ cells }) => cells.some(({ isEmpty }) => !isEmpty));
  const isWide = shown.length >= CARD_COLUMNS;
  const tag = about === undefined ? html`div` : html`section`;
  return html`<${tag} class="wide${isWide ? ' cards' : ''}" tabindex="0"${about === undefined ? null : html` aria-label="${about}"`}><table>
${caption === null ? null : html`<caption>${caption}</caption>`}
<thead><tr>${shown.map(({ title, isNumber }) => (title === '' ? html`<td></td>` : html`<th scope="col"${classOf(isNumber ? 'number' : '')}>${title}</th>`))}</tr></thead>
<tbody>
${rows.map(
  (_, place) =>
    html`<tr data-row>${shown.map(({ title, cells }, index) => {
      const { value, text = '', looks } = cells[place] ?? {};
      const named = isWide ? html` data-title="${title}"` : null;
      // A name says what it is; a number alone does not.
      return index === 0
        ? html`<th scope="row"${looks}${/^[\d,.]+$/.test(text) ? named : null}>${value}</th>`
        : html`<td${looks}${named}>${value}</td>`;
    })}</tr>
`,
)}</tbody></table></${tag}>
`;
}

/** Renders a cell once, with what its column and its looks depend on. */
function cellOf(shown: HtmlValue, isNumber: boolean) {
  // A long list of amounts ends its lines between them.
  const value = html`${typeof shown === 'string' && shown.length > WHOLE_NUMBER ? keepAmounts(shown) : shown}`;
  const markup = value.toString().trim();
  const text = markup.replace(/<[^<>]*>/g, ' ').trim();
  return { value, text, isEmpty: markup === '', looks: classOf(looksOf(text, isNumber)) };
}

/** Joins each amount with its currency, so that no line ends between them. */
export function keepAmounts(text: string): string {
  return text.replace(/(\d) (?=[A-Z]{3}\b)/g, '$1\u00a0');
}

function looksOf(text: string, isNumber: boolean): string {
  if (/^\d{4}-\d\d(-\d\d)?$/.test(text)) return isNumber ? 'number' : 'whole';
  if (isNumber) return text.length > WHOLE_NUMBER ? 'number long' : 'number';
  if (text.split(/[\s-]+/).some((word) => word.length > WHOLE_WORD)) return 'long';
  return /^[^\s-]+(-[^\s-]+)+$/.test(text) && text.length <= WHOLE_WORD ? 'whole' : '';
}

function classOf(names: string): Html | null {
  return names === '' ? null : html` class="${names}"`;
}

function factsMarkup({ facts }: Facts): Html {
  const shown = facts.filter(([, text]) => text !== null && text !== '');
  return html`<table class="counts"><tbody>
${shown.map(([name, text]) => html`<tr><th scope="row">${name}</th><td>${text}</td></tr>\n`)}</tbody></table>
`;
}

const BAR_WIDTH = 240;
const BAR_HEIGHT = 14;

/** Renders a table with bars for each group, such as a currency, because only bars of one can be compared. */
function barsMarkup({ columns, rows, total }: Bars): Html {
  const groups = [...new Set(rows.map(({ group }) => group))].sort();
  return html`${groups.map((group) =>
    rowsMarkup(
      rows.filter((row) => row.group === group),
      [
        ...columns.map((column, index) => ({
          ...column,
          title: capital(column.title),
          cell: ({ cells }: BarRow): HtmlValue => cells[index],
        })),
        column(`Share of the largest, in ${group}`, ({ share }) => barMarkup(share)),
      ],
      { caption: `In ${group}` },
    ),
  )}${total > rows.length ? html`<p class="dim">and ${formatCount(total - rows.length)} more</p>` : null}
`;
}

function barMarkup(share: number): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH * 10) / 10;
  return html`<svg width="${BAR_WIDTH}" height="${BAR_HEIGHT}" viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}" role="img" aria-label="${Math.round(share * 100)} %"><rect width="${width}" height="${BAR_HEIGHT}" rx="2"/></svg>`;
}

/** Renders commands collapsed, because the reader of the page may not be the person who runs them. */
function commandsMarkup(commands: Commands | null | undefined): Html | null {
  if (commands == null) return null;
  const { about, lines } = commands;
  return html`<details><summary>Command${lines.length === 1 ? '' : 's'}${about === undefined ? null : `: ${about}`}</summary>
<pre>${lines.join('\n')}</pre></details>
`;
}
