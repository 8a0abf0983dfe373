import { formatInstant } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import type {
  Bars,
  Block,
  Commands,
  CountsBlock,
  Facts,
  Fault,
  Part,
  Section,
  Table,
  TextBlock,
} from '../block.ts';
import { shownLines } from '../render-blocks.ts';
import type { Column } from '../table.ts';
import { formatCount } from '../text.ts';
import { html } from './html.ts';

/** Renders a block as HTML; the counterpart of `renderBlock` for the terminal. */
export function blockMarkup(block: Block): Html {
  switch (block.kind) {
    case 'text':
      return textMarkup(block);
    case 'counts':
      return countsMarkup(block);
    case 'section':
      return sectionMarkup(block);
    case 'table':
      return tableMarkup(block);
    case 'facts':
      return factsMarkup(block);
  }
}

function textMarkup({ text, tone, parts = [], commands }: TextBlock): Html {
  return html`<p class="${tone ?? 'plain'}">${text}</p>
${parts.map(partMarkup)}${commandsMarkup(commands)}`;
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

function sectionMarkup(section: Section): Html {
  const { title, count, note = '', tone, why, parts = [], help, commands } = section;
  const more = (count ?? 0) - (section.shown ?? count ?? 0);
  return html`<section class="${tone ?? 'plain'}">
<h3>${title}${count === undefined ? null : html` <span class="count">${formatCount(count)}</span>`}${note === '' ? null : html`: <small>${note}</small>`}</h3>
${why === undefined ? null : html`<p>${why}</p>`}
${parts.map(partMarkup)}${more > 0 ? html`<p class="dim">and ${formatCount(more)} more</p>` : null}
${help == null ? null : html`<p class="help">${help}</p>`}
${commandsMarkup(commands)}</section>
`;
}

function partMarkup(part: Part): Html {
  switch (part.kind) {
    case 'item':
      return html`<div class="item"><p>${part.text}</p>${part.help == null ? null : html`<p class="help">${part.help}</p>`}</div>
`;
    case 'aside':
      return html`<p class="dim">${part.text}</p>
`;
    case 'fault':
      return faultMarkup(part);
    case 'table':
      return tableMarkup(part);
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
  return html`<div class="item"><p><strong>${place}</strong>${source === null ? null : ` (source ${source})`}: ${reason}</p><p class="help">${help}</p></div>
`;
}

function tableMarkup({ columns, rows }: Table): Html {
  return html`<div class="wide" tabindex="0"><table>
<thead><tr>${columns.map(titleMarkup)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${cellsMarkup(columns, row)}</tr>\n`)}</tbody></table></div>
`;
}

function factsMarkup({ facts }: Facts): Html {
  const shown = facts.filter(([, text]) => text !== null && text !== '');
  return html`<table class="counts"><tbody>
${shown.map(([name, text]) => html`<tr><th scope="row">${name}</th><td>${text}</td></tr>\n`)}</tbody></table>
`;
}

const BAR_WIDTH = 240;
const BAR_HEIGHT = 14;

/** Renders a table with bars, grouped by currency, because only bars of one currency can be compared. */
function barsMarkup({ columns, rows, total }: Bars): Html {
  const groups = [...new Set(rows.map(({ group }) => group))].sort();
  return html`${groups.map(
    (group) => html`<div class="wide" tabindex="0"><table>
<caption>In ${group}</caption>
<thead><tr>${columns.map(titleMarkup)}<th scope="col" class="bar">share of the largest, in ${group}</th></tr></thead>
<tbody>
${rows
  .filter((row) => row.group === group)
  .map(
    ({ cells, share }) =>
      html`<tr>${cellsMarkup(columns, cells)}<td class="bar">${barMarkup(share)}</td></tr>\n`,
  )}</tbody></table></div>
`,
  )}${total > rows.length ? html`<p class="dim">and ${formatCount(total - rows.length)} more</p>` : null}
`;
}

function barMarkup(share: number): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH * 10) / 10;
  return html`<svg width="${BAR_WIDTH}" height="${BAR_HEIGHT}" viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}" role="img" aria-label="${Math.round(share * 100)} %"><rect width="${width}" height="${BAR_HEIGHT}" rx="2"/></svg>`;
}

function titleMarkup({ title, align }: Column): Html {
  return title === ''
    ? html`<td></td>`
    : html`<th scope="col" class="${align === 'right' ? 'number' : 'text'}">${title}</th>`;
}

function cellsMarkup(columns: readonly Column[], cells: readonly string[]): readonly Html[] {
  return columns.map(({ align }, index) => {
    const looks = align === 'right' ? 'number' : 'text';
    return index === 0
      ? html`<th scope="row" class="${looks}">${cells[index]}</th>`
      : html`<td class="${looks}">${cells[index]}</td>`;
  });
}

/** Renders commands collapsed, because the reader of the page may not be the person who runs them. */
function commandsMarkup(commands: Commands | null | undefined): Html | null {
  if (commands == null) return null;
  const { about, lines } = commands;
  return html`<details><summary>Command${lines.length === 1 ? '' : 's'}${about === undefined ? null : `: ${about}`}</summary>
<pre>${lines.join('\n')}</pre></details>
`;
}
