import { NO_BREAK, wrap } from '../core/text/wrap.ts';
import { renderBars } from './bars.ts';
import type {
  BarRow,
  Bars,
  Block,
  Commands,
  CountLine,
  CountsBlock,
  Fault,
  Part,
  Section,
  Sum,
  TextBlock,
  Tone,
} from './block.ts';
import { renderTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { cut, formatCount } from './text.ts';

/** Renders blocks for a terminal, separated by blank lines. */
export function renderBlocks(blocks: readonly Block[], terminal: Terminal): string {
  return blocks.map((block) => renderBlock(block, terminal)).join('\n\n');
}

function renderBlock(block: Block, terminal: Terminal): string {
  switch (block.kind) {
    case 'text':
      return renderText(block, terminal);
    case 'counts':
      return renderCountsBlock(block, terminal);
    case 'section':
      return renderSection(block, terminal);
  }
}

const STYLES: Record<Tone, Parameters<Terminal['style']>[0]> = {
  green: 'green',
  yellow: 'yellow',
  red: 'red',
  dim: 'dim',
  alarm: ['red', 'bold'],
};

function renderText({ text, tone, parts = [], commands }: TextBlock, terminal: Terminal): string {
  const wrapped = wrap(text, { width: terminal.columns, indent: '  ', firstIndent: '' });
  return [
    tone === undefined ? wrapped : terminal.style(STYLES[tone], wrapped),
    ...parts.flatMap((part) => renderPart(part, terminal)),
    ...renderCommands(commands, terminal),
  ].join('\n');
}

function renderCountsBlock({ whole, meaning, note, ...counts }: CountsBlock, terminal: Terminal): string {
  return [
    `${terminal.style('bold', whole)} ${meaning}:`,
    ...renderCounts(counts.lines, { ...counts, terminal }),
    ...(note === undefined ? [] : renderPart({ kind: 'aside', text: note }, terminal)),
  ].join('\n');
}

/** Renders a section, leaving out absent parts. */
function renderSection(section: Section, terminal: Terminal): string {
  const { title, count, note = '', tone, why, parts = [], help, commands } = section;
  const heading = count === undefined ? title : `${title} (${formatCount(count)})`;
  const rest = note === '' && count !== undefined ? '' : note === '' ? ':' : `: ${note}`;
  const { shown = count ?? 0 } = section;
  return [
    tone === undefined
      ? `${terminal.style('bold', heading)}${rest}`
      : terminal.style(STYLES[tone], `${heading}${rest}`),
    ...(why === undefined ? [] : [wrap(why, { width: terminal.columns, indent: '  ' })]),
    ...parts.flatMap((part) => renderPart(part, terminal)),
    ...andMore((count ?? 0) - shown),
    ...(help === undefined
      ? []
      : [terminal.style('cyan', wrap(help, { width: terminal.columns, indent: '  ' }))]),
    ...renderCommands(commands, terminal),
  ].join('\n');
}

export function renderPart(part: Part, terminal: Terminal): readonly string[] {
  const { columns: width } = terminal;
  switch (part.kind) {
    case 'item':
      return [
        renderItem(part.text, terminal),
        ...(part.help === undefined
          ? []
          : [terminal.style('cyan', wrap(part.help, { width, indent: '    ' }))]),
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
    terminal.style('cyan', wrap(help, { width, indent: '    ' })),
  ];
}

export function renderCommands(commands: Commands | undefined, terminal: Terminal): readonly string[] {
  if (commands === undefined) return [];
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

/** Renders an item of a list. Continuation lines are indented further. */
export function renderItem(text: string, terminal: Terminal): string {
  return wrap(text, { width: terminal.columns, indent: '    ', firstIndent: '  ' });
}

/** Describes what the service refused, one line per reason. Empty if it refused nothing. */
export function describeRefusals(refusals: {
  readonly count: number;
  readonly note?: string;
  readonly items: readonly string[];
  readonly help: string;
}): readonly Section[] {
  const { items, ...section } = refusals;
  if (items.length === 0) return [];
  const parts = items.map((text) => ({ kind: 'item', text }) as const);
  return [{ kind: 'section', title: 'Refused by the service', ...section, parts }];
}

/**
 * Renders counts below each other, with their notes.
 *
 * @param options.labelWidth width of the column of labels.
 * @param options.total the largest possible count.
 * @param options.countWidth minimum width of the column of counts.
 */
export function renderCounts(
  lines: readonly CountLine[],
  options: {
    readonly labelWidth: number;
    readonly total: number;
    readonly countWidth?: number;
    readonly terminal: Terminal;
  },
): readonly string[] {
  const { labelWidth, total, countWidth = 5, terminal } = options;
  const width = Math.max(formatCount(total).length, countWidth);
  return lines.flatMap(([label, count, { note = '', color, always = false } = {}]) => {
    const start = `  ${label.padEnd(labelWidth)}${formatCount(count).padStart(width)}`;
    if (count === 0) return always ? [start] : [];
    const firstIndent = note === '' ? start : `${start}  `;
    const text = wrap(note, { width: terminal.columns, firstIndent, indent: ' '.repeat(firstIndent.length) });
    return [color === undefined ? text : terminal.style(color, text)];
  });
}

/**
 * Formats a sum: `7 orders = 4 posted + 3 held`. Parts that are 0 are left out.
 *
 * @param options.blank the blank within a part. By default it does not break, so that lines break only
 *   between parts. Use a normal blank for long parts.
 */
export function formatSum(
  { whole, parts }: Pick<Sum, 'whole' | 'parts'>,
  { blank = NO_BREAK }: { readonly blank?: string } = {},
): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`.replaceAll(' ', blank));
  return `${whole} = ${shown.length === 0 ? '0' : shown.join(' + ')}`;
}

/**
 * States whether the numbers of a run add up. Every summary contains this, so that a reader need not check.
 *
 * @param input.otherwise text after the equation if they do not add up.
 */
export function describeSums(input: {
  readonly equation: string;
  readonly sumsAddUp: boolean;
  readonly otherwise: string;
}): readonly TextBlock[] {
  const { equation, sumsAddUp, otherwise } = input;
  if (sumsAddUp) return [{ kind: 'text', text: `The sums add up: ${equation}.`, tone: 'dim' }];
  return [{ kind: 'text', text: `THE SUMS DO NOT ADD UP: ${equation}${otherwise}`, tone: 'alarm' }];
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
