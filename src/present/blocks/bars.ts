import stringWidth from 'string-width';
import { renderTable } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import type { Bars } from './block.ts';

/** Eighths of a cell, so that a short bar is seen and close values differ. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const LONGEST = 30;
/** A shorter bar says less than the number beside it. */
const SHORTEST = 6;
const GAP = 2;

/** A bar of at most `width` cells: blocks, or # where the terminal cannot show them. What is more than nothing is never drawn as nothing. */
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

/** A table, and bars in the room that is left beside it; without them where that is too little. */
export function renderBars(
  { columns, rows }: Pick<Bars, 'columns' | 'rows'>,
  options: { readonly terminal: Terminal; readonly indent: string },
): string {
  const { terminal } = options;
  const cells = rows.map((row) => row.cells);
  const plain = renderTable(columns, cells, options);
  const room = terminal.columns - GAP - Math.max(...plain.split('\n').map((line) => stringWidth(line)));
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
