import { formatInstant } from '../core/text/format-instant.ts';
import { NO_BREAK, wrap } from '../core/text/wrap.ts';
import type {
  BarRow,
  Bars,
  Block,
  Commands,
  CountLine,
  CountsBlock,
  Dated,
  Facts,
  Fault,
  Part,
  Section,
  TextBlock,
  Tone,
} from './block.ts';
import { renderTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { cellWidth, cut, formatCount } from './text.ts';

/** Renders blocks for a terminal, separated by blank lines. */
export function renderBlocks(blocks: readonly Block[], terminal: Terminal): string {
  return blocks.map((block) => renderBlock(block, terminal)).join('\n\n');
}

function renderBlock(block: Block, terminal: Terminal): string {
  switch (block.kind) {
    case 'text':
      return renderText(block, terminal);
    case 'counts':
      return renderCounts(block, terminal);
    case 'section':
      return renderSection(block, terminal);
    case 'table':
      return renderTable(block.columns, block.rows, { terminal });
    case 'facts':
      return renderFacts(block, terminal).join('\n');
  }
}

const STYLES: Record<Tone, Parameters<Terminal['style']>[0]> = {
  green: 'green',
  yellow: 'yellow',
  red: 'red',
  dim: 'dim',
  alarm: ['red', 'bold'],
  bold: 'bold',
};

function renderText({ text, tone, parts = [], commands }: TextBlock, terminal: Terminal): string {
  const wrapped = wrap(text, { width: terminal.columns, indent: '  ', firstIndent: '' });
  return [
    tone === undefined ? wrapped : terminal.style(STYLES[tone], wrapped),
    ...parts.flatMap((part) => renderPart(part, terminal)),
    ...renderCommands(commands, terminal),
  ].join('\n');
}

/** Fewer digits would put the counts too close to their labels. */
const COUNT_WIDTH = 5;
const LABEL_GAP = 3;

function renderCounts({ whole, meaning, lines, note }: CountsBlock, terminal: Terminal): string {
  const labelWidth = Math.max(...lines.map(([label]) => label.length)) + LABEL_GAP;
  const width = Math.max(COUNT_WIDTH, ...lines.map(([, count]) => formatCount(count).length));
  return [
    `${terminal.style('bold', whole)}${meaning === '' ? '' : ` ${meaning}`}:`,
    ...shownLines(lines).map(([label, count, { note: about = '', color } = {}]) => {
      const start = `  ${label.padEnd(labelWidth)}${formatCount(count).padStart(width)}`;
      if (count === 0 || about === '') return count === 0 ? start : colored(color, start, terminal);
      const firstIndent = `${start}  `;
      const indent = ' '.repeat(firstIndent.length);
      return colored(color, wrap(about, { width: terminal.columns, firstIndent, indent }), terminal);
    }),
    ...(note === undefined ? [] : renderPart({ kind: 'aside', text: note }, terminal)),
  ].join('\n');
}

function colored(color: Tone | undefined, text: string, terminal: Terminal): string {
  return color === undefined ? text : terminal.style(STYLES[color], text);
}

/** The counts that a reader sees: those above 0, and those that are always shown. */
export function shownLines(lines: readonly CountLine[]): readonly CountLine[] {
  return lines.filter(([, count, { always = false } = {}]) => count > 0 || always);
}

function renderSection(section: Section, terminal: Terminal): string {
  const { title, count, note = '', tone = 'bold', why, parts = [], help, commands } = section;
  const heading = count === undefined ? title : `${title} (${formatCount(count)})`;
  const rest = note === '' ? '' : `: ${note}`;
  const { shown = count ?? 0 } = section;
  const indented = { width: terminal.columns, indent: '  ' };
  return [
    tone === 'alarm'
      ? terminal.style(STYLES[tone], `${heading}${rest}`)
      : `${terminal.style(STYLES[tone], heading)}${rest}`,
    ...(why === undefined ? [] : [wrap(why, indented)]),
    ...parts.flatMap((part) => renderPart(part, terminal)),
    ...andMore((count ?? 0) - shown),
    ...(help == null ? [] : [terminal.style('cyan', wrap(help, indented))]),
    ...renderCommands(commands, terminal),
  ].join('\n');
}

function renderPart(part: Part, terminal: Terminal): readonly string[] {
  const { columns: width } = terminal;
  switch (part.kind) {
    case 'item':
      return [
        colored(part.tone, wrap(part.text, { width, indent: '    ', firstIndent: '  ' }), terminal),
        ...(part.help == null ? [] : [terminal.style('cyan', wrap(part.help, { width, indent: '    ' }))]),
      ];
    case 'aside':
      return [terminal.style('dim', wrap(part.text, { width, indent: '  ' }))];
    case 'table':
      return [renderTable(part.columns, part.rows, { terminal, indent: '  ' })];
    case 'bars':
      return [
        renderBars({ ...part, rows: briefly(part) }, { terminal, indent: '  ' }),
        ...andMore(part.total - Math.min(part.rows.length, part.brief)),
      ];
    case 'facts':
      return renderFacts(part, terminal, '  ');
    case 'dated':
      return renderDated(part, terminal);
    case 'fault':
      return renderFault(part, terminal);
  }
}

/** The first rows, sorted by group, because only bars of one group can be compared. */
function briefly({ rows, brief }: Bars): readonly BarRow[] {
  return rows.slice(0, brief).toSorted((one, other) => one.group.localeCompare(other.group));
}

/** Renders a fault: file, line, column, value, source, reason and fix. */
function renderFault(fault: Fault, terminal: Terminal): readonly string[] {
  const { columns: width } = terminal;
  const { place, reason, help } = fault;
  const value = fault.value === null ? '' : ` ${JSON.stringify(cut(fault.value, 40))}`;
  const source = fault.source === null ? '' : ` (source ${fault.source})`;
  // Place and value stay on one line, so that they can be searched for.
  const fits = `  ${place}${value}${source}`.length <= width;
  return [
    `  ${terminal.style('bold', place)}${value}${fits ? source : ''}`,
    wrap(fits ? reason : `${source.trim()} ${reason}`, { width, indent: '    ' }),
    ...(help === null ? [] : [terminal.style('cyan', wrap(help, { width, indent: '    ' }))]),
  ];
}

function renderFacts({ facts }: Facts, terminal: Terminal, indent = ''): readonly string[] {
  const shown = facts.flatMap(([name, text]) =>
    text === null || text === '' ? [] : [[name, text] as const],
  );
  const longest = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => {
    const firstIndent = `${indent}${name.padEnd(longest)}  `;
    return wrap(text, { width: terminal.columns, firstIndent, indent: ' '.repeat(firstIndent.length) });
  });
}

