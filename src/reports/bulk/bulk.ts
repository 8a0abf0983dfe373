import { type Bulk, countOf, describeBulk, LEFT_WORDS, SETTLED_WORDS } from '../../core/bulk.ts';
import { formatAmounts } from '../../core/money.ts';
import { type Block, item, say } from '../../render/block.ts';
import type { BulkSum } from './read-bulk.ts';

/** Describes a bulk action: its preview or its results, including what was left out and why. */
export function describeBulkSums(bulk: Bulk, sums: readonly BulkSum[]): Block {
  const { bulkId, state, decision, chosen } = bulk;
  const isPreview = state === 'preview';
  const lines = [...Map.groupBy(sums, ({ outcome }) => outcome)].map(([outcome, all]) => {
    const entries = all.reduce((sum, one) => sum + one.entries, 0);
    const money = formatAmounts(all.filter(({ currency }) => currency !== null));
    const words =
      outcome === 'settled'
        ? SETTLED_WORDS[decision]
        : outcome === null
          ? 'not changed: the action was aborted first'
          : LEFT_WORDS[outcome];
    return item(`${countOf(decision, entries)}${money === '' ? '' : `, ${money}`}: ${words}`);
  });
  const title = isPreview ? describeBulk(bulk) : `Bulk action ${bulkId} is ${state}`;
  return say(title, { tone: 'bold', parts: isPreview ? [item(chosen), ...lines] : lines });
}
