import type { Bars } from './block.ts';
import { renderTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { cellWidth } from './text.ts';

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
  { width, hasUnicode }: { readonly width: number; readonly hasUnicode: boolean },
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
  if (room < SHORTEST) return plain;
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
