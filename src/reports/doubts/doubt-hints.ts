import type { DoubtHint } from '../../core/money/reconciliation.ts';
import { formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { Commands } from '../../render/block.ts';
import { plural } from '../../render/text.ts';

const SHOWN_COMMANDS = 5;

/** Says that a hint is no proof, next to hints. */
export const HINT_IS_NO_PROOF =
  'A total says how many orders the service counts, not which ones: another tool may have posted an order of the same amount, and the service may have removed one. So it settles no doubt.';

/** Describes what the totals of a deal suggest about its orders in doubt, in two sentences. */
export function describeHint({ counted, doubtIds, unproven, amount, currency, readAt }: DoubtHint): string {
  const doubts = doubtIds.length;
  const when = `On ${formatInstant(readAt)} UTC,`;
  if (counted === 'none')
    return `${when} the service counted no order more than is proven. ${doubts === 1 ? 'This order was probably not recorded' : `These ${doubts} orders were probably not recorded`}, unless the total was late.`;
  const more = `${when} the service counted exactly ${plural(unproven, 'order')} more than is proven`;
  if (counted === 'some')
    return `${more}, and ${plural(doubts, 'is', 'are')} in doubt. So ${unproven} of them ${unproven === 1 ? 'was' : 'were'} probably recorded; the total does not say which.`;
  const sum =
    amount === null ? '. Amounts cannot be compared' : `, with exactly ${formatMoney(amount, currency)}`;
  return `${more}${sum}. ${doubts === 1 ? 'This order was' : `These ${doubts} orders were`} probably recorded.`;
}

/** The commands for the doubts of deals: those that settle them as recorded, if all hints say so. */
export function settleCommands(hints: readonly DoubtHint[]): Commands {
  const recorded = hints.filter(({ counted }) => counted === 'all').flatMap(({ doubtIds }) => doubtIds);
  const review = 'npx influencer-sync review';
  if (recorded.length === 0) return { lines: [review] };
  return {
    about: 'lists all doubts; the others settle one that the service shows',
    lines: [
      review,
      ...recorded
        .slice(0, SHOWN_COMMANDS)
        .map((entryId) => `npx influencer-sync review ${entryId} --accepted --reason '…'`),
    ],
  };
}