/** Width of an instant as shown, to the second. */
const INSTANT_WIDTH = 19;

function renderDated({ at, text, detail }: Dated, terminal: Terminal): readonly string[] {
  const firstIndent = `  ${(at === null ? '' : formatInstant(at)).padEnd(INSTANT_WIDTH)}  `;
  const indent = ' '.repeat(firstIndent.length);
  const { columns: width } = terminal;
  return [
    wrap(text, { width, firstIndent, indent }),
    ...(detail === null ? [] : [terminal.style('dim', wrap(detail, { width, indent }))]),
  ];
}

function renderCommands(commands: Commands | null | undefined, terminal: Terminal): readonly string[] {
  if (commands == null) return [];
  const { about, lines } = commands;
  return [
    ...(about === undefined ? [] : [terminal.style('dim', `  # ${about}`)]),
    ...lines.map((line) => `  ${line}`),
  ];
}

/** The line `  and 12 more`, if not everything is shown. */
export function andMore(count: number): readonly string[] {
  return count > 0 ? [`  and ${formatCount(count)} more`] : [];
}

/**
 * Formats a sum: `7 orders = 4 posted + 3 held`. Parts that are 0 are left out.
 *
 * @param options.blank the blank within a part. By default it does not break, so that lines break only
 *   between parts. Use a normal blank for long parts.
 */
export function formatSum(
  { whole, lines, parts = lines }: Pick<CountsBlock, 'whole' | 'lines' | 'parts'>,
  { blank = NO_BREAK }: { blank?: string } = {},
): string {
  const shown = parts
    .filter(([, count]) => count > 0)
    .map(([label, count]) => `${formatCount(count)} ${label}`.replaceAll(' ', blank));
  return `${whole} = ${shown.length === 0 ? '0' : shown.join(' + ')}`;
}

/** Formats the number of orders by reason, the most frequent first: `refunded 12, too old 3`. */
export function formatReasons(
  groups: readonly { readonly reason: string | null; readonly orders: number }[],
): string {
  const counts = new Map<string, number>();
  for (const { reason, orders } of groups)
    counts.set(reason ?? 'other', (counts.get(reason ?? 'other') ?? 0) + orders);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${formatCount(count)}`)
    .join(', ');
}

/** Blocks of eighths of a cell, so that short bars are visible and close values differ. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const LONGEST = 30;
/** A shorter bar adds nothing to the number next to it. */
const SHORTEST = 6;
const GAP = 2;

/**
 * Draws a bar of at most `width` cells, with blocks, or with # if the terminal cannot show them. A share
 * above 0 always gets a visible bar.
 */
export function drawBar(
  share: number,
  { width, hasUnicode }: { width: number; hasUnicode: boolean },
): string {
  const bounded = Math.min(1, Math.max(0, share));
  if (bounded === 0) return '';
  if (!hasUnicode) return '#'.repeat(Math.max(1, Math.round(bounded * width)));
  const eighths = Math.max(1, Math.round(bounded * width * EIGHTHS.length));
  return '█'.repeat(Math.floor(eighths / EIGHTHS.length)) + (EIGHTHS[eighths % EIGHTHS.length] ?? '');
}

/** Renders a table with bars in the remaining width, or without them if it is too small. */
export function renderBars(
  { columns, rows }: Pick<Bars, 'columns' | 'rows'>,
  options: { readonly terminal: Terminal; readonly indent: string },
): string {
  const { terminal } = options;
  const cells = rows.map((row) => row.cells);
  const plain = renderTable(columns, cells, options);
  const room = terminal.columns - GAP - Math.max(...plain.split('\n').map((line) => cellWidth(line)));
  // A table whose cells wrap has no room either.
  if (room < SHORTEST || plain.split('\n').length > rows.length + 1) return plain;
  const drawing = { width: Math.min(LONGEST, room), hasUnicode: terminal.hasUnicode };
  const bars = rows.map(({ share }) => drawBar(share, drawing));
  const withBars = cells.map((row, index) => [...row, bars[index] ?? '']);
  const [title = '', ...lines] = renderTable(
    [...columns, { title: '', cutAt: 'never' }],
    withBars,
    options,
  ).split('\n');
  const colored = lines.map((line, index) => {
    const bar = bars[index] ?? '';
    return bar === '' ? line : `${line.slice(0, -bar.length)}${terminal.style('green', bar)}`;
  });
  return [title, ...colored].join('\n');
}
