import { NO_BREAK, wrap } from '../model/text/wrap.ts';
import type { Terminal } from './terminal.ts';
import { formatCount } from './text.ts';

/** A part of a summary: what it is about, how much of it there is, what is listed, and what to do about it. */
export type Section = {
  readonly title: string;
  readonly count: number;
  /** A word about them, in the heading. */
  readonly note?: string;
  /** Stands before the lines. */
  readonly why?: string;
  /** As they are printed, indented. */
  readonly lines?: readonly string[];
  /** How many of `count` the lines show; all, unless it is given. */
  readonly shown?: number;
  /** How to fix it; stands after the lines. */
  readonly help?: string;
};

/** The parts of a section that are there, a line each or more. */
export function renderSection(section: Section, terminal: Terminal): string {
  const { title, count, note = '', why, lines = [], shown = count, help } = section;
  return [
    `${terminal.style('bold', `${title} (${formatCount(count)})`)}${note === '' ? '' : `: ${note}`}`,
    ...(why === undefined ? [] : [wrap(why, { width: terminal.columns, indent: '  ' })]),
    ...lines,
    ...andMore(count - shown),
    ...(help === undefined
      ? []
      : [terminal.style('cyan', wrap(help, { width: terminal.columns, indent: '  ' }))]),
  ].join('\n');
}

/** `  and 12 more`, where not everything is shown. */
export function andMore(count: number): readonly string[] {
  return count > 0 ? [`  and ${formatCount(count)} more`] : [];
}

/** A line of a list; where it does not fit, its next lines are indented further. */
export function renderItem(text: string, terminal: Terminal): string {
  return wrap(text, { width: terminal.columns, indent: '    ', firstIndent: '  ' });
}

/** What the service refused, a line for each reason; empty where it refused nothing. */
export function renderRefusals(
  refusals: {
    readonly count: number;
    readonly note?: string;
    readonly items: readonly string[];
    readonly help: string;
  },
  terminal: Terminal,
): string {
  const { items, ...section } = refusals;
  if (items.length === 0) return '';
  const lines = items.map((item) => renderItem(item, terminal));
  return renderSection({ title: 'Refused by the service', ...section, lines }, terminal);
}

/** How many stand at one place: `  posted   32  in 4 requests`. */
export type CountLine = readonly [
  label: string,
  count: number,
  more?: {
    /** Left out where there are none. */
    readonly note?: string;
    /** Only where there are some. */
    readonly color?: 'green' | 'yellow' | 'red' | undefined;
    /** Shown where there are none, too. */
    readonly always?: boolean;
  },
];

/**
 * Counts below each other, with their notes beside them.
 *
 * @param options.labelWidth of the column of labels.
 * @param options.total the largest count that may stand there.
 * @param options.countWidth the least width of the column of counts.
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
 * `7 orders = 4 posted + 3 held`. Parts of which there are none are left out.
 *
 * @param options.blank what stands between the words of a part, so that a line breaks between parts only; a blank where parts are long.
 */
export function formatSum(
  whole: string,
  parts: readonly (readonly [count: number, words: string])[],
  { blank = NO_BREAK }: { readonly blank?: string } = {},
): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`.replaceAll(' ', blank));
  return `${whole} = ${shown.length === 0 ? '0' : shown.join(' + ')}`;
}

/**
 * Whether the numbers of a run add up. Every summary says it, so that you need not check.
 *
 * @param input.otherwise what follows the equation where they do not.
 */
export function renderSums(
  input: { readonly equation: string; readonly sumsAddUp: boolean; readonly otherwise: string },
  terminal: Terminal,
): string {
  const { equation, sumsAddUp, otherwise } = input;
  const text = sumsAddUp
    ? `The sums add up: ${equation}.`
    : `THE SUMS DO NOT ADD UP: ${equation}${otherwise}`;
  return terminal.style(
    sumsAddUp ? 'dim' : ['red', 'bold'],
    wrap(text, { width: terminal.columns, indent: '  ', firstIndent: '' }),
  );
}

/** `refunded 12, too old 3`: how many orders for which reason, the most frequent first. */
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
