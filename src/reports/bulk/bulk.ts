import { type Bulk, countOf, describeBulk, LEFT_WORDS, SETTLED_WORDS } from '../../core/bulk.ts';
import { formatAmounts } from '../../core/money.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import type { BulkSum } from './read-bulk.ts';

/** Renders a bulk action: its preview or its results, including what was left out and why. */
export function renderBulk(
  { bulk, sums }: { readonly bulk: Bulk; readonly sums: readonly BulkSum[] },
  terminal: Terminal,
): string {
  const { bulkId, state, decision, chosen } = bulk;
  const isPreview = state === 'preview';
  const lines = [...Map.groupBy(sums, ({ outcome }) => outcome)].map(([outcome, all]) => {
    const count = countOf(
      decision,
      all.reduce((sum, { entries }) => sum + entries, 0),
    );
    const money = formatAmounts(all.filter(({ currency }) => currency !== null));
    const words =
      outcome === 'settled'
        ? SETTLED_WORDS[decision]
        : outcome === null
          ? 'not changed: the action was aborted first'
          : LEFT_WORDS[outcome];
    return wrap(`${count}${money === '' ? '' : `, ${money}`}: ${words}`, {
      width: terminal.columns,
      indent: '    ',
      firstIndent: '  ',
    });
  });
  const title = isPreview ? describeBulk(bulk) : `Bulk action ${bulkId} is ${state}`;
  return [
    terminal.style('bold', title),
    ...(isPreview ? [wrap(chosen, { width: terminal.columns, indent: '    ', firstIndent: '  ' })] : []),
    ...lines,
  ].join('\n');
}
