import type { Seeded } from '../core/backfill.ts';
import { formatInstant } from '../core/text/format-instant.ts';
import { wrap } from '../core/text/wrap.ts';
import type { ListedSeed } from '../ledger/seed.ts';
import { renderTable } from '../render/table.ts';
import type { Terminal } from '../render/terminal.ts';
import { formatCount, plural } from '../render/text.ts';

/** Renders what a seed changed, and what it could not change. */
export function renderSeeded(
  { seedId, isKnown, orders, heldBack, untouched }: Seeded,
  terminal: Terminal,
): string {
  const width = terminal.columns;
  const lines = [
    `${terminal.style('bold', `Seed ${seedId}`)}${isKnown ? ' contains this list already' : ''}: ${plural(orders, 'order')} credited elsewhere, never posted by this tool.${isKnown ? ' Nothing was added.' : ''}`,
  ];
  if (heldBack > 0)
    lines.push(
      wrap(
        `${plural(heldBack, 'order')} waited to be posted and ${heldBack === 1 ? 'is' : 'are'} now held.`,
        { width, indent: '  ' },
      ),
    );
  for (const { state, orders: count, examples } of untouched) {
    const text = `${plural(count, 'order')} of them ${count === 1 ? 'is' : 'are'} already ${state.replaceAll('_', ' ')} in this ledger (${examples.join(', ')}${count > examples.length ? ', …' : ''}): ${count === 1 ? 'it does' : 'they do'} not change, and may be credited twice. Look up ${count === 1 ? 'it' : 'them'} in the service.`;
    lines.push(terminal.style('yellow', wrap(text, { width, indent: '  ' })));
  }
  lines.push(
    terminal.style(
      'dim',
      wrap('The next run shows them as credited elsewhere. To withdraw the file:', { width, indent: '  ' }),
    ),
  );
  lines.push(`  npx influencer-sync ledger unseed ${seedId} --reason '…'`, '');
  return lines.join('\n');
}

/** Renders seeds as a table. */
export function renderSeeds(seeds: readonly ListedSeed[], terminal: Terminal): string {
  if (seeds.length === 0) return 'No orders are recorded as credited elsewhere.\n';
  const columns = [
    { title: 'seed', align: 'right' },
    { title: 'file' },
    { title: 'orders', align: 'right' },
    { title: 'by' },
    { title: 'at (UTC)', cutAt: 'never' },
    { title: 'reason' },
    { title: 'withdrawn' },
  ] as const;
  const rows = seeds.map((seed) => [
    seed.seedId,
    seed.fileName,
    formatCount(seed.orders),
    seed.seededBy,
    formatInstant(seed.seededAt).slice(0, 16),
    seed.reason,
    seed.undoneAt === null ? '' : `${formatInstant(seed.undoneAt).slice(0, 16)} by ${seed.undoneBy}`,
  ]);
  return `${renderTable(columns, rows, { terminal })}\n`;
}
