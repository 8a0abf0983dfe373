import type { Seeded } from '../core/backfill.ts';
import { formatMinute } from '../core/text/format-instant.ts';
import type { ListedSeed } from '../ledger/seed.ts';
import { type Block, column, item, more, number, say, section, table, whole } from '../render/block.ts';
import { formatCount, plural } from '../render/text.ts';

/** Describes what a seed changed, and what it could not change. */
export function describeSeeded({ seedId, isKnown, orders, heldBack, untouched }: Seeded): readonly Block[] {
  const waited = `${plural(heldBack, 'order')} waited to be posted and ${heldBack === 1 ? 'is' : 'are'} now held.`;
  const list = isKnown ? ' contains this list already' : '';
  const added = isKnown ? ' Nothing was added.' : '';
  return section(`Seed ${seedId}${list}`, {
    note: `${plural(orders, 'order')} credited elsewhere, never posted by this tool.${added}`,
    parts: [
      ...(heldBack > 0 ? [item(waited)] : []),
      ...untouched.map(({ state, orders: count, examples }) => {
        const text = `${plural(count, 'order')} of them ${count === 1 ? 'is' : 'are'} already ${state.replaceAll('_', ' ')} in this ledger (${examples.join(', ')}${count > examples.length ? ', …' : ''}): ${count === 1 ? 'it does' : 'they do'} not change, and may be credited twice. Look up ${count === 1 ? 'it' : 'them'} in the service.`;
        return item(text, null, 'yellow');
      }),
      ...more(true, 'The next run shows them as credited elsewhere. To withdraw the file:'),
    ],
    commands: { lines: [`npx influencer-sync ledger unseed ${seedId} --reason '…'`] },
  });
}

/** Describes seeds as a table. */
export function describeSeeds(seeds: readonly ListedSeed[]): readonly Block[] {
  if (seeds.length === 0) return [say('No orders are recorded as credited elsewhere.')];
  return [
    table(seeds, [
      number('seed', ({ seedId }) => seedId),
      column('file', ({ fileName }) => fileName),
      number('orders', ({ orders }) => formatCount(orders)),
      column('by', ({ seededBy }) => seededBy),
      whole('at (UTC)', ({ seededAt }) => formatMinute(seededAt)),
      column('reason', ({ reason }) => reason),
      column('withdrawn', ({ undoneAt, undoneBy }) =>
        undoneAt === null ? null : `${formatMinute(undoneAt)} by ${undoneBy}`,
      ),
    ]),
  ];
}
